package arq

import (
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// repeater lets small messages of a quiet flow ride along again in the next datagrams,
// as many as the loss seen calls for. A game message that is lost then comes a send
// interval later instead of a round trip, which is what repair by evidence takes at
// least. It adds bytes and never a datagram.
//
// Only whole ordered messages are repeated: every implementation knows a second copy
// of those by its ordering index or its reliable index, while some deliver a repeated
// Reliable message twice.
type repeater struct {
	off    bool
	loss   float64 // share of datagrams lost lately
	recent [maxRepeats]sentPacket
}

// sentPacket is a packet, as long as its record is not used anew.
type sentPacket struct {
	packet *packet
	serial uint32
}

func (s sentPacket) get() *packet {
	if s.packet != nil && s.packet.serial == s.serial {
		return s.packet
	}
	return nil
}

const (
	// maxRepeats is how many datagrams a message may ride along in.
	maxRepeats = 3
	// repeatSize is the most that a packet's frames may have to be repeated. Larger
	// messages are no longer cheap. Arbitrary.
	repeatSize = 600
	// repeatMemory is over how many datagrams the loss is averaged, about.
	repeatMemory = 256
	// quietShare is the part of the window below which a flow counts as quiet: one in
	// quietShare. A transfer uses most of it and has no use for repeats.
	quietShare = 4
)

// repeatLevels are the shares of loss above which a message rides along once, twice and
// three times. After r repeats about loss^(r+1) of the messages must wait for a
// resend: so each level keeps that near one in ten thousand. Below the first the link
// is clean.
var repeatLevels = [maxRepeats]float64{0.001, 0.02, 0.08}

// sawVerdict takes one datagram's fate into account.
func (r *repeater) sawVerdict(lost bool) {
	r.loss -= r.loss / repeatMemory
	if lost {
		r.loss += 1.0 / repeatMemory
	}
}

// sawSpurious takes a loss back.
func (r *repeater) sawSpurious() { r.loss = max(r.loss-1.0/repeatMemory, 0) }

// level is how many times a message should ride along now.
func (r *repeater) level() (n int) {
	if r.off {
		return 0
	}
	for n < maxRepeats && r.loss > repeatLevels[n] {
		n++
	}
	return n
}

// remember notes that p left for the first time.
func (r *repeater) remember(p *packet) {
	copy(r.recent[1:], r.recent[:])
	r.recent[0] = sentPacket{p, p.serial}
}

// repeatable reports whether p holds nothing but small whole ordered messages.
func (p *packet) repeatable() bool {
	if p.reliable != p.frames || p.buf.N > wire.DatagramHeaderSize+repeatSize {
		return false
	}
	b := p.buf.Bytes()[wire.DatagramHeaderSize:]
	for range p.frames {
		if protocol.Reliability(b[0]>>5) != protocol.ReliableOrdered || b[0]&splitFlag != 0 {
			return false
		}
		size, _ := frameLayout(b)
		b = b[size:]
	}
	return true
}

// repeat returns the bytes with which p, which leaves for the first time, goes to the
// socket: its own, or a copy with the frames of recent packets behind them. What those
// carried counts as sent with d from then on.
func (e *Engine) repeat(p *packet, d *sentDatagram) *pool.Buffer {
	r := &e.repeats
	level := r.level()
	quiet := p.repeatable()
	if quiet {
		defer r.remember(p)
	}
	if level == 0 || !quiet || !e.queue.empty() || quietShare*e.inFlight > e.cc.Window() {
		p.buf.Retain()
		return p.buf
	}
	var out *pool.Buffer
	limit := min(e.maxPayload(), p.buf.N+e.cc.Window()-e.inFlight)
	for i := range level {
		q := r.recent[i].get()
		if q == nil || q.place != nowhere || q.priority != p.priority {
			continue
		}
		frames := q.buf.Bytes()[wire.DatagramHeaderSize:]
		if out == nil {
			if p.buf.N+len(frames) > limit {
				continue
			}
			out = pool.Get(e.maxPayload())
			out.N = copy(out.B, p.buf.Bytes())
			d.also = new([maxRepeats]sentPacket)
		} else if out.N+len(frames) > limit {
			continue
		}
		out.N += copy(out.B[out.N:], frames)
		d.also[i] = sentPacket{q, q.serial}
		q.number = p.number
		e.stats.FramesRepeated += uint64(q.frames)
	}
	if out == nil {
		p.buf.Retain()
		return p.buf
	}
	return out
}
