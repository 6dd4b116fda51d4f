package session

import "github.com/raknet-go/raknet/internal/arq"

const (
	// messageOverhead is what an unread message counts for beyond its length: about
	// the memory of its place in the inbox, so that a flood of one-byte messages
	// cannot hold many times Limits.ReceiveBuffer.
	messageOverhead = 64
	// inboxUnsettled is how many unread messages may stay in the datagrams that they
	// came in, however small a part of them. Those behind are copied out: an
	// application that is so far behind must not let its peer pin far more
	// memory than Limits.ReceiveBuffer. One read batch stays below it.
	inboxUnsettled = 32
	// inboxStart is the first capacity of an inbox, in messages. Arbitrary.
	inboxStart = 16
	// inboxKeep is the largest capacity that an empty inbox keeps when nothing was
	// heard for a while: a burst must not pin its memory for the rest of the connection.
	inboxKeep = 16
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
}

func (q *inbox) len() int { return int(q.tail - q.head) }

// push takes over d.
func (q *inbox) push(d *arq.Delivery) {
	if q.len() >= inboxUnsettled {
		d.Settle()
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
	return true
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

// trim gives the ring back while it is empty and larger than inboxKeep.
func (q *inbox) trim() {
	if q.len() == 0 && len(q.ring) > inboxKeep {
		q.ring = nil
	}
}
