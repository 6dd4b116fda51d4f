package session

import (
	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/pool"
)

const (
	// messageOverhead is what an unread message counts for beyond its length: about
	// the memory of its place in the inbox, so that a flood of one-byte messages
	// cannot hold many times Limits.ReceiveBuffer.
	messageOverhead = 64
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
	ring  []arq.Delivery // power of two, or nil
	head  uint32         // absolute positions; masked on use
	tail  uint32
	bytes int // length plus messageOverhead of all messages
	loose int // size of the buffers that they are small parts of, once for each row of messages in one
}

func (q *inbox) len() int { return int(q.tail - q.head) }

// push takes over d.
func (q *inbox) push(d *arq.Delivery) {
	if b := d.Loose(); b != nil && b != q.looseAt(q.tail-1) {
		if q.loose+len(b.B) > inboxLoose {
			d.Settle()
		} else {
			q.loose += len(b.B)
		}
	}
	if q.len() == len(q.ring) {
		q.grow()
	}
	q.ring[q.tail&uint32(len(q.ring)-1)] = *d
	q.tail++
	q.bytes += d.Len() + messageOverhead
}

// pop gives the oldest message away.
func (q *inbox) pop(d *arq.Delivery) bool {
	if q.head == q.tail {
		return false
	}
	slot := &q.ring[q.head&uint32(len(q.ring)-1)]
	*d = *slot
	*slot = arq.Delivery{}
	q.head++
	q.bytes -= d.Len() + messageOverhead
	if b := d.Loose(); b != nil && b != q.looseAt(q.head) {
		q.loose -= len(b.B)
	}
	return true
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
