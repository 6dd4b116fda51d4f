package endpoint

import (
	"net/netip"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/udp"
)

// guest is a stranger whose request 2 was granted and of whom nothing more was heard. Only
// its first frame set makes it a connection: so a flood of requests from addresses that
// can answer, which is the most that a stranger can do, costs an entry of some ten words
// each and leaves nothing for the garbage collector.
//
// guests are counted by table.halfOpen, as are the connections that are not complete.
type guest struct {
	client  netip.AddrPort // its address, also behind a proxy
	guid    int64
	at      monotime.Time // when the request was granted; the time of the handshake runs from then
	mtu     uint16
	version byte
}

// host notes a guest. The reader's.
func (t *table) host(e *Endpoint, now monotime.Time, s *stranger, out *offline.Outcome) {
	key := s.from.AddrPort
	t.guests[key] = guest{client: s.client, guid: out.GUID, at: now, mtu: uint16(out.MTU), version: out.Version}
	t.crowd = max(t.crowd, len(t.guests))
	t.count(e, now, key, s.client.Addr())
	if t.leaving() == monotime.Never {
		t.leaveBy(e, now.Add(e.timing.Handshake))
	}
}

// leaving returns when guests may have to leave; Never: there are none. Anybody's.
func (t *table) leaving() monotime.Time { return monotime.Time(t.leaveAt.Load()) }

func (t *table) leaveBy(e *Endpoint, at monotime.Time) {
	t.leaveAt.Store(int64(at))
	if at != monotime.Never {
		e.driver.sweepBy(at)
	}
}

// count counts a connection that is not complete, and ends the one that gives way to it.
func (t *table) count(e *Endpoint, now monotime.Time, key netip.AddrPort, client netip.Addr) {
	evicted, evict := t.halfOpen.AddFor(now, key, client, e.blocks.exempt.Has(client))
	e.counters.halfOpen.Store(int64(t.halfOpen.Len()))
	if !evict || evicted == key {
		return
	}
	e.counters.evicted.Add(1)
	if _, ok := t.guests[evicted]; ok {
		t.dismiss(evicted)
	} else if old := t.conns[evicted]; old != nil {
		delete(t.conns, evicted)
		old.kill(errEvicted)
	}
}

// expects reports whether a datagram from an address without a connection may make a guest
// one.
func (t *table) expects(data []byte) bool {
	return len(t.guests) > 0 && len(data) > 0 && data[0]&0xe0 == 0x80 // a frame set
}

// enter makes a guest's connection, or returns nil if there is no guest at that address. The
// reader's; no connection's lock is held.
func (e *Endpoint) enter(now monotime.Time, from udp.Peer, local netip.Addr) *Conn {
	t := &e.table
	key := from.AddrPort
	g, ok := t.guests[key]
	if !ok {
		return nil
	}
	t.dismiss(key)
	if g.over(e, now) {
		t.forget(e, key)
		return nil
	}
	cfg := session.Config{
		Side: session.Server, MTU: int(g.mtu), Version: g.version, LocalGUID: e.cfg.GUID, PeerGUID: g.guid,
		Unproven: e.cfg.NoCookies, Near: e.near(from),
	}
	if e.cfg.NoCookies {
		cfg.Nonce = randomNonce()
	}
	if !e.cfg.NoCookies { // else anybody can go on in its name
		t.halfOpen.GoesOn(now, key)
	}
	c := newConn(e, g.at, from, e.wayTo(from, local, g.client), &cfg)
	t.conns[key] = c
	e.reader.last, e.reader.lastFrom = c, key
	return c
}

// guestsMin is up to how many guests the map is kept when the last leaves: what it begins with.
const guestsMin = 8

// dismiss takes a guest out. A map never shrinks: so one that was large goes with its last.
func (t *table) dismiss(key netip.AddrPort) {
	delete(t.guests, key)
	if len(t.guests) == 0 && t.crowd > guestsMin {
		t.guests, t.crowd = make(map[netip.AddrPort]guest), 0
	}
}

// forget counts a guest out.
func (t *table) forget(e *Endpoint, key netip.AddrPort) {
	t.halfOpen.Remove(key)
	e.counters.halfOpen.Store(int64(t.halfOpen.Len()))
}

// part sends away the guests whose time is over. The reader's.
func (t *table) part(e *Endpoint) {
	if t.leaving() == monotime.Never {
		return
	}
	now := e.clock.Now()
	if now < t.leaving() {
		return
	}
	first := monotime.Never
	for key, g := range t.guests {
		if g.over(e, now) {
			t.dismiss(key)
			t.forget(e, key)
			continue
		}
		first = min(first, g.at.Add(e.timing.Handshake))
	}
	if first != monotime.Never {
		first = max(first, now.Add(sweepDelay)) // not a walk for each
	}
	t.leaveBy(e, first)
}

// over reports whether a guest's time is over.
func (g *guest) over(e *Endpoint, now monotime.Time) bool {
	return now.Sub(g.at) >= e.timing.Handshake
}
