package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func (e *Engine) initReceive(c *Config) {
	e.arrivals.init(c.FirstDatagram)
	e.acks.init()
	e.reliable.init(c.FirstReliable)
	e.order.init(c.FirstOrder)
}

func (e *Engine) closeReceive() {
	for i := e.readyHead; i < len(e.ready); i++ {
		e.ready[i].Release()
	}
	e.ready, e.readyHead = nil, 0
	e.order.close()
	e.reasm.close()
}

// Receive takes one datagram: data, which lies in b. What must outlive the call is
// kept by reference to b, or copied if b is nil. A datagram takes effect whole or
// not at all: every frame is checked before the first is applied.
func (e *Engine) Receive(now monotime.Time, b *pool.Buffer, data []byte) Verdict {
	e.stats.DatagramsReceived++
	e.stats.BytesReceived += uint64(len(data))
	e.traceReceived(now, data)
	var v Verdict
	switch wire.Classify(data) {
	case wire.KindFrameSet:
		v = e.receiveFrames(now, b, data)
	case wire.KindACK:
		v = e.onAck(now, data)
	case wire.KindNACK:
		v = e.onNack(now, data)
	default:
		v = VerdictMalformed
	}
	switch {
	case v == VerdictDuplicate:
		e.trouble().DuplicatesReceived++
	case v.Violation():
		e.trouble().Violations++
	case v == VerdictRefused || v == VerdictTooFar:
		e.trouble().DatagramsRefused++
	}
	e.traceVerdict(now, data, v)
	return v
}

// receiveFrames takes a frame set.
func (e *Engine) receiveFrames(now monotime.Time, b *pool.Buffer, data []byte) Verdict {
	wireNumber, frames, err := wire.ParseDatagramHeader(data)
	if err != nil {
		return VerdictMalformed
	}
	number := expand24(wireNumber, e.arrivals.next)
	if e.receiveInOrder(now, b, number, len(data), frames) {
		return VerdictAccepted
	}
	arrival := e.arrivals.probe(number)
	switch {
	case arrival == arrivalDuplicate && !e.brings(frames):
		e.acks.note(now, number, len(data), true)
		return VerdictDuplicate
	case arrival == arrivalTooFar, number-e.arrivals.next > arrivalWindow && now.Sub(e.inWindowAt) < jumpPause:
		return VerdictTooFar
	}
	if v := e.inspect(b, frames); v != VerdictAccepted {
		if v == VerdictRefused {
			if arrival != arrivalNew {
				return VerdictTooFar
			}
			if e.refused == nil {
				e.refused = &rangeSet{limit: refusedRanges}
			}
			e.refused.add(number, number+1)
		}
		return v
	}
	urgent, taken := true, e.reliable.taken()
	if arrival == arrivalNew {
		e.inWindowAt = now
		urgent = e.arrive(number)
	}
	it := wire.Frames(frames)
	var f wire.Frame
	reliable := false
	for it.Next(&f) {
		if arrival != arrivalNew && !f.Reliability.IsReliable() {
			continue // nobody knows whether it came before
		}
		reliable = reliable || f.Reliability.IsReliable()
		if e.apply(now, b, &f) {
			urgent = true
		}
	}
	held := e.acks.pending() && e.acks.beat.steady() && e.acks.lossy == 0
	e.acks.note(now, number, len(data), urgent)
	if e.reliable.taken() == taken {
		switch {
		case arrival == arrivalTooOld:
			return VerdictLate
		case reliable && held:
			e.acks.urgent = true // the peer cannot have had the ACK that is still here
		case reliable:
			e.ackAgain()
		}
	}
	return VerdictAccepted
}

// brings reports whether a datagram whose number came before has a reliable frame that did not.
// One peer numbers all its datagrams alike, and the original looks at no number.
func (e *Engine) brings(frames []byte) bool {
	it := wire.Frames(frames)
	for f := (wire.Frame{}); it.Next(&f); {
		if f.Reliability.IsReliable() && e.reliable.probe(expand24(f.Reliable, e.reliable.base)) == reliableNew {
			return true
		}
	}
	return false
}

// ackAgain names the last datagrams that came in the next ACK once more, after one that
// brought nothing but what is here already: the peer cannot have had their ACK. A
// flight that arrives at once is acknowledged by a single datagram, and when that is lost the
// peer would take all of it for lost.
func (e *Engine) ackAgain() {
	e.acks.sawLoss()
	for n := e.arrivals.next - 1; n >= max(e.arrivals.next-againNumbers, e.arrivals.from); n-- {
		if e.arrivals.probe(n) == arrivalDuplicate {
			e.acks.ranges.add(n, n+1)
		}
	}
}

// againNumbers is how many numbers ackAgain looks back: as many as a flight of a fast
// transfer has. It is work for each datagram that brings nothing new. Arbitrary.
const againNumbers = 256

// arrive notes a datagram that is new, and reports whether it should be acknowledged at once.
func (e *Engine) arrive(number int64) (urgent bool) {
	expected := e.arrivals.next
	e.arrivals.accept(number)
	if number > expected {
		e.missing(expected, number)
	} else if number < expected {
		e.nacks.arrived(number)
	}
	if e.accepted < promptAcks {
		e.accepted++
		return true
	}
	return number != expected // it opens a gap or fills one
}

// missing reports the numbers from lo up to but not including hi as missing, but for
// those that came and were refused: a NACK would bring them back at once, when they
// should come later.
func (e *Engine) missing(lo, hi int64) {
	e.nacks.gap(lo, hi)
	e.missed(e.inWindowAt)
	if e.refused != nil {
		for _, r := range e.refused.spans {
			e.nacks.cancel(r.lo, r.hi)
		}
		e.refused = nil
	}
	if e.nacks.pending() {
		e.acks.sawLoss()
	}
}

// orderSkip is how far above the index that its channel expects an ordering index may
// lie. Arbitrary: no sender has as many messages outstanding, and none of ours more
// than reliableInFlight.
const orderSkip = 1 << 16

// inspect checks every frame of a frame set, which lies in b, without any effect.
func (e *Engine) inspect(b *pool.Buffer, frames []byte) Verdict {
	it := wire.Frames(frames)
	var f wire.Frame
	reliable, waits, wanted := false, false, false
	var ask reasmAsk
	var parts *reassembler
	for it.Next(&f) {
		if f.Reliability.IsReliable() {
			reliable = true
			switch e.reliable.probe(expand24(f.Reliable, e.reliable.base)) {
			case reliableTooFar:
				return VerdictTooFar
			case reliableDuplicate:
				continue // it will have no effect
			}
			if e.abandoned && (len(f.Payload) != 1 || protocol.ID(f.Payload[0]) != protocol.IDDisconnect) {
				return VerdictRefused
			}
		}
		if f.Split {
			part := fragmentOf(&f)
			if parts == nil {
				parts = e.parts()
			}
			if parts.precheck(&part) {
				return VerdictMalformed
			}
			if !parts.room(&ask, &part, pool.Ref{Buf: b, Data: f.Payload}) {
				return VerdictRefused
			}
		}
		if f.Reliability.HasChannel() {
			switch next := e.order.next(f.Channel); {
			case e.order.wants(f.Channel, f.Order):
				wanted = true
			case expand24(f.Order, next)-next > orderSkip:
				return VerdictTooFar
			case e.order.holds(f.Channel, f.Order):
				waits = true
			}
		}
	}
	switch {
	case it.Err() != nil:
		return VerdictMalformed
	case reliable && e.unreadFull():
		return VerdictRefused
	case waits && (e.order.hold.exhausted(e.limits) || e.order.hold.full(e.limits) && !wanted):
		return VerdictRefused
	}
	return VerdictAccepted
}

// parts returns what puts messages together, or one that could.
func (e *Engine) parts() *reassembler {
	if e.reasm != nil {
		return e.reasm
	}
	r := new(reassembler)
	r.init(e.limits.ReassemblyBytes, e.limits.ReassemblyGroups, e.limits.MessageParts, e.limits.ReassemblyAge)
	return r
}

func fragmentOf(f *wire.Frame) fragment {
	return fragment{rel: f.Reliability, channel: f.Channel, order: int64(f.Order), seq: int64(f.Sequence),
		id: f.SplitID, index: f.SplitIndex, count: f.SplitCount}
}

// apply takes one frame and reports whether it should be acknowledged at once.
func (e *Engine) apply(now monotime.Time, b *pool.Buffer, f *wire.Frame) (urgent bool) {
	if f.Reliability.IsReliable() {
		if e.reliable.insert(expand24(f.Reliable, e.reliable.base)) != reliableNew {
			e.trouble().DuplicatesReceived++
			return false
		}
	} else if e.unreadFull() && !protocol.ID(f.Payload[0]).IsControl() {
		e.trouble().FramesDropped++
		return false
	}
	if !f.Split {
		e.whole(int64(f.Order), f.Sequence, newDelivery(f.Reliability, f.Channel, pool.Share(b, f.Payload)))
		return false
	}
	part := fragmentOf(f)
	e.reasm = e.parts()
	d, done, _ := e.reasm.add(now, &part, pool.Share(b, f.Payload))
	if done {
		e.whole(part.order, uint32(part.seq), d)
	}
	return done
}

// whole takes a whole message and makes ready what can be delivered now.
func (e *Engine) whole(order int64, seq uint32, d Delivery) {
	before := len(e.ready)
	if d.Reliability.HasChannel() {
		e.ready = e.order.accept(d.Channel, order, seq, d.Reliability.IsSequenced(), d, e.ready)
	} else {
		e.ready = append(e.ready, d)
	}
	e.stats.MessagesReceived += uint64(len(e.ready) - before)
	if e.unread >= e.limits.ReceiveBuffer/2 {
		return // an application that is behind anyway gets no more
	}
	for i := before + 1; i < len(e.ready); i++ {
		e.freed += e.ready[i].Charge()
	}
	e.freed = min(e.freed, e.limits.HeldBytes)
}

// unreadFull reports whether the application is behind by ReceiveBuffer. What waited for a
// missing message and became ready with it does not count: it comes at once, megabytes of it on a fast and
// lossy path, and is no fault of an application that reads.
func (e *Engine) unreadFull() bool { return e.unread-e.freed >= e.limits.ReceiveBuffer }

// NextDelivery takes the next message, in the order of delivery. The caller owns what
// d holds and releases it.
func (e *Engine) NextDelivery(d *Delivery) bool {
	if e.readyHead < len(e.ready) && e.ready[e.readyHead].run > 0 {
		run := &e.ready[e.readyHead]
		if run.Take(d); run.run == 0 {
			e.readyHead++
		}
		return true
	}
	return e.NextRun(d)
}

// NextRun is NextDelivery for who takes runs as they are: no message of one is the connection's own.
func (e *Engine) NextRun(d *Delivery) bool {
	if e.readyHead == len(e.ready) {
		e.ready, e.readyHead = e.ready[:0], 0
		return false
	}
	*d = e.ready[e.readyHead]
	e.ready[e.readyHead] = Delivery{}
	e.readyHead++
	return true
}
