package session

import (
	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/pool"
)

const (
	// inboxLoose is how many bytes of receive buffers unread messages may occupy that are
	// only a small part of them. Messages behind are copied out: an application that is so
	// far behind must not let its peer pin far more memory than Limits.ReceiveBuffer. It
	// is four of the buffers that runs of datagrams come in, and more than a window of lone ones.
	inboxLoose = 256 << 10
	// inboxStart is the first capacity of an inbox, in messages. Arbitrary.
	inboxStart = 16
)

// inbox is the queue of messages that the application has not taken: a ring that
// grows as needed and allocates nothing per message. What it may hold is bounded
// from outside: by Limits.ReceiveBuffer, past which the engine takes no more
// datagrams with messages, and before the handshake completes by heldBytes.
type inbox struct {
	ring  []arq.Delivery // power of two, or nil; a run has one place
	head  uint32         // absolute positions; masked on use
	tail  uint32
	bytes int   // what they take of Limits.ReceiveBuffer: arq.Delivery.Charge of all places
	loose int32 // size of the buffers that they are small parts of, once for each row of messages in one
	n     int32 // messages
}

func (q *inbox) len() int { return int(q.n) }

// push takes over d, which may be a run.
func (q *inbox) push(d *arq.Delivery) {
	if b := d.Loose(); b != nil && b != q.looseAt(q.tail-1) {
		switch {
		case int(q.loose)+len(b.B) <= inboxLoose:
			q.loose += int32(len(b.B))
		case d.Run() > 0:
			q.pushEach(d)
			return
		default:
			d.Settle()
		}
	}
	if int(q.tail-q.head) == len(q.ring) {
		q.grow()
	}
	q.ring[q.tail&uint32(len(q.ring)-1)] = *d
	q.tail++
	q.n += int32(max(d.Run(), 1))
	q.bytes += d.Charge()
}

// pushEach takes over the messages of a run one by one.
func (q *inbox) pushEach(run *arq.Delivery) {
	var d arq.Delivery
	for run.Run() > 0 {
		run.Take(&d)
		q.push(&d)
	}
}

// pop gives the oldest message away.
func (q *inbox) pop(d *arq.Delivery) bool {
	if q.head == q.tail {
		return false
	}
	slot := &q.ring[q.head&uint32(len(q.ring)-1)]
	b, charge := slot.Loose(), slot.Charge()
	if slot.Run() > 0 {
		slot.Take(d)
	} else {
		*d, *slot = *slot, arq.Delivery{}
	}
	q.gone(slot, b, charge)
	return true
}

// read copies the oldest message to p and drops it, if it is of a run and fits. Last says that the run
// has no more.
func (q *inbox) read(p []byte) (n int, last, ok bool) {
	if q.head == q.tail {
		return 0, false, false
	}
	slot := &q.ring[q.head&uint32(len(q.ring)-1)]
	if slot.Run() == 0 {
		return 0, false, false
	}
	m := slot.Peek()
	if len(m) > len(p) {
		return 0, false, false
	}
	n = copy(p, m)
	b, charge := slot.Loose(), slot.Charge()
	slot.Skip()
	q.gone(slot, b, charge)
	return n, slot.Run() == 0, true
}

// gone notes that a message has left a place, which is in use as long as it is a run; b is what was loose
// there, and charge what it took.
func (q *inbox) gone(slot *arq.Delivery, b *pool.Buffer, charge int) {
	q.n--
	if slot.Run() > 0 {
		q.bytes -= charge - slot.Charge()
		return
	}
	q.bytes -= charge
	q.head++
	if b != nil && b != q.looseAt(q.head) {
		q.loose -= int32(len(b.B))
	}
}

// looseAt returns the buffer that the message at a position is a small part of, nil if there
// is no such message.
func (q *inbox) looseAt(at uint32) *pool.Buffer {
	if at-q.head >= q.tail-q.head {
		return nil
	}
	return q.ring[at&uint32(len(q.ring)-1)].Loose()
}

func (q *inbox) grow() {
	bigger := make([]arq.Delivery, max(inboxStart, 2*len(q.ring)))
	n := 0
	for i := q.head; i != q.tail; i++ {
		bigger[n] = q.ring[i&uint32(len(q.ring)-1)]
		n++
	}
	q.ring, q.head, q.tail = bigger, 0, uint32(n)
}

// clear releases every message and the ring.
func (q *inbox) clear() {
	var d arq.Delivery
	for q.pop(&d) {
		d.Release()
	}
	*q = inbox{}
}

// trim gives the ring back while it is empty: a burst must not pin its memory for the rest of
// the connection.
func (q *inbox) trim() {
	if q.len() == 0 {
		q.ring = nil
	}
}
