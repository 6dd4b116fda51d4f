package netsim

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// wireCheck watches what one end of a connection puts on the wire.
type wireCheck struct {
	mtu      int
	datagram uint32          // the next number, 24 bits
	reliable uint32          // the first index, 24 bits
	sentAt   []monotime.Time // of each reliable index, its latest transmission
	probes   uint64
	repeated uint64
	stats    session.Stats
}

func (c *wireCheck) init(sc *Scenario, mtu int) {
	*c = wireCheck{mtu: mtu, datagram: wire24of(sc.Start.Datagram), reliable: wire24of(sc.Start.Reliable)}
}

// sent checks one datagram.
func (c *wireCheck) sent(p *peer, b []byte) {
	w := p.w
	if len(b) > c.mtu-protocol.UDPOverhead {
		w.violated("8 datagram size", "%s sends %d bytes with an MTU of %d", p, len(b), c.mtu)
	}
	switch wire.Classify(b) {
	case wire.KindACK, wire.KindNACK:
		if _, err := wire.ParseRanges(b); err != nil {
			w.violated("23 counters", "%s sends %s: %v", p, describe(b), err)
		}
	case wire.KindFrameSet:
		c.frameSet(p, b)
	default:
		w.violated("8 datagram size", "%s sends something that is no datagram of a connection: %x", p, b)
	}
}

func (c *wireCheck) frameSet(p *peer, b []byte) {
	w := p.w
	number, frames, _ := wire.ParseDatagramHeader(b)
	if number != c.datagram {
		w.violated("23 counters", "%s sends datagram %d after %d", p, number, wire24of(int64(c.datagram)-1))
	}
	c.datagram = wire24of(int64(number) + 1)

	before, repeated := c.probes, c.repeated
	s := &c.stats
	p.sess.Stats(s)
	c.probes, c.repeated = s.Probes, s.FramesRepeated
	probe, repeats := c.probes != before, int(c.repeated-repeated)
	base := time.Duration(0)
	if g := p.pair; g.plan != nil && !g.tainted() {
		base = g.plan.Up.Delay + g.plan.Down.Delay
	}
	it := wire.Frames(frames)
	var f wire.Frame
	for it.Next(&f) {
		if f.Reliability.IsReliable() {
			if c.transmission(p, &f, base, probe || repeats > 0) && !probe {
				repeats--
				if f.Reliability != protocol.ReliableOrdered || f.Split {
					w.violated("14 once per round trip", "%s repeats reliable index %d, which is no whole ordered message", p, f.Reliable)
				}
			}
		}
	}
	if it.Err() != nil {
		w.violated("5 bytes equal", "%s sends a datagram that breaks off: %v", p, it.Err())
	}
	// A probe may leave in spite of the window, and a datagram when nothing is in flight.
	if s.BytesInFlight > s.CongestionWindow && s.BytesInFlight > len(b) && !probe {
		w.violated("10 bytes in flight", "%s has %d bytes in flight, its window is %d", p, s.BytesInFlight, s.CongestionWindow)
	}
	if s.MinRTT < 0 || s.RTT < 0 || s.RTT > 0 && (s.MinRTT < base || s.RTT < base) {
		w.violated("15 round trips", "%s measured a round trip of %v, %v on average, on a path that takes %v", p, s.MinRTT, s.RTT, base)
	}
	c.memory(p)
}

// transmission checks that a reliable frame is new, with the next index, or is sent
// again for a reason: not sooner than its last transmission could have been answered,
// except as a probe, whose very reason is that nothing is answered, or where it rides
// along once more with something new. It reports whether it needed such an excuse.
func (c *wireCheck) transmission(p *peer, f *wire.Frame, base time.Duration, excused bool) (early bool) {
	w := p.w
	i := int(wire24of(int64(f.Reliable) - int64(c.reliable)))
	switch {
	case i > len(c.sentAt):
		w.violated("23 counters", "%s sends reliable index %d, %d above the next", p, f.Reliable, i-len(c.sentAt))
		return false
	case i == len(c.sentAt):
		c.sentAt = append(c.sentAt, w.now)
		return false
	case w.now.Sub(c.sentAt[i]) >= base:
	case excused:
		early = true
	default:
		w.violated("14 once per round trip", "%s sends reliable index %d again after %v, the path takes %v", p, f.Reliable, w.now.Sub(c.sentAt[i]), base)
	}
	c.sentAt[i] = w.now
	return early
}

// memory checks the session's bounds.
func (c *wireCheck) memory(p *peer) {
	w, s, l := p.w, &c.stats, &p.w.sc.Limits
	biggest := w.sc.biggest()
	if bound := orDefault(l.SendBuffer, 20<<20) + 2*biggest; s.SendQueueBytes > bound {
		w.violated("11 memory", "%s has %d bytes queued", p, s.SendQueueBytes)
	}
	if bound := orDefault(l.ReassemblyBytes, 12<<20); s.ReassemblyBytes > bound {
		w.violated("11 memory", "%s reserved %d bytes for unfinished messages", p, s.ReassemblyBytes)
	}
	if bound := orDefault(l.HeldBytes, 28<<20)*5/4 + w.sc.biggestKept(p.sess.MTU()) + 8192; s.HeldBytes > bound {
		w.violated("11 memory", "%s holds back %d bytes for order", p, s.HeldBytes)
	}
	if bound := orDefault(l.HeldMessages, 20480)*5/4 + 512; s.HeldMessages > bound {
		w.violated("11 memory", "%s holds back %d messages for order", p, s.HeldMessages)
	}
}
