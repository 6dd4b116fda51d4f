package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
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
	loss   float64                 // share of datagrams lost lately
	recent *[maxRepeats]sentPacket // nil: nothing left lately that may ride along
	budget int32                   // bytes that may ride along
	off    bool
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
	// maxRepeats is how many datagrams a message may ride along in as a precaution.
	maxRepeats = 3
	// maxOverdue is how many messages more may ride along because their ACK is overdue:
	// with maxRepeats, what a quarter of a second holds at 30 datagrams a second, so that an
	// outage of that length is repaired by the first datagram after it. Arbitrary.
	maxOverdue = 5
	// repeatWindow is the part of the window, one in repeatWindow, that precautions may
	// fill: the rest is for what has not left yet.
	repeatWindow = 2
	// maxRiders is how many may ride along in one datagram.
	maxRiders = maxRepeats + maxOverdue
	// repeatShare is how many bytes may ride along in the mean for each byte that leaves
	// for the first time, and repeatBurst how many at most may be saved up. Beyond that
	// nothing rides along for a while. At 5 % loss two is what it takes; the rest is for
	// outages.
	repeatShare = 4
	repeatBurst = 64 << 10
	// repeatSize is the most that a packet's frames may have to be repeated. Larger
	// messages are no longer cheap. Arbitrary.
	repeatSize = 600
	// repeatMemory is over how many datagrams the loss is averaged, about.
	repeatMemory = 256
	// quietShare is the part of the window, one in quietShare, that the bytes which wait for
	// their ACK fill at most in a quiet flow, copies left aside. A transfer fills the window
	// and has no use for repeats.
	quietShare = 2
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

// remembered is how many of the recent ones may ride along.
func (r *repeater) remembered() int {
	if r.recent == nil {
		return 0
	}
	return r.level()
}

// remember notes that p left for the first time.
func (r *repeater) remember(p *packet) {
	if r.recent == nil {
		r.recent = new([maxRepeats]sentPacket)
	}
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
// socket: its own, or a copy with the frames of other packets behind them: first those
// that are overdue, then those that left just before, then those that are overdue and left
// again not long ago. What these carried counts as sent with d from then on.
func (e *Engine) repeat(now monotime.Time, p *packet, d *sentDatagram) *pool.Buffer {
	r := &e.repeats
	if r.level() == 0 || !p.repeatable() {
		p.buf.Retain()
		return p.buf
	}
	r.budget = min(r.budget+repeatShare*int32(p.buf.N), repeatBurst)
	c := e.riders(p, d, e.cc.Window()/repeatWindow)
	if e.quiet() {
		c.addOverdue(e, now, true)
		for i := range r.remembered() {
			if q := r.recent[i].get(); q != nil && q.place == nowhere && q.number != p.number {
				c.repeat(e, q)
			}
		}
		c.addOverdue(e, now, false)
	}
	r.remember(p)
	return c.datagram()
}

// again returns the bytes with which p goes to the socket once more: with whatever else
// of its priority waits to be sent again and fits, since several datagrams are lost more
// easily than one.
func (e *Engine) again(now monotime.Time, p *packet, d *sentDatagram) *pool.Buffer {
	c := e.riders(p, d, e.cc.Window())
	for q := e.queue.level[p.priority].lost.head; q != nil && c.n < maxRiders; {
		next := q.next
		if !c.add(e, q) {
			break
		}
		e.unqueue(q)
		e.trouble().FramesResent += uint64(q.frames)
		q = next
	}
	if p.repeatable() && e.quiet() {
		c.limit = e.room(p, e.cc.Window()/repeatWindow)
		c.addOverdue(e, now, true)
	}
	return c.datagram()
}

// quiet reports whether small messages may ride along again now.
func (e *Engine) quiet() bool {
	return e.repeats.level() > 0 && e.queue.empty() && quietShare*e.held <= e.cc.Window()
}

// riders is a datagram that is being composed of a packet and copies of others.
type riders struct {
	p     *packet
	d     *sentDatagram
	out   *pool.Buffer // nil: nothing rides along
	limit int          // bytes that the datagram may have
	n     int
}

func (e *Engine) riders(p *packet, d *sentDatagram, window int) riders {
	return riders{p: p, d: d, limit: e.room(p, window)}
}

// room is how long a datagram with p may become within a window.
func (e *Engine) room(p *packet, window int) int {
	return min(e.maxPayload(), max(p.buf.N, window-e.inFlight))
}

// add lets the frames of q ride along, if they fit.
func (c *riders) add(e *Engine, q *packet) bool {
	frames := q.buf.Bytes()[wire.DatagramHeaderSize:]
	size := c.p.buf.N
	if c.out != nil {
		size = c.out.N
	}
	if size+len(frames) > c.limit || c.n == maxRiders || q.priority != c.p.priority {
		return false
	}
	if c.out == nil {
		c.out = pool.Get(e.maxPayload())
		c.out.N = copy(c.out.B, c.p.buf.Bytes())
		c.d.also = new([maxRiders]sentPacket)
	}
	c.out.N += copy(c.out.B[c.out.N:], frames)
	c.d.also[c.n] = sentPacket{q, q.serial}
	c.n++
	q.number = c.p.number
	return true
}

// repeat adds q as a precaution, if the share of such bytes allows.
func (c *riders) repeat(e *Engine, q *packet) {
	if size := q.buf.N - wire.DatagramHeaderSize; size <= int(e.repeats.budget) && c.add(e, q) {
		e.repeats.budget -= int32(size)
		e.trouble().FramesRepeated += uint64(q.frames)
	}
}

// addOverdue adds what has not been acknowledged in a round trip, either what did not
// leave again in that time or what did. Losses come in bursts on many paths: what an
// outage swallowed, with every copy, then rides in each datagram that follows until its
// ACK comes, instead of waiting for the evidence and then for a resend that may be lost
// like the others.
func (c *riders) addOverdue(e *Engine, now monotime.Time, idle bool) {
	since := now.Add(-e.rtt.flight())
	most := c.n + maxOverdue
	for q := e.oldest; q != nil && q.firstSent < since && c.n < most; q = q.newer {
		left := q.number < e.sent.base || e.sent.at(q.number).sentAt < since
		if q.number != c.p.number && q.place == nowhere && left == idle && q.repeatable() {
			c.repeat(e, q)
		}
	}
}

// datagram returns what was composed.
func (c *riders) datagram() *pool.Buffer {
	if c.out == nil {
		c.p.buf.Retain()
		return c.p.buf
	}
	return c.out
}
