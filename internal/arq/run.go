package arq

import (
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

// A run is a Delivery of several messages: those of a datagram of whole reliable ordered messages that
// follow each other, which is what a transfer in small pieces consists of. They stay framed as they came, and
// share one reference to their buffer, until somebody takes them: a place in a queue and a reference for each of them
// is most of what it takes to receive a message of 100 bytes.
//
// A run goes from the engine to the queue of the application and no further.

// leastRun is how many bytes there must be for a run: a quarter of the buffer of a lone datagram. What is
// less is a small part of it, for which the application's queue answers message by message.
const leastRun = pool.ClassRead / 4

// newRun returns the given number of messages, framed in ref, and takes ownership of ref.
func newRun(channel uint8, ref pool.Ref, messages int) Delivery {
	return Delivery{Reliability: protocol.ReliableOrdered, Channel: channel, ref: ref, run: uint16(messages), whole: uint16(len(ref.Data))}
}

// Run returns how many messages a run has; zero if d is a message of its own.
func (d *Delivery) Run() int { return int(d.run) }

// Peek returns the bytes of a run's first message, which are good until it is taken.
func (d *Delivery) Peek() []byte {
	n := orderedSize(d.ref.Data)
	return d.ref.Data[orderedHeader:n:n]
}

// Take takes a run's first message out of it. What is left after the last is the zero value.
func (d *Delivery) Take(m *Delivery) {
	*m = newDelivery(d.Reliability, d.Channel, pool.Ref{Buf: d.ref.Buf, Data: d.Peek()})
	if d.run == 1 {
		*d = Delivery{}
		return
	}
	d.ref.Buf.Retain()
	d.skip()
}

// Skip drops a run's first message. What is left after the last is the zero value.
func (d *Delivery) Skip() {
	if d.run == 1 {
		d.Release()
		return
	}
	d.skip()
}

func (d *Delivery) skip() {
	d.ref.Data = d.ref.Data[orderedSize(d.ref.Data):]
	d.run--
}
