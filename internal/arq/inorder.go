package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Most of what is ever sent and received are whole reliable ordered messages. Here are short ways for
// them; whatever else there is goes the long one.
const (
	// orderedFlags are the flags of a whole reliable ordered frame, in the bits of flagBits.
	orderedFlags = byte(protocol.ReliableOrdered) << 5
	flagBits     = 0xf0
	// orderedHeader is the size of its header: flags, length, reliable index, ordering
	// index and channel.
	orderedHeader = 10
)

// receiveInOrder takes the frames of datagram number, of size bytes, if it is the next one and
// holds nothing but whole reliable ordered messages, each the next of one channel, while nothing
// waits for order. That is nearly all of a transfer, and half the work of looking for everything
// else that may be. In all other cases it does nothing and reports false.
func (e *Engine) receiveInOrder(now monotime.Time, b *pool.Buffer, number int64, size int, frames []byte) bool {
	if len(frames) <= orderedHeader || frames[0]&flagBits != orderedFlags || b == nil || number != e.arrivals.next ||
		e.reliable.ahead() > 0 || e.order.hold.messages > 0 || e.abandoned || e.unreadFull() {
		return false
	}
	channel := frames[orderedHeader-1]
	c := e.order.of(channel)
	if c == nil {
		return false
	}
	count, run := int64(0), true
	for rest := frames; len(rest) > 0; count++ {
		if len(rest) <= orderedHeader || rest[0]&flagBits != orderedFlags || rest[orderedHeader-1] != channel ||
			wire.Uint24(rest[3:]) != wire24(e.reliable.base+count) || wire.Uint24(rest[6:]) != wire24(c.next+count) {
			return false
		}
		n := orderedSize(rest)
		if n == orderedHeader || n > len(rest) {
			return false
		}
		run = run && !protocol.ID(rest[orderedHeader]).IsControl()
		rest = rest[n:]
	}
	e.inWindowAt = now
	urgent := e.arrive(number)
	e.reliable.base += count
	c.next += count
	c.sequence = 0
	if run && len(frames) >= leastRun {
		b.Retain()
		e.ready = append(e.ready, newRun(channel, pool.Ref{Buf: b, Data: frames}, int(count)))
	} else {
		b.RetainTimes(int(count))
		for rest := frames; len(rest) > 0; {
			n := orderedSize(rest)
			e.ready = append(e.ready, newDelivery(protocol.ReliableOrdered, channel, pool.Ref{Buf: b, Data: rest[orderedHeader:n:n]}))
			rest = rest[n:]
		}
	}
	e.stats.MessagesReceived += uint64(count)
	e.acks.note(now, number, size, urgent)
	return true
}

// sendOrdered is number and sendWhole for the messages that are most of all: reliable, ordered, whole, and
// without a receipt.
func (e *Engine) sendOrdered(m *Message) {
	size := orderedHeader + len(m.Payload)
	p := e.packetFor(m.Priority, m.Channel, size)
	p.appendOrdered(m.Payload, m.Channel, e.channel(m.Channel))
	e.charge(p, size)
	e.queue.filling, e.queue.channel = p, m.Channel
	if !m.Control {
		e.stats.MessagesSent++
	}
}

// orderedSize is how long such a frame says that it is.
func orderedSize(b []byte) int { return orderedHeader + (int(b[1])<<8|int(b[2])+7)>>3 }
