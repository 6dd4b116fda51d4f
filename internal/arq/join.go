package arq

import (
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Join adds a whole reliable ordered message to the datagram that the last one went into, and reports
// whether it did: it does not where that has left, or is full, or is of another channel or priority.
// Whoever sends what is queued sends it as well, so that nothing is left to decide: of the messages of a
// transfer in small pieces all but the first of each datagram take this way, which costs a fraction of
// that of Send. The caller has made sure of what Send would refuse, but for the send buffer's bound.
func (e *Engine) Join(payload []byte, channel uint8, pr protocol.Priority) bool {
	q := e.queue
	if q == nil || q.filling == nil {
		return false
	}
	p, size := q.filling, orderedHeader+len(payload)
	if p.priority != pr || q.channel != channel || p.flow.tail != p || p.buf.N+size > e.roomOf(p.buf) || e.held+size > e.limits.SendBuffer {
		return false
	}
	p.appendOrdered(payload, channel, e.channel(channel))
	p.held += int32(size)
	e.held += size
	q.bytes += size
	e.stats.MessagesSent++
	return true
}

// appendOrdered frames a message behind the others of p.
func (p *packet) appendOrdered(payload []byte, channel uint8, c *outChannel) {
	size := orderedHeader + len(payload)
	b := p.buf.B[p.buf.N : p.buf.N+size]
	bits := len(payload) * 8
	b[0], b[1], b[2] = orderedFlags, byte(bits>>8), byte(bits)
	wire.PutUint24(b[3:], 0) // until it leaves: see stamp
	wire.PutUint24(b[6:], wire24(c.order))
	b[orderedHeader-1] = channel
	copy(b[orderedHeader:], payload)
	p.buf.N += size
	p.frames++
	p.reliable++
	c.order++
	c.seq = 0
}
