package arq

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// ackPath is one engine whose every input comes from a fuzzer: what the application
// sends, what the peer claims to have received or to miss, and when.
type ackPath struct {
	t       *testing.T
	e       Engine
	now     monotime.Time
	in      []byte // what is left of the fuzzer's input
	asked   uint64 // receipts asked for so far
	told    map[uint64]bool
	dropped bool // receipts may stay unanswered: the queue was abandoned
	// Datagrams that the socket has not taken yet, and what they were when they left.
	socket []*pool.Buffer
	left   [][]byte
}

// next takes a byte of the input; there are zeros behind its end.
func (a *ackPath) next() int {
	if len(a.in) == 0 {
		return 0
	}
	b := a.in[0]
	a.in = a.in[1:]
	return int(b)
}

// some takes up to n bytes of the input.
func (a *ackPath) some(n int) []byte {
	n = min(n, len(a.in))
	b := a.in[:n]
	a.in = a.in[n:]
	return b
}

func (a *ackPath) start() {
	c := Config{MTU: 576}
	flags := a.next()
	if flags&1 != 0 {
		c = wrapConfig(c.MTU)
	}
	if flags&2 != 0 {
		c.Controller = NewFixed(1 + flags>>4)
	}
	if flags&4 != 0 {
		c.RoundTrip = 40 * time.Millisecond
	}
	c.Limits = Limits{SendBuffer: 64 << 10, ReceiveBuffer: 16 << 10, ReassemblyBytes: 32 << 10, ReassemblyGroups: 4,
		MessageParts: 64, HeldMessages: 16, HeldBytes: 16 << 10, ReassemblyAge: 3 * time.Second}
	a.now = 1
	a.e.Init(a.now, &c)
}

// step does the next thing that the input asks for.
func (a *ackPath) step() {
	switch op := a.next(); op % 16 {
	case 0, 1:
		a.send(a.next()) // fits a frame, or nearly
	case 2:
		a.send(a.next() << 6)
	case 3, 4:
		a.report(wire.ACKID, op>>4)
	case 5:
		a.report(wire.NACKID, op>>4)
	case 6: // bytes as they come
		a.receive(a.some(a.next()))
	case 7: // an ACK or NACK whose ranges come from the input
		id := []byte{wire.ACKID, wire.NACKID}[op>>4&1]
		n := a.next() % 8
		a.receive(append([]byte{id, 0, byte(n)}, a.some(7*n)...))
	case 8: // a frame set near the number expected, with bytes for frames
		b := wire.AppendDatagramHeader(nil, wire.FrameSetID, wire24(a.e.arrivals.next+int64(int8(a.next()))))
		a.receive(append(b, a.some(a.next())...))
	case 9, 10:
		a.receiveFrame(op>>4&1 != 0)
	case 11:
		a.now = a.now.Add(time.Duration(a.next()) * time.Duration(op>>4+1) * time.Millisecond)
		a.e.Advance(a.now)
	case 12:
		if d := a.e.Deadline(); d != monotime.Never {
			a.now = max(a.now, d)
			a.e.Advance(a.now)
		}
	case 13:
		a.transmit(1 + op>>4)
	case 14:
		a.transmit(1 << 20)
		a.quiet()
	case 15:
		switch op >> 4 {
		case 0:
			a.e.Abandon()
			a.dropped = true
		case 1, 2, 3:
			a.e.SetUnread(a.next() << 7)
		case 4, 5, 6, 7:
			a.taken()
		default:
			a.read()
		}
	}
}

func (a *ackPath) send(size int) {
	how := a.next()
	m := Message{Payload: make([]byte, size), Reliability: protocol.Reliability(how & 7), Channel: uint8(how >> 3 & 3),
		Priority: protocol.Priority(how >> 5 & 3), Control: how>>7 != 0 && size < 256}
	if m.Reliability.WithReceipt() {
		m.ReceiptID = a.asked + 1
	}
	if a.e.Send(a.now, &m) == nil && m.ReceiptID != 0 {
		a.asked++
	}
}

// report is an ACK or NACK of up to count+1 ranges of numbers that are on record, or nearly so.
func (a *ackPath) report(id byte, count int) {
	w := wire.StartRanges(nil, id, 1<<10)
	for range count%4 + 1 {
		// From the newest number backwards, or from the oldest forwards.
		where := int64(a.next())
		first := a.e.sent.next - 1 - where/2
		if where&1 != 0 {
			first = a.e.sent.base + where/2 - 2
		}
		w.Add(wire24(first), wire24(first+int64(a.next()%32)))
	}
	a.receive(w.Finish())
}

// receiveFrame is a frame set of one frame that makes sense, nearly in its turn; or of
// an earlier number again.
func (a *ackPath) receiveFrame(again bool) {
	e := &a.e
	skip := func() uint32 { return uint32(int8(a.next()) >> 4) }
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, wire24(e.arrivals.next)+skip())
	how := a.next()
	f := wire.Frame{Reliability: protocol.Reliability(how & 7).Wire(), Split: how&8 != 0, Channel: uint8(how >> 6)}
	f.Reliable = (wire24(e.reliable.base) + skip()) & wire.Mask24
	f.Order = (wire24(e.order.next(f.Channel)) + skip()) & wire.Mask24
	f.Sequence = uint32(a.next())
	f.SplitID, f.SplitCount, f.SplitIndex = uint16(how>>4&3), uint32(a.next()%8), uint32(a.next()%8)
	data := a.some(1 + a.next())
	b = append(wire.AppendFrameHeader(b, &f, len(data)), data...)
	a.receive(b)
	if again {
		a.receive(b)
	}
}

// receive gives the engine a datagram in a buffer of the pool, as a socket would, and
// spoils the buffer afterwards unless it was kept.
func (a *ackPath) receive(data []byte) {
	b := pool.Get(max(len(data), pool.ClassRead))
	b.N = copy(b.B, data)
	a.e.Receive(a.now, b, b.Bytes())
	b.Release()
}

func (a *ackPath) read() {
	var d Delivery
	for a.e.NextDelivery(&d) {
		if d.Len() == 0 || d.Len() != len(d.AppendTo(nil)) {
			a.t.Fatalf("a message of %d bytes has %d", d.Len(), len(d.AppendTo(nil)))
		}
		d.Release()
	}
	var r ReceiptEvent
	for a.e.NextReceipt(&r) {
		if _, twice := a.told[r.ID]; twice || r.ID == 0 || r.ID > a.asked {
			a.t.Fatalf("receipt %d (of %d asked for), told before: %v", r.ID, a.asked, twice)
		}
		a.told[r.ID] = r.Acked
	}
}

// transmit lets up to n datagrams leave, none of them too large or beyond the window.
func (a *ackPath) transmit(n int) {
	e := &a.e
	for range n {
		inFlight, window, probes := e.inFlight, e.cc.Window(), e.loss.probes
		b := e.Transmit(a.now)
		if b == nil {
			return
		}
		if b.N == 0 || b.N > e.MTU()-protocol.UDPOverhead {
			a.t.Fatalf("a datagram of %d bytes at an MTU of %d", b.N, e.MTU())
		}
		if e.inFlight > inFlight && inFlight > 0 && probes == 0 && e.inFlight > window {
			a.t.Fatalf("%d bytes in flight at a window of %d", e.inFlight, window)
		}
		a.socket = append(a.socket, b)
		a.left = append(a.left, slices.Clone(b.Bytes()))
	}
}

// taken lets the socket take what left, which nobody may have changed meanwhile.
func (a *ackPath) taken() {
	for i, b := range a.socket {
		if !bytes.Equal(b.Bytes(), a.left[i]) {
			a.t.Fatalf("a datagram changed while the socket had it: % x is now % x", a.left[i], b.Bytes())
		}
		b.Release()
	}
	a.socket, a.left = a.socket[:0], a.left[:0]
}

// quiet checks what holds once everything left that may leave now.
func (a *ackPath) quiet() {
	e := &a.e
	e.Advance(a.now)
	a.transmit(1 << 20)
	switch d := e.Deadline(); {
	case d <= a.now:
		a.t.Fatalf("deadline %v before now, with nothing to do: loss %v timeout %v pacer %v acks %v reassembly %v", d.Sub(a.now),
			e.loss.lossAt, e.loss.timeoutAt, e.pacer.at, e.acks.deadline(), e.reasm.deadline())
	case d == monotime.Never && !e.Drained():
		a.t.Fatal("something waits to be sent or acknowledged, and no deadline comes")
	case d != monotime.Never && d.Sub(a.now) > time.Minute:
		a.t.Fatalf("nothing to do for %v", d.Sub(a.now))
	}
}

func (a *ackPath) check() { checkSums(a.t, &a.e) }

// checkSums compares an engine's sums with what they sum up.
func checkSums(t testing.TB, e *Engine) {
	out, size := 0, 0
	for n := e.sent.base; n < e.sent.next; n++ {
		if d := e.sent.at(n); d.state == sentOut {
			out++
			size += int(d.size)
		}
	}
	if out != e.sent.out || size != e.inFlight {
		t.Fatalf("%d datagrams, %d bytes out; counted %d and %d", out, size, e.sent.out, e.inFlight)
	}
	seen := map[*packet]string{}
	split := map[*message]bool{}
	held, queued := 0, 0
	note := func(p *packet, list string) {
		if before, twice := seen[p]; twice {
			t.Fatalf("a packet is in two lists: %s and %s", before, list)
		}
		seen[p] = list
		held += int(p.held)
		if p.held < 0 {
			t.Fatalf("a packet is charged %d", p.held)
		}
		for _, m := range p.messages {
			if m.split && m.started && m.remaining > 0 {
				split[m] = true
			}
		}
	}
	lost := map[*packet]bool{}
	queue := e.queue
	if queue == nil {
		queue = new(sendQueue)
	}
	for i := range queue.level {
		l := &queue.level[i]
		waiting := 0
		for _, f := range l.flows {
			for p := f.head; p != nil; p = p.next {
				note(p, "fresh")
				queued += int(p.held)
				waiting++
				if p.place != placeFresh || p.flow != f || p.flying || int(p.priority) != i || p.next == nil && p != f.tail {
					t.Fatalf("a packet that never left is %+v", p)
				}
			}
		}
		if waiting != l.fresh {
			t.Fatalf("%d packets wait at a level; counted %d", waiting, l.fresh)
		}
		for p := l.lost.head; p != nil; p = p.next {
			if lost[p] {
				t.Fatalf("a packet is lost twice: %+v", p)
			}
			lost[p] = true
			if p.place != placeLost || !p.flying || p.reliable == 0 || int(p.priority) != i || p.next == nil && p != l.lost.tail {
				t.Fatalf("a lost packet is %+v", p)
			}
		}
	}
	last := int64(-1)
	for p := e.oldest; p != nil; p = p.newer {
		note(p, "unacknowledged")
		if p.place == placeFresh || p.firstReliable <= last || p.buf == nil || p.newer == nil && p != e.newest {
			t.Fatalf("an unacknowledged packet behind index %d is %+v", last, p)
		}
		last = p.firstReliable + int64(p.reliable) - 1
	}
	for p := range lost {
		if seen[p] != "unacknowledged" {
			t.Fatalf("a lost packet is not unacknowledged: %+v", p)
		}
	}
	for p := e.free; p != nil; p = p.next {
		if list, used := seen[p]; used {
			t.Fatalf("a packet is free and %s", list)
		}
	}
	switch {
	case held != e.held || queued != e.queue.waiting() || held < 0:
		t.Fatalf("%d bytes held, %d of them queued; counted %d and %d", held, queued, e.held, e.queue.waiting())
	case e.Drained() && held != 0:
		t.Fatalf("drained with %d bytes held", held)
	case len(split) != int(e.splits) || e.splits > splitsInFlight:
		t.Fatalf("%d split messages under way, counted %d", len(split), e.splits)
	case e.oldest != nil && e.nextReliable-e.oldest.firstReliable > reliableInFlight:
		t.Fatalf("reliable indexes %d to %d are out", e.oldest.firstReliable, e.nextReliable)
	case e.sent.next-e.sent.base > datagramsInFlight:
		t.Fatalf("%d datagrams on record", e.sent.next-e.sent.base)
	case e.reasm.holds() < 0 || e.reasm.holds() > e.limits.ReassemblyBytes:
		t.Fatalf("reassembly holds %d of %d bytes", e.reasm.holds(), e.limits.ReassemblyBytes)
	case e.order.hold.messages < 0 || e.order.hold.bytes < 0:
		t.Fatalf("order holds %d messages of %d bytes", e.order.hold.messages, e.order.hold.bytes)
	}
}

// finish lets a good peer acknowledge everything from now on: it all arrives, every
// receipt is told, and nothing stays behind.
func (a *ackPath) finish() {
	e := &a.e
	for range 100_000 {
		a.transmit(1 << 20)
		a.quiet()
		if e.Drained() && e.sent.out == 0 {
			break
		}
		if e.sent.out > 0 {
			a.now = a.now.Add(20 * time.Millisecond)
			w := wire.StartRanges(nil, wire.ACKID, 1<<10)
			w.Add(wire24(e.sent.base), wire24(e.sent.next-1))
			a.receive(w.Finish())
		} else {
			a.now = max(a.now, e.Deadline())
		}
		e.Advance(a.now)
		a.read()
		a.taken()
	}
	a.taken()
	a.check()
	a.read()
	if !e.Drained() || e.inFlight != 0 || e.held != 0 || e.splits != 0 {
		a.t.Fatalf("a peer that acknowledges everything leaves %d bytes in flight, %d held, drained: %v", e.inFlight, e.held, e.Drained())
	}
	if len(a.told) != int(a.asked) && !a.dropped {
		a.t.Fatalf("%d receipts for %d asked", len(a.told), a.asked)
	}
}

// FuzzAckPath drives one engine by a list of operations, and after each of them holds
// its sums and lists against each other. Whatever a peer claims to have received or to
// miss: nothing is counted twice, held for nothing, or waits without a deadline; and
// once the peer is a good one, everything gets through.
func FuzzAckPath(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 4096 {
			return
		}
		before := pool.InUse()
		a := &ackPath{t: t, in: in, told: map[uint64]bool{}}
		a.start()
		for len(a.in) > 0 {
			a.step()
			a.check()
			if len(a.socket) > 64 {
				a.taken()
			}
		}
		a.read()
		a.finish()
		a.e.Close()
		if n := pool.InUse() - before; n != 0 {
			t.Fatalf("%d buffers leaked", n)
		}
		if d := a.e.Deadline(); d <= a.now {
			t.Fatalf("a closed engine has a deadline %v before now", d.Sub(a.now))
		}
	})
}
