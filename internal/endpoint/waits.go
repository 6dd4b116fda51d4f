package endpoint

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/raknet-go/raknet/protocol"
)

// attempt is a dial or a ping under way: it waits for offline packets of one address.
type attempt struct {
	packets chan []byte // copies
	large   atomic.Bool // the last probe was too large for this host
	wake    gate        // large was set
	dial    bool
	lead    *dialLead // nil: the background reads the socket
}

// tooLarge tells the attempt that its probe did not leave.
func (a *attempt) tooLarge() {
	a.large.Store(true)
	a.wake.open()
	if a.lead != nil {
		a.lead.e.role.kickLeader()
	}
}

// waits are the attempts under way, by the address that they wait for. There are as
// many as the user has calls of Dial and Ping.
type waits struct {
	n  atomic.Int64
	mu sync.Mutex // leaf
	by map[netip.AddrPort][]*attempt
}

// add registers an attempt; a second dial to one address is ErrInUse.
func (w *waits) add(addr netip.AddrPort, dial bool) (*attempt, error) {
	a := &attempt{packets: make(chan []byte, waiterPackets), wake: newGate(), dial: dial}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.by[addr] {
		if o.dial && dial {
			return nil, ErrInUse
		}
	}
	if w.by == nil {
		w.by = make(map[netip.AddrPort][]*attempt)
	}
	w.by[addr] = append(w.by[addr], a)
	w.n.Add(1)
	return a, nil
}

func (w *waits) remove(addr netip.AddrPort, a *attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.by[addr]
	for i, o := range list {
		if o == a {
			list[i] = list[len(list)-1]
			list[len(list)-1] = nil
			w.by[addr] = list[:len(list)-1]
			w.n.Add(-1)
			break
		}
	}
	if len(w.by[addr]) == 0 {
		delete(w.by, addr)
	}
}

// offer gives a stranger's datagram to whoever waits for one from that address, and
// reports whether somebody does. What a client would send is for nobody here.
func (w *waits) offer(from netip.AddrPort, data []byte) bool {
	if w.n.Load() == 0 || len(data) == 0 || data[0]&0x80 != 0 {
		return false
	}
	switch protocol.ID(data[0]) {
	case protocol.IDUnconnectedPing, protocol.IDUnconnectedPingOpen,
		protocol.IDOpenConnectionRequest1, protocol.IDOpenConnectionRequest2:
		return false
	}
	w.mu.Lock()
	var few [4]*attempt
	list := append(few[:0], w.by[from]...)
	w.mu.Unlock()
	for _, a := range list {
		if len(a.packets) == cap(a.packets) {
			continue // it has enough to look at
		}
		select {
		case a.packets <- append([]byte(nil), data...):
		default:
		}
	}
	return len(list) > 0
}
