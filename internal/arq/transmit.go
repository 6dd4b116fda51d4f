package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
)

// Transmit returns the next datagram that may leave now, or nil. The caller sends its
// Bytes, which nobody changes meanwhile, and releases it.
//
// NACKs leave first, since they repair, then ACKs that are due. One that is not, but
// has waited for a while, leaves behind the first frame set of a batch, so that both
// reach the socket together and the data reaches its reader first.
func (e *Engine) Transmit(now monotime.Time) *pool.Buffer {
	if e.departures != nil && !e.departures.open(now) {
		return nil
	}
	if e.nacks.pending() {
		buf, size := e.controlBuffer(e.nacks.missing.len())
		if b := e.control(buf, e.nacks.append(buf.B[:0], size)); b != nil {
			e.trouble().NacksSent++
			e.traceControl(now, DatagramNACK, b.N)
			return b
		}
	}
	if e.acks.pending() && (e.ackRides || e.acks.due(now)) {
		buf, size := e.controlBuffer(e.acks.names())
		if b := e.control(buf, e.acks.append(buf.B[:0], size)); b != nil {
			e.stats.AcksSent++
			e.traceControl(now, DatagramACK, b.N)
			e.ackRides = e.ackRides && e.acks.pending()
			return b
		}
	}
	e.ackRides = false
	p := e.next(now)
	if p == nil {
		e.traceState(now)
		return nil
	}
	e.ackRides = e.acks.worthRiding(now)
	return e.depart(now, p)
}

// controlSize holds the header of an ACK or NACK and one range, with the second
// record that a range across the 24-bit wrap takes.
const controlSize = 3 + 2*7

// controlBuffer returns a buffer for an ACK or NACK datagram of up to the given number
// of ranges, and how many bytes the datagram may have.
func (e *Engine) controlBuffer(ranges int) (*pool.Buffer, int) {
	size := min(controlSize+7*ranges, e.maxPayload())
	return pool.Get(size), size
}

// control finishes an ACK or NACK datagram that was written at the start of buf.
func (e *Engine) control(buf *pool.Buffer, b []byte) *pool.Buffer {
	if len(b) == 0 {
		buf.Release()
		return nil
	}
	buf.N = len(b)
	e.count(len(b))
	return buf
}

func (e *Engine) count(bytes int) {
	if e.departures != nil {
		e.departures.left()
	}
	e.stats.DatagramsSent++
	e.stats.BytesSent += uint64(bytes)
}

// next returns the packet that leaves next: a probe, or what the queue offers and the
// window allows.
func (e *Engine) next(now monotime.Time) *packet {
	e.pacer.at = monotime.Never
	if e.sent.full() {
		return nil
	}
	if e.loss.probes > 0 {
		if p := e.probe(); p != nil {
			return p
		}
	}
	if p := e.sounding(); p != nil {
		return p
	}
	e.stalled = false
	p := e.pick(now)
	if p == nil && e.stalled {
		p = e.second()
	}
	if p == nil {
		if e.inFlight < e.cc.Window() && e.queue.empty() {
			e.limitedUntil = e.delivered + int64(e.inFlight) + 1
		}
		return nil
	}
	if e.loss.probes > 0 || e.inFlight == 0 {
		return p
	}
	if e.inFlight+p.buf.N > e.cc.Window() || !e.paced(now, p.buf.N) {
		return nil
	}
	return p
}

// depart makes p the next datagram: its first transmission, or another one.
func (e *Engine) depart(now monotime.Time, p *packet) *pool.Buffer {
	at := p.place
	if p.place != nowhere {
		l := &e.queue.level[p.priority]
		l.pass += stride[p.priority] * uint64(Datagrams(p.buf.N))
		if p.place == placeFresh {
			l.turn = max(l.turn, p.turn)
			if p.flow.passed += p.buf.N; p.flow.head == p {
				p.flow.passed = 0
			}
		}
	}
	e.unqueue(p)
	again := p.flying
	if again {
		p.resent, p.second = true, at == nowhere
		// A probe may still have unreliable frames, which may yet arrive as they left first.
		if before := p.buf.N; e.stripUnreliable(p) > 0 {
			e.charge(p, p.buf.N-before)
		}
		p.own()
		e.trouble().FramesResent += uint64(p.reliable)
	} else {
		p.flying, p.firstSent = true, now
		e.fill(now, p)
		e.stamp(p)
		p.fit()
		if p.reliable > 0 {
			e.linkUnacked(p)
		}
		for _, m := range p.messages {
			if m.split && !m.started {
				m.started = true
				e.splits++
			}
		}
	}
	if e.loss.probes > 0 {
		e.loss.probes--
		e.trouble().Probes++
	}
	id := wire.FrameSetID
	if !e.queue.empty() {
		id = wire.FrameSetContinuousID
	}
	p.number = e.sent.next
	wire.AppendDatagramHeader(p.buf.B[:0], id, wire24(p.number))
	if e.sent.out == 0 {
		// The first flight after a pause: rates are measured from here.
		e.firstSentAt, e.deliveredAt = now, now
	}
	d := e.sent.push()
	buf := p.buf
	switch {
	case p.reliable == 0:
		// The bytes are the caller's, the record stays only for receipts.
		p.buf = nil
	case again:
		buf = e.again(now, p, d)
	default:
		buf = e.repeat(now, p, d)
	}
	size := buf.N
	d.size, d.sentAt = int32(size), now
	d.delivered, d.deliveredAt, d.firstSentAt = e.delivered, e.deliveredAt, e.firstSentAt
	d.limited = e.limitedUntil > e.delivered
	e.inFlight += size
	e.peakInFlight = max(e.peakInFlight, e.inFlight)
	e.count(size)
	e.pacer.spend(size)
	e.cc.OnSent(now, size, e.inFlight)
	if e.acks.kin {
		e.rtt.beat.note(now, beatSlip)
	}
	e.armTimeout(now)
	e.traceSent(now, size)
	switch {
	case p.reliable > 0:
		d.packet, d.serial = p, p.serial
	case len(p.messages) > 0:
		d.packet, d.serial = p, p.serial
		e.held -= int(p.held)
		p.held = 0
	default:
		e.freePacket(p)
	}
	return buf
}
