package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

// sendQueue holds the packets that wait to leave, one pair of lists for each
// priority: what must be sent again, which goes first, and what never left. The
// levels share the link in weighted turns, so that none starves.
type sendQueue struct {
	level [protocol.Priorities]sendLevel
	bytes int // of frames that never left
}

type sendLevel struct {
	lost, fresh packetList
	pass        uint64 // the level with the least pass sends next
}

// stride is how far a level's pass moves with each datagram. These are the
// original engine's steps; under backlog they give about 5 immediate to 1 high, 2.8
// high to 1 medium, 2.5 medium to 1 low.
var stride = [protocol.Priorities]uint64{
	protocol.PriorityImmediate: 1, protocol.PriorityHigh: 5, protocol.PriorityMedium: 14, protocol.PriorityLow: 35,
}

// rank lists the priorities, most urgent first, to break ties.
var rank = [protocol.Priorities]protocol.Priority{
	protocol.PriorityImmediate, protocol.PriorityHigh, protocol.PriorityMedium, protocol.PriorityLow,
}

func (l *sendLevel) empty() bool { return l.lost.head == nil && l.fresh.head == nil }

func (q *sendQueue) empty() bool {
	for i := range q.level {
		if !q.level[i].empty() {
			return false
		}
	}
	return true
}

// wake prepares a level that is about to get its first packet: what it did not use
// while it was empty is forgotten, or it would now crowd out the others.
func (q *sendQueue) wake(pr protocol.Priority) {
	l := &q.level[pr]
	if !l.empty() {
		return
	}
	least, any := uint64(0), false
	for i := range q.level {
		if o := &q.level[i]; !o.empty() && (!any || o.pass < least) {
			least, any = o.pass, true
		}
	}
	if any {
		l.pass = max(l.pass, least)
	} else {
		for i := range q.level {
			q.level[i].pass = 0
		}
	}
}

func (q *sendQueue) pushFresh(p *packet) {
	q.wake(p.priority)
	q.level[p.priority].fresh.push(p)
	q.bytes += int(p.held)
	p.place = placeFresh
}

// pushLost queues p to be sent again, behind what has a lower reliable index: what
// the receiver waits for longest goes first. Losses come to light nearly in that order.
func (q *sendQueue) pushLost(p *packet) {
	q.wake(p.priority)
	l := &q.level[p.priority].lost
	before := l.tail
	for steps := 0; before != nil && before.firstReliable > p.firstReliable && steps < lostSortSteps; steps++ {
		before = before.prev
	}
	l.insertAfter(before, p)
	p.place = placeLost
}

// lostSortSteps bounds how far pushLost looks for the right place: order here is
// worth something, but not a walk over everything in flight. Arbitrary.
const lostSortSteps = 64

// open returns the last packet queued at a priority if size more bytes of frames fit in it.
func (q *sendQueue) open(pr protocol.Priority, size, limit int) *packet {
	if p := q.level[pr].fresh.tail; p != nil && p.buf.N+size <= limit {
		return p
	}
	return nil
}

// pick returns the packet that should leave next and is allowed to, or nil.
func (e *Engine) pick(now monotime.Time) *packet {
	var best *packet
	var pass uint64
	for _, pr := range rank {
		l := &e.queue.level[pr]
		if best != nil && l.pass >= pass {
			continue
		}
		p := l.lost.head
		if p == nil {
			for p = e.freshHead(now, l); p != nil && !e.mayStart(p); p = nil {
			}
		}
		if p != nil {
			best, pass = p, l.pass
		}
	}
	return best
}

// freshHead returns the first packet of a level that never left, after dropping
// unreliable messages that waited too long.
func (e *Engine) freshHead(now monotime.Time, l *sendLevel) *packet {
	for p := l.fresh.head; p != nil; p = l.fresh.head {
		if p.frames == p.reliable || now.Sub(p.queuedAt) <= e.limits.UnreliableAge {
			return p
		}
		e.stats.MessagesExpired += uint64(p.frames - p.reliable)
		if p.reliable > 0 {
			before := p.buf.N
			e.stripUnreliable(p)
			e.charge(p, p.buf.N-before)
			return p
		}
		for _, m := range p.messages {
			e.reportReceipt(m, false)
		}
		e.freePacket(p)
	}
	return nil
}

// charge changes what a queued packet counts for in the send buffer.
func (e *Engine) charge(p *packet, bytes int) {
	p.held += int32(bytes)
	e.held += bytes
	if p.place == placeFresh {
		e.queue.bytes += bytes
	}
}

// mayStart reports whether a packet that never left keeps within what peers can
// hold: a range of reliable indexes and a number of unfinished split messages.
func (e *Engine) mayStart(p *packet) bool {
	if p.reliable == 0 {
		return true
	}
	if e.oldest != nil && e.nextReliable+int64(p.reliable)-e.oldest.firstReliable > reliableInFlight {
		return false
	}
	for _, m := range p.messages {
		if m.split && !m.started && e.splits >= splitsInFlight {
			return false
		}
	}
	return true
}
