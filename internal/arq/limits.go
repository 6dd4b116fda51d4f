package arq

import "time"

// Limits are the bounds of one connection that a user may set. A zero field means
// its default. Every other bound of the engine is a named constant next to these.
type Limits struct {
	// SendBuffer bounds the bytes of frames queued and unacknowledged together.
	// When it is full, Send refuses. Default 4 MiB, and on a fast and long path twice the
	// congestion window up to 20 MiB: see Engine.sendBuffer.
	SendBuffer int
	// ReceiveBuffer bounds the memory of complete messages that the application has
	// not taken: the buffers that they lie in, and what it takes to know of them. While it is full, datagrams with reliable frames are dropped
	// unacknowledged, so that the peer slows down as if the path were lossy, and
	// unreliable frames are dropped for good. Default 4 MiB.
	ReceiveBuffer int
	// ReassemblyBytes bounds the memory of unfinished split messages, the buffers that their fragments lie in:
	// 2 KiB for one of full size. What would exceed it is dropped unacknowledged. Default 12 MiB.
	ReassemblyBytes int
	// ReassemblyGroups bounds how many split messages may be unfinished at once. What
	// would exceed it is dropped unacknowledged, too, but that messages of unreliable
	// modes make room, the oldest first. Default 256, as many as a sender of this
	// package has under way: what of them found no room would be refused again and again.
	ReassemblyGroups int
	// MessageParts bounds the fragments of one message received. A datagram with a
	// fragment that announces more is dropped. Default 8192.
	MessageParts int
	// HeldMessages and HeldBytes bound what waits for a missing ordered message,
	// over all channels: the number, and the memory. While they are full, a datagram is dropped unacknowledged
	// unless it holds the next message of some channel. Defaults 20480 and 28 MiB,
	// which is more than it takes to keep what a sender of this library can have under way: see wideInFlight
	// and sendBufferMost.
	HeldMessages, HeldBytes int
	// MessageFragments bounds the fragments of one message sent; Send refuses more
	// with ErrMessageTooLarge. Bedrock servers lose longer messages after
	// acknowledging them. Default 2048.
	MessageFragments int
	// SplitsInFlight bounds the split messages that are partly sent and not wholly
	// acknowledged: some peers have room for so many unfinished ones, and lose what is in
	// parts beyond it after acknowledging it. The next split message waits. Default 256.
	SplitsInFlight int
	// ReliableInFlight bounds the reliable indexes from the lowest unacknowledged one to the
	// next. Default: what the type reach says, which learns. Negative: as many as a receiver
	// of this package has room for.
	ReliableInFlight int
	// Departures bounds the datagrams of all kinds that leave within any DepartureSpan.
	// What comes on top waits. Defaults: no bound, and 10 ms.
	Departures    int
	DepartureSpan time.Duration
	// ReassemblyAge is how long an unfinished split message may go without a new
	// fragment before it is dropped. Default 30 s.
	ReassemblyAge time.Duration
	// UnreliableAge is how long an unreliable message may wait in the send queue
	// before it is dropped unsent, as in the original engine. Default 1 s.
	UnreliableAge time.Duration

	growing bool // SendBuffer is the default
}

// withDefaults returns a copy of l with every zero field set.
func (l Limits) withDefaults() *Limits {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	l.growing = l.SendBuffer <= 0
	def(&l.SendBuffer, 4<<20)
	def(&l.ReceiveBuffer, 4<<20)
	def(&l.ReassemblyBytes, 12<<20)
	def(&l.ReassemblyGroups, splitsInFlight)
	def(&l.MessageParts, 8192)
	def(&l.HeldMessages, 20480)
	def(&l.HeldBytes, 28<<20)
	def(&l.MessageFragments, 2048)
	def(&l.SplitsInFlight, splitsInFlight)
	if l.ReliableInFlight < 0 {
		l.ReliableInFlight = wideInFlight
	}
	if l.DepartureSpan <= 0 {
		l.DepartureSpan = 10 * time.Millisecond
	}
	if l.ReassemblyAge <= 0 {
		l.ReassemblyAge = 30 * time.Second
	}
	if l.UnreliableAge <= 0 {
		l.UnreliableAge = time.Second
	}
	return &l
}

// Bounds that no user sets.
const (
	// sendBufferMost is how far the default of SendBuffer grows: what the widest flight of
	// messages of 1 KB takes (see wideInFlight), and something to follow it.
	sendBufferMost = 20 << 20
	// splitsInFlight is the default of Limits.SplitsInFlight, and of the room for as many on
	// the other side.
	splitsInFlight = 256
	// datagramsInFlight bounds the record of sent datagrams. Full, nothing but ACKs
	// leaves until the oldest is acknowledged or given up.
	datagramsInFlight = 16384
	// lostHistory is how many numbers beyond twice what is in flight the record reaches
	// back for datagrams that were given up, so that a late ACK still counts.
	lostHistory = 512
	// ackWork and nackWork bound the records of sent datagrams that one ACK or NACK datagram may
	// visit: enough to name everything in flight once, and a loss of thousands, not enough for
	// 200 ranges that each name half of it. Nor may it visit more than twice what is on record, and
	// ackSlack (arbitrary). What is left over is ignored.
	ackWork  = datagramsInFlight
	nackWork = 4096
	ackSlack = 64
	// refusedRanges bounds the ranges of refused datagrams that are kept out of the
	// next NACK. One too many, and the oldest is reported as missing, which it is.
	refusedRanges = 16
	// jumpPause is how long no datagram within the window may have come before one whose
	// number lies far above it is taken: a peer that was cut off goes on so, while on a
	// connection that works only somebody else, who guesses, does. Arbitrary.
	jumpPause = time.Second
	// restPause is how long nothing may have come before what it takes to tell late datagrams
	// apart is given up: longer than the network holds one back. Arbitrary.
	restPause = time.Second
	// promptAcks is how many of a connection's first datagrams are acknowledged at
	// once: the peer is probing the path and has no round trip to go by. Arbitrary.
	promptAcks = 16
)
