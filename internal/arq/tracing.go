package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
)

// tracer writes down what an engine does. An engine has none unless somebody wants to
// know; each place that would record something asks for that with one comparison.
type tracer struct {
	ring   *TraceRing
	phased phased // nil: the controller has no phases
	now    monotime.Time
	// What was recorded last.
	gauges    TraceRecord
	phase     Phase
	tolerance int16
	// Counters of Stats by then: what they have grown by is what a datagram has in it.
	resent, repeated, probes uint64
}

func (e *Engine) initTrace(now monotime.Time, r *TraceRing) {
	if r == nil {
		return
	}
	e.trace = &tracer{ring: r, now: now}
	e.trace.phased, _ = e.cc.(phased)
	e.trace.state(e, now)
}

// record makes room for a record.
func (t *tracer) record(now monotime.Time, k TraceKind) *TraceRecord {
	t.now = now
	r := t.ring.push()
	*r = TraceRecord{At: now, Kind: k, Number: -1}
	return r
}

// traceSent records the frame set that left last, of so many bytes.
func (e *Engine) traceSent(now monotime.Time, size int) {
	if e.trace != nil {
		e.trace.sent(e, now, size)
	}
}

func (t *tracer) sent(e *Engine, now monotime.Time, size int) {
	r := t.record(now, TraceSent)
	r.Class, r.Number, r.Bytes, r.InFlight = DatagramFrames, e.sent.next-1, int32(size), int32(e.inFlight)
	s := &e.stats
	r.Resent, r.Repeated, r.Probe = int32(s.FramesResent-t.resent), int32(s.FramesRepeated-t.repeated), s.Probes > t.probes
	t.resent, t.repeated, t.probes = s.FramesResent, s.FramesRepeated, s.Probes
	if r.Resent > 0 {
		r.Class = DatagramResent
	}
}

// traceControl records an ACK or NACK that leaves.
func (e *Engine) traceControl(now monotime.Time, c DatagramClass, size int) {
	if e.trace != nil {
		e.trace.control(now, c, size)
	}
}

func (t *tracer) control(now monotime.Time, c DatagramClass, size int) {
	r := t.record(now, TraceSent)
	r.Class, r.Bytes = c, int32(size)
}

// traceReceived records a datagram before it has any effect.
func (e *Engine) traceReceived(now monotime.Time, data []byte) {
	if e.trace != nil {
		e.trace.received(e, now, data, TraceReceived)
	}
}

// traceVerdict records what was wrong with the datagram received last, if anything was,
// and the state in which it leaves the engine.
func (e *Engine) traceVerdict(now monotime.Time, data []byte, v Verdict) {
	if e.trace != nil {
		e.trace.verdict(e, now, data, v)
	}
}

func (t *tracer) verdict(e *Engine, now monotime.Time, data []byte, v Verdict) {
	if v != VerdictAccepted {
		t.received(e, now, data, TraceDiscarded).Verdict = v
	}
	t.state(e, now)
}

func (t *tracer) received(e *Engine, now monotime.Time, data []byte, k TraceKind) *TraceRecord {
	r := t.record(now, k)
	r.Bytes = int32(len(data))
	switch wire.Classify(data) {
	case wire.KindACK:
		r.Class = DatagramACK
	case wire.KindNACK:
		r.Class = DatagramNACK
	case wire.KindFrameSet:
		r.Class = DatagramFrames
		if n, _, err := wire.ParseDatagramHeader(data); err == nil {
			r.Number = max(expand24(n, e.arrivals.next), -1)
		}
	}
	return r
}

// traceAcked records that datagram n, which was in flight, was acknowledged.
func (e *Engine) traceAcked(now monotime.Time, n int64, d *sentDatagram) {
	if e.trace != nil {
		e.trace.ranged(now, TraceAcked, n, d).InFlight = int32(e.inFlight)
	}
}

// traceNacked records that datagram n, which is in flight, was reported missing.
func (e *Engine) traceNacked(now monotime.Time, n int64, d *sentDatagram) {
	if e.trace != nil {
		e.trace.ranged(now, TraceNacked, n, d)
	}
}

// ranged records something about datagram n, in the record of those just below it if
// that is the last: an ACK mostly names many in a row.
func (t *tracer) ranged(now monotime.Time, k TraceKind, n int64, d *sentDatagram) *TraceRecord {
	r := t.ring.last()
	if r == nil || r.Kind != k || r.At != now || r.Number+int64(r.Count) != n {
		r = t.record(now, k)
		r.Number = n
	}
	r.Count++
	r.Bytes += d.size
	return r
}

// traceSpurious records that datagram n, which had been given up, was acknowledged.
func (e *Engine) traceSpurious(now monotime.Time, n int64, d *sentDatagram) {
	if e.trace != nil {
		e.trace.ranged(now, TraceSpurious, n, d)
	}
}

// traceLost records that datagram n was given up, by a timeout or by what was known.
func (e *Engine) traceLost(now monotime.Time, n int64, d *sentDatagram, timeout bool) {
	if e.trace != nil {
		e.trace.lost(e, now, n, d, timeout)
	}
}

func (t *tracer) lost(e *Engine, now monotime.Time, n int64, d *sentDatagram, timeout bool) {
	r := t.record(now, TraceLost)
	r.Number, r.Bytes, r.InFlight, r.Reason = n, d.size, int32(e.inFlight), e.lossReason(n, d, timeout)
}

func (e *Engine) lossReason(n int64, d *sentDatagram, timeout bool) LossReason {
	switch {
	case timeout:
		return LossTimeout
	case d.nacked && (e.loss.tolerance == 0 || n >= e.loss.exposed):
		return LossNack
	case e.loss.tolerance == 0 && e.loss.newest-n >= packetThreshold:
		return LossThreshold
	}
	return LossTolerance
}

// traceTimeout records that a retransmission timeout has passed.
func (e *Engine) traceTimeout(now monotime.Time) {
	if e.trace != nil {
		e.trace.record(now, TraceTimeout).Count = int32(e.loss.backoff)
	}
}

// traceAbandon records that what is in flight is forgotten.
func (e *Engine) traceAbandon() {
	if t := e.trace; t != nil && e.sent.out > 0 {
		r := t.record(t.now, TraceAbandoned)
		r.Count, r.Bytes = int32(e.sent.out), int32(e.inFlight)
	}
}

// traceAbandoned records what that left: no datagram may come after it that would say so.
func (e *Engine) traceAbandoned() {
	if t := e.trace; t != nil {
		t.state(e, t.now)
	}
}

// traceState records what has changed of the engine's state.
func (e *Engine) traceState(now monotime.Time) {
	if e.trace != nil {
		e.trace.state(e, now)
	}
}

func (t *tracer) state(e *Engine, now monotime.Time) {
	t.now = now
	if t.phased != nil {
		if p := t.phased.tracePhase(); p != t.phase {
			t.phase = p
			t.record(now, TracePhase).Phase = p
		}
	}
	if e.loss.tolerance != t.tolerance {
		t.tolerance = e.loss.tolerance
		t.record(now, TraceTolerance).Count = int32(t.tolerance)
	}
	g := TraceRecord{
		Kind: TraceMetrics, Number: -1, InFlight: int32(e.inFlight), Window: int32(e.cc.Window()), Rate: e.pacingRate(),
		RTT: e.rtt.latest, SRTT: e.rtt.srtt, RTTVar: e.rtt.rttvar, MinRTT: e.rtt.min,
	}
	if g != t.gauges {
		t.gauges = g
		g.At = now
		*t.ring.push() = g
	}
}
