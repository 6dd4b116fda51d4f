package endpoint

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/raknet-go/raknet/internal/guard"
	"github.com/raknet-go/raknet/internal/monotime"
)

// table finds the connection of an address. The map and the books on half-open
// connections belong to whoever has the reader's role and need no lock; everybody
// else leaves a note, which is read before the next batch of datagrams is looked at.
// So a dial's note is in time if it is left before the first datagram is sent.
type table struct {
	conns    map[netip.AddrPort]*Conn
	guests   map[netip.AddrPort]guest
	crowd    int // the most that were in it
	halfOpen guard.HalfOpen
	leaveAt  atomic.Int64 // see leaving

	noted atomic.Bool
	mu    sync.Mutex // leaf
	notes []*Conn
}

func (t *table) init(perIP, total int) {
	t.conns = make(map[netip.AddrPort]*Conn)
	t.guests = make(map[netip.AddrPort]guest)
	t.leaveAt.Store(int64(monotime.Never))
	t.halfOpen.Init(perIP, total)
}

// post leaves the note that c is new (dialed), open, or dead. Which of these, settle sees.
func (t *table) post(c *Conn) {
	t.mu.Lock()
	t.notes = append(t.notes, c)
	t.mu.Unlock()
	t.noted.Store(true)
}

// settle reads the notes. The reader's.
func (t *table) settle(e *Endpoint) {
	if !t.noted.Load() {
		return
	}
	t.noted.Store(false)
	t.mu.Lock()
	notes := t.notes
	t.notes = nil
	t.mu.Unlock()
	for _, c := range notes {
		key := c.peer.AddrPort
		c.mu.Lock()
		opened, dead := c.opened, c.dead
		c.mu.Unlock()
		if c.server && (opened || dead) && t.conns[key] == c {
			t.halfOpen.Remove(key)
		}
		switch {
		case dead:
			if t.conns[key] == c { // and not a later one of the same address
				delete(t.conns, key)
			}
		case !c.server:
			t.conns[key] = c
		}
	}
	e.counters.halfOpen.Store(int64(t.halfOpen.Len()))
}

// empty forgets everybody and gives their buffers back. The reader's last act.
func (t *table) empty() {
	for key, c := range t.conns {
		delete(t.conns, key)
		c.kill(net.ErrClosed)
	}
	clear(t.guests)
}
