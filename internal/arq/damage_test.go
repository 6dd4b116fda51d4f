package arq

import (
	"bytes"
	"hash/maphash"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// damagedEngine is the engine that damaged vectors are played against.
type damagedEngine struct {
	*lossTest
	play      *hostile.Player
	prints    *hostile.Fingerprints
	now       *hostile.Instant
	own       int64 // buffers that the engine had in the vector's state
	buffers   int64 // buffers in use before the engine was there
	datagrams int   // received
	bytes     int
	delivered int // bytes
	before    Stats
}

const (
	// answersAtOnce and answersEach bound the datagrams that an engine sends in a tenth of a
	// second for a vector: its own resends and probes, which do not depend on what
	// came, and one or two for each datagram.
	answersAtOnce, answersEach = 8, 2
	// restless is after how many rounds of timers an engine should have come to rest.
	restless = 100
)

func (d *damagedEngine) Start(v *hostile.Vector) {
	d.buffers = pool.InUse()
	d.lossTest = inState(d.now, stateOf(v))
	d.own = pool.InUse() - d.buffers
	d.datagrams, d.bytes, d.delivered = 0, 0, 0
}

func (d *damagedEngine) Receive(data []byte) (took bool) {
	e := d.e
	d.before = Stats{Counters: e.stats.all()}
	b := pool.Get(pool.ClassRead)
	b.N = copy(b.B, data)
	v := e.Receive(d.lossTest.now, b, b.Bytes())
	b.Release()
	d.datagrams++
	d.bytes += len(data)
	switch v {
	case VerdictMalformed, VerdictRefused, VerdictTooFar:
		d.dropped(v, len(data))
		return false
	}
	for m := (Delivery{}); e.NextDelivery(&m); m.Release() {
		d.delivered += m.Len()
	}
	switch held := pool.InUse() - d.buffers - d.own; {
	case d.delivered > d.bytes:
		d.play.Fatalf("%d bytes were delivered of %d received", d.delivered, d.bytes)
	case held > int64(1+d.bytes/minFrame):
		d.play.Fatalf("%d bytes are held in %d buffers", d.bytes, held)
	}
	return true
}

// minFrame is the length of the shortest frame: flags, length, one byte.
const minFrame = 4

// dropped checks that a datagram without effect was counted, and nothing else.
func (d *damagedEngine) dropped(v Verdict, size int) {
	want := d.before
	want.DatagramsReceived++
	want.BytesReceived += uint64(size)
	if v == VerdictMalformed {
		want.Violations++
	} else {
		want.DatagramsRefused++
	}
	if d.e.stats.all() != want.Counters || d.e.readyHead != len(d.e.ready) {
		d.play.Fatalf("a datagram was dropped (%v), but counted as %+v, before it %+v", v, d.e.stats, d.before)
	}
}

func (d *damagedEngine) State() uint64 { return d.prints.Of(d.e) ^ fragments(d.e) }

// fragments sums up what unfinished messages consist of. Their lists have room for 64 each, and a
// flood makes hundreds of them, which would take Fingerprints most of its time.
func fragments(e *Engine) (sum uint64) {
	if e.reasm == nil {
		return 0
	}
	for g := e.reasm.oldest; g != nil; g = g.next {
		for i, l := range g.links {
			for j := 0; l != nil && j < len(l.R); j++ {
				if b := l.R[j].Data; b != nil {
					sum = (sum ^ uint64(g.id)<<32 ^ uint64(i*len(l.R)+j)) * 1099511628211
					sum ^= maphash.Bytes(fragmentSeed, b)
				}
			}
		}
	}
	return sum
}

var fragmentSeed = maphash.MakeSeed()

func (d *damagedEngine) Finish() {
	d.rest()
	d.bounds()
	checkSums(d.play.T, d.e)
	d.goOn()
}

func (d *damagedEngine) Discard() {
	for b := d.e.Transmit(d.lossTest.now); b != nil; b = d.e.Transmit(d.lossTest.now) {
		b.Release() // what is still to be acknowledged
	}
	d.now.Finish() // closes the engine
	if n := pool.InUse() - d.buffers; n != 0 {
		d.play.Fatalf("%d buffers were not given back", n)
	}
	if at := d.e.Deadline(); at <= d.lossTest.now {
		d.play.Fatalf("a closed engine has something to do")
	}
}

// rest lets a tenth of a second pass.
func (d *damagedEngine) rest() {
	e, until := d.e, d.lossTest.now.Add(100*time.Millisecond)
	answers, bytes := 0, 0
	for range restless {
		for b := e.Transmit(d.lossTest.now); b != nil; b = e.Transmit(d.lossTest.now) {
			answers++
			bytes += b.N
			if b.N == 0 || b.N > e.maxPayload() {
				d.play.Fatalf("a datagram of %d bytes leaves", b.N)
			}
			b.Release()
		}
		at := e.Deadline()
		if at <= d.lossTest.now {
			d.play.Fatalf("the deadline has passed, and nothing is left to do")
		}
		if at > until {
			if most := answersAtOnce + answersEach*d.datagrams; answers > most {
				d.play.Fatalf("%d datagrams, %d bytes, answer %d", answers, bytes, d.datagrams)
			}
			d.lossTest.now = until
			return
		}
		d.lossTest.now = at
		e.Advance(at)
	}
	d.play.Fatalf("the engine does not come to rest")
}

// bounds checks what is bounded by name.
func (d *damagedEngine) bounds() {
	e := d.e
	refused := 0
	if e.refused != nil {
		refused = e.refused.len()
	}
	asked, unheard := 0, 0
	if e.nacks.gaps != nil {
		asked, unheard = e.nacks.missing.len(), e.nacks.again.unheard.len()
	}
	for _, b := range []struct {
		what      string
		now, most int
	}{
		{"bytes of unfinished messages", e.reasm.holds(), e.limits.ReassemblyBytes},
		{"unfinished messages", e.reasm.len(), e.limits.ReassemblyGroups},
		{"waiting messages", e.order.hold.messages, e.limits.HeldMessages},
		{"bytes of waiting messages", e.order.hold.bytes, e.limits.HeldBytes},
		{"ranges to acknowledge", e.acks.ranges.len(), ackRanges},
		{"ranges to ask for", asked, nackRanges},
		{"ranges that were asked for", unheard, nackRanges},
		{"ranges refused", refused, refusedRanges},
		{"datagrams on record", int(e.sent.next - e.sent.base), datagramsInFlight},
		{"violations", int(e.stats.Violations), d.datagrams},
	} {
		if b.now > b.most {
			d.play.Fatalf("%d %s, of at most %d", b.now, b.what, b.most)
		}
	}
	if e.Broken() {
		d.play.Fatalf("the engine says that it cannot keep its promise")
	}
}

// goOn lets peer and engine do what they do every day: the peer's next message arrives, ours
// leaves, and everything is acknowledged.
func (d *damagedEngine) goOn() {
	e, now := d.e, d.lossTest.now
	b := wire.AppendDatagramHeader(make([]byte, 0, 16), wire.FrameSetID, wire24(e.arrivals.next))
	b = append(wire.AppendFrameHeader(b, &wire.Frame{Reliability: protocol.Unreliable}, 2), 0xfe, '!')
	var m Delivery
	if v := e.Receive(now, nil, b); v != VerdictAccepted || !e.NextDelivery(&m) || m.Len() != 2 {
		d.play.Fatalf("the peer's next message: %v, %d bytes", v, m.Len())
	}
	m.Release()
	d.send(100)
	sent := e.stats.DatagramsSent
	for b := e.Transmit(now); b != nil; b = e.Transmit(now) {
		b.Release()
	}
	if e.stats.DatagramsSent == sent || e.sent.next == e.sent.base {
		d.play.Fatalf("nothing is sent any more")
	}
	d.lossTest.now = now.Add(10 * time.Millisecond)
	a := wire.StartRanges(nil, wire.ACKID, 1400)
	a.Add(wire24(e.sent.base), wire24(e.sent.next-1))
	if v := e.Receive(d.lossTest.now, nil, a.Finish()); v != VerdictAccepted || e.inFlight != 0 {
		d.play.Fatalf("everything is acknowledged: %v, %d bytes in flight, drained %v", v, e.inFlight, e.Drained())
	}
}

// calmEngine is an engine to which nothing bad happens, beside those to which it does. It
// always has half of a split message, a message that waits for another, and one of
// its own on the way.
type calmEngine struct {
	*lossTest
	now    *hostile.Instant
	prints *hostile.Fingerprints
}

func (c *calmEngine) Begin() { c.lossTest = inState(c.now, "") }
func (c *calmEngine) End()   { c.now.Finish() }
func (c *calmEngine) State() uint64 {
	return c.prints.Of(c.e)
}

func (c *calmEngine) Step(i int) {
	e, n := c.e, uint32(i)
	c.lossTest.now = c.lossTest.now.Add(5 * time.Millisecond)
	e.Advance(c.lossTest.now)
	text := bytes.Repeat([]byte{0xfe, byte(i)}, 400)
	frame := func(b []byte, f wire.Frame, payload []byte) []byte {
		return append(wire.AppendFrameHeader(b, &f, len(payload)), payload...)
	}
	// Index 2+i of channel 1 comes before 1+i, and fragment i of a message of two, or the
	// other one of the message before.
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, 2+n)
	b = frame(b, wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: 2 + 2*n, Channel: 1, Order: n ^ 1}, text)
	b = frame(b, wire.Frame{Reliability: protocol.Reliable, Reliable: 3 + 2*n, Split: true, SplitCount: 2, SplitID: uint16(n / 2), SplitIndex: n % 2}, text[:400])
	buf := pool.Get(pool.ClassRead)
	buf.N = copy(buf.B, b)
	if v := e.Receive(c.lossTest.now, buf, buf.Bytes()); v != VerdictAccepted {
		c.t.Fatalf("a bystander's step %d: %v", i, v)
	}
	buf.Release()
	for m := (Delivery{}); e.NextDelivery(&m); m.Release() {
		if got := m.AppendTo(nil); len(got) != 800 || got[0] != 0xfe {
			c.t.Fatalf("a bystander's step %d delivers %x", i, got)
		}
	}
	if i > 0 {
		c.ack(e.sent.base-c.first, e.sent.next-1-c.first)
	}
	c.send(200)
	for b := e.Transmit(c.lossTest.now); b != nil; b = e.Transmit(c.lossTest.now) {
		b.Release()
	}
}

// Every prefix of every datagram of every vector, and every byte of it changed to every other
// value, or a sample of that without -exhaustive: whatever the engine takes of it is
// bounded, what it drops leaves no trace, it goes on afterwards, and another engine notices nothing.
func TestEveryPrefixAndEveryChangedByteOfAVector(t *testing.T) {
	buffers := pool.InUse()
	player := hostile.Player{T: t, Scope: hostile.NewScope(t), Drops: 1 << 12}
	// Numbers that were refused for want of room, not for their form, are not asked for again.
	prints := hostile.NewFingerprints("Engine.stats", "Engine.refused", "reassembler.last", "group.links")
	player.Subject = &damagedEngine{play: &player, prints: prints, now: &hostile.Instant{TB: t}}
	bystander := hostile.NewBystander(t, &calmEngine{now: &hostile.Instant{TB: t}, prints: hostile.NewFingerprints()}, 200)
	player.Between = bystander.Look
	for _, v := range connectedVectors(t) {
		player.Play(&v)
	}
	steps := bystander.End()
	if n := pool.InUse() - buffers; n != 0 {
		t.Errorf("%d buffers were not given back", n)
	}
	t.Logf("%v, %d steps of a bystander", &player, steps)
}
