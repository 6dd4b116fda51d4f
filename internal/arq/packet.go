package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// packet is one datagram's worth of frames on its way to the peer: the bytes, which
// are framed once and stay as the copy for retransmission, and the record of what
// became of them. It is resent whole, under a new datagram number; its reliable
// indexes stay. One record per datagram instead of one per frame makes an ACK as
// cheap for 13 small messages as for one.
type packet struct {
	buf           *pool.Buffer // header space, then frames up to buf.N; nil once an unreliable packet has left
	messages      []*message   // messages that want to know what became of their frames; usually empty
	next, prev    *packet      // in a queue
	flow          *sendFlow    // the queue, while it never left
	turn, arrival uint64       // in it; see before
	older, newer  *packet      // among the unacknowledged, by reliable index
	firstReliable int64
	number        int64         // datagram number of the latest transmission
	queuedAt      monotime.Time // when its last unreliable frame was queued
	firstSent     monotime.Time // when it left first
	held          int32         // bytes charged to the send buffer
	serial        uint32        // changes whenever the record is used anew
	frames        uint16
	reliable      uint16 // how many of the frames are reliable
	priority      protocol.Priority
	place         place
	flying        bool // it has left at least once
	resent        bool // it was sent again
	second        bool // and then once more, on no evidence
	tail          bool // it is the last fragment of its message, and short
}

// place says which list holds a packet.
type place uint8

const (
	nowhere    place = iota
	placeFresh       // queued, never sent
	placeLost        // queued to be sent again
)

// message is the record of a message that spans packets or wants a receipt.
type message struct {
	receipt    uint64 // 0: none wanted
	remaining  int32  // frames not yet acknowledged
	split      bool
	started    bool // a fragment has left
	unreliable bool
	reported   bool
	sounding   bool // it asks whether a wide datagram arrives
}

// packetList is a queue of packets linked through next and prev.
type packetList struct{ head, tail *packet }

func (l *packetList) push(p *packet) { l.insertAfter(l.tail, p) }

// insertAfter puts p behind at, or at the head if at is nil.
func (l *packetList) insertAfter(at, p *packet) {
	p.prev, p.next = at, l.head
	if at != nil {
		p.next = at.next
		at.next = p
	} else {
		l.head = p
	}
	if p.next != nil {
		p.next.prev = p
	} else {
		l.tail = p
	}
}

func (l *packetList) remove(p *packet) {
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		l.head = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	} else {
		l.tail = p.prev
	}
	p.next, p.prev = nil, nil
}

// maxFreePackets bounds the records that an engine keeps for reuse; beyond it they
// go to the garbage collector. So many hold a full send buffer of the default size, and cost
// 700 KB until the connection rests.
const maxFreePackets = 4096

// newPacket returns a record around buf, which has its frames from
// wire.DatagramHeaderSize up to buf.N.
func (e *Engine) newPacket(buf *pool.Buffer, pr protocol.Priority) *packet {
	p := e.free
	if p != nil {
		e.free = p.next
		e.freeCount--
		*p = packet{serial: p.serial + 1, messages: p.messages[:0]}
	} else {
		p = &packet{serial: 1}
	}
	p.buf, p.priority = buf, pr
	return p
}

// maxSpares bounds the buffers that an engine keeps for its next messages: what the ACK of a run of
// datagrams sets free, so that in a transfer they neither go through the pool nor leave the cache.
// They cost 600 KB at most, of which a transfer that is ahead has use for all, until the connection rests.
const maxSpares = 384

// maxWideSpares is the same for wide ones.
const maxWideSpares = maxSpares * pool.ClassDatagram / pool.ClassWide

// buffer returns a buffer for a datagram that begins with so many bytes of frames, and may be wide if they can wait
// for others. There is a queue.
func (e *Engine) buffer(size int, pr protocol.Priority) *pool.Buffer {
	want := pool.ClassDatagram
	if pr != protocol.PriorityImmediate && e.wide() && e.Flowing() {
		want = pool.ClassWide
	}
	want = max(want, wire.DatagramHeaderSize+size)
	q := e.queue
	n := len(q.spares)
	if n == 0 || len(q.spares[n-1].B) != want {
		return pool.Get(want)
	}
	b := q.spares[n-1]
	q.spares = q.spares[:n-1]
	return b
}

// spare takes a buffer that a packet has no more use for, and keeps it while much waits to be
// acknowledged.
func (e *Engine) spare(b *pool.Buffer) {
	q := e.queue
	keep, most := pool.ClassDatagram, maxSpares
	if q != nil && q.wide {
		keep, most = pool.ClassWide, maxWideSpares
	}
	if e.held < flowBytes || q == nil || len(q.spares) >= most || len(b.B) != keep || b.Shared() {
		b.Release()
		return
	}
	q.spares = append(q.spares, b)
}

// releaseSpares gives the spare buffers back.
func (q *sendQueue) releaseSpares() {
	if q == nil {
		return
	}
	for _, b := range q.spares {
		b.Release()
	}
	q.spares = nil
}

// freePacket ends a packet's life, wherever it was, without reporting anything.
func (e *Engine) freePacket(p *packet) {
	e.unqueue(p)
	e.unlinkUnacked(p)
	e.held -= int(p.held)
	if p.buf != nil {
		e.spare(p.buf)
		p.buf = nil
	}
	clear(p.messages)
	p.serial++
	if e.freeCount < maxFreePackets {
		p.next = e.free
		e.free = p
		e.freeCount++
	}
}

// unqueue takes p out of the send queue, if it is there.
func (e *Engine) unqueue(p *packet) {
	switch p.place {
	case nowhere:
		return
	case placeFresh:
		p.flow.remove(p)
		e.queue.level[p.priority].fresh--
		e.queue.bytes -= int(p.held)
	case placeLost:
		e.queue.level[p.priority].lost.remove(p)
	}
	e.queue.n--
	if p == e.queue.filling {
		e.queue.filling = nil
	}
	p.place = nowhere
}

// linkUnacked appends p, whose reliable indexes are the newest, to the unacknowledged.
func (e *Engine) linkUnacked(p *packet) {
	p.older = e.newest
	if e.newest != nil {
		e.newest.newer = p
	} else {
		e.oldest = p
	}
	e.newest = p
}

func (e *Engine) unlinkUnacked(p *packet) {
	if p.older == nil && p.newer == nil && e.oldest != p {
		return
	}
	if p.older != nil {
		p.older.newer = p.newer
	} else {
		e.oldest = p.newer
	}
	if p.newer != nil {
		p.newer.older = p.older
	} else {
		e.newest = p.older
	}
	p.older, p.newer = nil, nil
}

// frameLayout returns how long the frame at b is and whether it has a reliable
// index, which then stands at b[3:]. The frame is one of our own.
func frameLayout(b []byte) (size int, reliable bool) {
	if b[0] == orderedFlags {
		return orderedSize(b), true
	}
	r := protocol.Reliability(b[0] >> 5)
	size = wire.FrameHeaderSize(r, b[0]&splitFlag != 0) + (int(b[1])<<8|int(b[2])+7)>>3
	return size, r.IsReliable()
}

// splitFlag marks a fragment in a frame's first byte.
const splitFlag = 0x10

// stamp writes the reliable indexes of p's frames, at its first departure.
func (e *Engine) stamp(p *packet) {
	p.firstReliable = e.nextReliable
	b := p.buf.Bytes()[wire.DatagramHeaderSize:]
	if p.frames == 1 && p.reliable == 1 { // as in most transfers: no need to read what another processor may have written
		wire.PutUint24(b[3:], wire24(e.nextReliable))
		e.nextReliable++
		return
	}
	for range p.frames {
		size, reliable := frameLayout(b)
		if reliable {
			wire.PutUint24(b[3:], wire24(e.nextReliable))
			e.nextReliable++
		}
		b = b[size:]
	}
}

// own makes sure that p's bytes may be changed: when somebody else still holds the
// buffer, which happens while the socket has not taken the last transmission, they
// move to a new one.
func (p *packet) own() {
	if !p.buf.Shared() {
		return
	}
	b := pool.Get(p.buf.N)
	b.N = copy(b.B, p.buf.Bytes())
	p.buf.Release()
	p.buf = b
}

// stripUnreliable removes the unreliable frames of a packet that also has reliable
// ones, and reports their receipts as lost: a frame that may be lost must not come
// late, and would come twice if the loss was a false alarm. It returns how many it removed.
func (e *Engine) stripUnreliable(p *packet) int {
	gone := int(p.frames - p.reliable)
	if gone == 0 {
		return 0
	}
	p.own()
	b := p.buf.Bytes()
	at, keep := wire.DatagramHeaderSize, wire.DatagramHeaderSize
	for range p.frames {
		size, reliable := frameLayout(b[at:])
		if reliable {
			keep += copy(b[keep:], b[at:at+size])
		}
		at += size
	}
	p.buf.N = keep
	p.frames = p.reliable
	kept := p.messages[:0]
	for _, m := range p.messages {
		if m.unreliable {
			e.reportReceipt(m, false)
		} else {
			kept = append(kept, m)
		}
	}
	clear(p.messages[len(kept):])
	p.messages = kept
	return gone
}
