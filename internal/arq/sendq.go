package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// sendQueue holds the packets that wait to leave. Each priority has a level: what
// must be sent again, which goes first, and what never left. The levels share the
// link in weighted turns, so that none starves. Within a level it is first in, first
// out, but that ordering channels with much to send take turns datagram by datagram, so
// that a lone message does not wait behind a transfer on another channel.
type sendQueue struct {
	level [protocol.Priorities]sendLevel
	bytes int // of frames that never left
	n     int // packets

	filling *packet // where the last ordered message went, if that has not left: see Join
	channel uint8   // of that message

	spares []*pool.Buffer // see Engine.spare
	wide   bool           // the path takes wide datagrams

	wideLost uint8 // how many were lost since one arrived
}

type sendLevel struct {
	lost  packetList
	flows []*sendFlow // of the channels used so far; at most one for each and one for modes without
	turn  uint64      // of the packet that left last
	count uint64      // packets queued so far
	fresh int         // packets in all flows
	pass  uint64      // the level with the least pass sends next
}

// sendFlow is the queue of what never left of one ordering channel at one priority.
type sendFlow struct {
	passed int // bytes that have overtaken the head, see passTails
	packetList
	channel uint8
	last    uint64 // turn of the packet queued last
}

// noChannel is the flow of modes without an ordering channel.
const noChannel = protocol.OrderingChannels

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

func (l *sendLevel) empty() bool { return l.lost.head == nil && l.fresh == 0 }

// flow returns the flow of a channel, making it at its first use.
func (l *sendLevel) flow(channel uint8) *sendFlow {
	for _, f := range l.flows {
		if f.channel == channel {
			return f
		}
	}
	f := &sendFlow{channel: channel}
	l.flows = append(l.flows, f)
	return f
}

func (q *sendQueue) empty() bool {
	return q == nil || q.n == 0
}

// waiting returns how many bytes of frames never left.
func (q *sendQueue) waiting() int {
	if q == nil {
		return 0
	}
	return q.bytes
}

// wake prepares a level that is about to get its first packet: what it did not use
// while it was empty is forgotten, or it would now crowd out the others.
func (q *sendQueue) wake(pr protocol.Priority) {
	l := &q.level[pr]
	if !l.empty() {
		return
	}
	if q.n == 0 {
		for i := range q.level {
			q.level[i].pass = 0
		}
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
	}
}

// pushFresh queues p, which never left, on a channel's flow.
func (q *sendQueue) pushFresh(p *packet, channel uint8) {
	q.wake(p.priority)
	l := &q.level[p.priority]
	p.flow = l.flow(channel)
	p.flow.last = max(l.turn, p.flow.last) + 1
	l.count++
	p.turn, p.arrival = p.flow.last, l.count
	p.flow.push(p)
	l.fresh++
	q.n++
	q.bytes += int(p.held)
	p.place = placeFresh
}

// pushLost queues p to be sent again, behind what has a lower reliable index: what
// the receiver waits for longest goes first. Losses come to light nearly in that order.
func (q *sendQueue) pushLost(p *packet) {
	q.wake(p.priority)
	l := &q.level[p.priority].lost
	before := l.tail
	steps := 0
	for ; before != nil && before.firstReliable > p.firstReliable && steps < lostSortSteps; steps++ {
		before = before.prev
	}
	if steps == lostSortSteps {
		// Far out of order, as after several timeouts: look from the other end.
		before = nil
		for next := l.head; next != nil && next.firstReliable < p.firstReliable && steps > 0; steps-- {
			before, next = next, next.next
		}
	}
	l.insertAfter(before, p)
	q.n++
	p.place = placeLost
}

// lostSortSteps bounds how far pushLost looks for the right place: order here is
// worth something, but not a walk over everything in flight. Arbitrary.
const lostSortSteps = 64

// pick returns the packet that should leave next and is allowed to, or nil.
func (e *Engine) pick(now monotime.Time) *packet {
	var best *packet
	var pass uint64
	if e.queue == nil {
		return nil
	}
	for _, pr := range rank {
		l := &e.queue.level[pr]
		if best != nil && l.pass >= pass || l.empty() {
			continue
		}
		p := l.lost.head
		if p == nil && l.fresh > 0 {
			p = e.pickFresh(now, l, anySize, 0)
		}
		if p != nil {
			best, pass = p, l.pass
		}
	}
	return best
}

// anySize is more than a datagram has.
const anySize = 1 << 16

// pickFresh returns the packet of a level whose turn it is, of those that are allowed
// to leave and have at most size bytes.
func (e *Engine) pickFresh(now monotime.Time, l *sendLevel, size int, ahead uint16) (best *packet) {
	for _, f := range l.flows {
		p := e.freshHead(now, f)
		if p != nil && p.tail && size == anySize {
			p = e.passTails(p, ahead)
		}
		if p != nil && p.buf.N <= size && (best == nil || p.before(best)) && e.mayStart(p, ahead) {
			best = p
		}
	}
	return best
}

// maxTails is how many short fragments, each the last of its message, the full ones behind may
// overtake on a short path, and maxPassed by how many bytes: the messages stay unfinished so
// long, and a receiver has room for so many bytes of those.
const (
	maxTails  = 8
	maxPassed = plentyBytes
)

// passTails returns the packet that should leave instead of p, a short fragment at the head of its flow:
// the next full one, or p itself. What the system sends as one is of one size, so that a
// short datagram after every eighth makes eight runs of one; and several short ones that leave together
// are one datagram. A message comes later by that, some tens of microseconds where a path is
// short; on any other nothing is overtaken. Neither is it where the peer is not known to be this
// library (see reach): RakLib ends the connection of who leaves five messages unfinished.
func (e *Engine) passTails(p *packet, ahead uint16) *packet {
	if !e.short() || !e.reach.echoes || p.flow.passed >= maxPassed {
		return p
	}
	for q, n := p, 0; q != nil && n <= maxTails; q, n = q.next, n+1 {
		if !q.tail {
			if q.reliable == 1 && len(q.messages) == 1 && q.messages[0].split && e.mayStart(q, ahead) {
				return q
			}
			break
		}
	}
	return p
}

// before reports whether p's turn comes before q's: the n-th packet of one flow that
// waits has its turn with the n-th of every other.
func (p *packet) before(q *packet) bool {
	return p.turn < q.turn || p.turn == q.turn && p.arrival < q.arrival
}

// freshHead returns the first packet of a flow, after dropping unreliable messages that
// waited too long.
func (e *Engine) freshHead(now monotime.Time, f *sendFlow) *packet {
	for p := f.head; p != nil; p = f.head {
		if p.frames == p.reliable || now.Sub(p.queuedAt) <= e.limits.UnreliableAge {
			return p
		}
		e.trouble().MessagesExpired += uint64(p.frames - p.reliable)
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

// minRoom is the least room in a datagram that is worth looking for a message that
// fits: the smallest frame there is with an ordering index, and its payload.
const minRoom = 16

// fill takes what waits on other flows into p, which is about to leave for the first
// time, as far as whole packets fit into the datagram and the window: messages of several channels that wait together
// leave together.
func (e *Engine) fill(now monotime.Time, p *packet) {
	room := e.roomOf(p.buf)
	if e.queue.empty() || room-p.buf.N < minRoom {
		return
	}
	limit := min(room, max(p.buf.N, e.cc.Window()-e.inFlight))
	for _, pr := range rank {
		l := &e.queue.level[pr]
		for l.fresh > 0 && limit-p.buf.N >= minRoom {
			q := e.pickFresh(now, l, limit-p.buf.N+wire.DatagramHeaderSize, p.reliable)
			if q == nil {
				break
			}
			e.merge(p, q)
		}
	}
}

// merge moves the frames of q, which waits, to the end of p, which does not any more.
func (e *Engine) merge(p, q *packet) {
	p.buf.N += copy(p.buf.B[p.buf.N:], q.buf.Bytes()[wire.DatagramHeaderSize:])
	p.frames += q.frames
	p.reliable += q.reliable
	p.queuedAt = max(p.queuedAt, q.queuedAt)
	p.messages = append(p.messages, q.messages...)
	e.unqueue(q)
	p.held += q.held
	q.held = 0
	e.freePacket(q)
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
// hold: a range of reliable indexes, of which ahead more are about to be used, and a
// number of unfinished split messages.
func (e *Engine) mayStart(p *packet, ahead uint16) bool {
	if p.reliable == 0 {
		return true
	}
	if e.oldest != nil && e.nextReliable+int64(ahead+p.reliable)-e.oldest.firstReliable > e.reliableReach() {
		e.stalled = true
		return false
	}
	for _, m := range p.messages {
		if m.split && !m.started && int(e.splits) >= e.limits.SplitsInFlight {
			return false
		}
	}
	return true
}
