package netsim

import (
	"bytes"
	"encoding/binary"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

// flow is what the oracle knows about one direction of a connection: every message sent,
// and what became of it. Message numbers count what one end sent, whatever the mode.
type flow struct {
	from        *peer
	id          uint16
	sent        []sentMessage
	channels    [protocol.OrderingChannels]flowChannel
	outstanding int // of the modes that guarantee delivery, not delivered yet
	progressAt  monotime.Time
	tainted     bool // damaged on the way: contents prove nothing
	atClose     int  // len(sent) when its sender closed; -1 before
}

// sentMessage is one message. mode is as the wire carries it.
type sentMessage struct {
	size      int32
	mode      protocol.Reliability
	channel   uint8
	delivered bool
	receipt   bool // the sender was told
}

type flowChannel struct {
	ordered []int32 // numbers of the ordered messages
	next    int     // index in ordered of the one to be delivered next
	last    int32   // number of the last one delivered, ordered or sequenced, plus one
}

func newFlow(p *peer) *flow {
	p.w.flows++
	return &flow{from: p, id: p.w.flows, progressAt: p.w.now, atClose: -1}
}

// guaranteed reports whether every message of the mode arrives.
func guaranteed(mode protocol.Reliability) bool {
	return mode == protocol.Reliable || mode == protocol.ReliableOrdered
}

// note records a message that was sent.
func (f *flow) note(mode protocol.Reliability, channel uint8, size int) {
	if f.from.w.trace != nil {
		f.from.w.note("%s sends message %d: %v on channel %d, %d bytes", f.from, len(f.sent), mode, channel, size)
	}
	if mode == protocol.ReliableOrdered {
		f.channels[channel].ordered = append(f.channels[channel].ordered, int32(len(f.sent)))
	}
	if guaranteed(mode) {
		if f.outstanding == 0 {
			f.progressAt = f.from.w.now
		}
		f.outstanding++
	}
	f.sent = append(f.sent, sentMessage{size: int32(size), mode: mode, channel: channel})
}

func (f *flow) closed() { f.atClose = len(f.sent) }

// deliver checks a message that reached the application of to.
func (f *flow) deliver(to *peer, d *arq.Delivery) {
	w := to.w
	if to.pair.tainted() {
		f.tainted = true
		return
	}
	b, whole := d.Bytes()
	if !whole {
		w.inbound = d.AppendTo(w.inbound[:0])
		b = w.inbound
	}
	number := f.identify(w, to, d, b)
	if number < 0 {
		return
	}
	m := &f.sent[number]
	c := &f.channels[m.channel]
	if w.trace != nil {
		w.note("%s gets message %d: %v on channel %d, %d bytes", to, number, m.mode, m.channel, m.size)
	}
	switch {
	case m.delivered && m.mode.IsReliable():
		w.violated("1 exactly once", "%s gets message %d (%v) again", to, number, m.mode)
	case m.delivered:
		w.violated("4 at most once", "%s gets message %d (%v) again", to, number, m.mode)
	case m.mode.HasChannel() && int32(number) < c.last:
		w.violated("3 sequence rises", "%s gets message %d (%v) of channel %d after %d", to, number, m.mode, m.channel, c.last-1)
	case m.mode.IsSequenced() && c.next < len(c.ordered) && c.ordered[c.next] < int32(number):
		w.violated("2 order", "%s gets message %d (%v) of channel %d before the ordered %d", to, number, m.mode, m.channel, c.ordered[c.next])
	}
	m.delivered = true
	if m.mode.HasChannel() {
		c.last = int32(number) + 1
	}
	if m.mode == protocol.ReliableOrdered {
		c.next++
	}
	if guaranteed(m.mode) {
		f.outstanding--
	}
	f.progressAt = w.now
	if f.outstanding == 0 {
		to.pair.progress()
	}
}

// identify finds out which message b is, and that it is that message to the last byte.
func (f *flow) identify(w *World, to *peer, d *arq.Delivery, b []byte) int {
	var number int
	if d.Reliability == protocol.ReliableOrdered {
		c := &f.channels[d.Channel]
		if c.next >= len(c.ordered) {
			w.violated("2 order", "%s gets an ordered message on channel %d, where all %d were delivered", to, d.Channel, c.next)
			return -1
		}
		number = int(c.ordered[c.next])
		if len(b) >= headerSize {
			if n := int(binary.BigEndian.Uint32(b[5:])); n != number {
				w.violated("2 order", "%s gets message %d on channel %d and should get %d", to, n, d.Channel, number)
				return -1
			}
		}
	} else {
		if len(b) < headerSize {
			w.violated("5 bytes equal", "%s gets %d bytes by %v, fewer than any sent", to, len(b), d.Reliability)
			return -1
		}
		number = int(binary.BigEndian.Uint32(b[5:]))
		if number >= len(f.sent) {
			w.violated("5 bytes equal", "%s gets message %d of %d", to, number, len(f.sent))
			return -1
		}
	}
	m := &f.sent[number]
	switch {
	case m.mode != d.Reliability:
		w.violated("5 bytes equal", "%s gets message %d by %v, sent by %v", to, number, d.Reliability, m.mode)
	case m.mode.HasChannel() && m.channel != d.Channel:
		w.violated("5 bytes equal", "%s gets message %d on channel %d, sent on %d", to, number, d.Channel, m.channel)
	case int(m.size) != len(b):
		w.violated("5 bytes equal", "%s gets %d bytes of message %d, sent were %d", to, len(b), number, m.size)
	case b[0] != messageID || !f.equal(number, b):
		w.violated("5 bytes equal", "%s gets message %d with other bytes", to, number)
	default:
		return number
	}
	return -1
}

func (f *flow) equal(number int, b []byte) bool {
	if len(b) < headerSize {
		return bytes.Equal(b[1:], f.body(number, len(b)-1))
	}
	return binary.BigEndian.Uint16(b[1:]) == f.id && int(binary.BigEndian.Uint32(b[9:])) == len(b) &&
		bytes.Equal(b[headerSize:], f.body(number, len(b)-headerSize))
}

// receipt checks what the sender is told about one of its messages.
func (f *flow) receipt(id uint64, acked bool) {
	w := f.from.w
	if id == 0 || id > uint64(len(f.sent)) {
		w.violated("receipts", "%s is told about message %d of %d", f.from, int64(id)-1, len(f.sent))
		return
	}
	m := &f.sent[id-1]
	switch {
	case m.receipt:
		w.violated("receipts", "%s is told twice about message %d", f.from, id-1)
	case !acked && m.mode.IsReliable():
		w.violated("receipts", "%s is told that message %d (%v) was lost", f.from, id-1, m.mode)
	}
	m.receipt = true
}
