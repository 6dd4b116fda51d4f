package raknet

import (
	"math"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/session"
)

// Limits bound the memory of one connection. A zero field means its default.
// A negative SendBuffer or ReceiveBuffer means no limit; in the other fields,
// which bound what a hostile peer can make this side hold, it means the default.
type Limits struct {
	// SendBuffer bounds the bytes that are queued or not yet acknowledged. While it
	// is full, Write and reliable Sends wait. A message larger than it leaves when
	// nothing else is waiting. Where the round trip is below 2 ms they pause
	// from 256 KiB on, for as long as the peer acknowledges and some milliseconds, since that
	// makes a transfer faster. Default 4 MiB, and where the congestion window is larger than 2 MiB,
	// twice that, up to 20 MiB: no more than acknowledgements have shown the path to carry.
	SendBuffer int
	// ReceiveBuffer bounds the memory of messages that the application has not read: of the buffers that they came in,
	// 2 KiB for a lone datagram. Up to 256 KiB of buffers of which messages are only a small part come on top.
	// While it is full, arriving reliable messages are left unacknowledged, so that the
	// peer slows down and sends them again; unreliable ones are dropped. If it stays
	// full for too long the connection ends with [ErrReceiveOverflow]. Default 4 MiB.
	ReceiveBuffer int
	// MaxFragments bounds how many datagrams one message may be cut into; Send
	// refuses larger ones with [ErrMessageTooLarge]. Default: what PeerLimits say, by default
	// 2048, which is 2.8 MiB at the largest MTU: Bedrock servers acknowledge and then lose
	// larger ones.
	MaxFragments int
	// ReceiveFragments bounds the fragments of one message that the peer may send.
	// Default 8192.
	ReceiveFragments int
	// ReassemblyBytes bounds the memory of messages of which fragments are still
	// missing, of each as if it were complete: 2 KiB for a full fragment. More is left unacknowledged. Default 12 MiB.
	ReassemblyBytes int
	// HeldMessages and HeldBytes bound the messages of all channels that wait for an
	// earlier ordered one: how many, and their memory, which is up to twice their length and 144 bytes for each.
	// More is left unacknowledged. Below what the peer may have in
	// flight, 18432 messages and 20 MiB for one of this library, a lossy link may stall until the
	// connection ends. Defaults 20480 and 28 MiB.
	HeldMessages, HeldBytes int
	// UnreliableAge is how long an unreliable message may wait for its turn to be
	// sent before it is dropped as outdated. Default 1 second.
	UnreliableAge time.Duration
}

// arq returns the engine's form of l.
func (l Limits) arq() arq.Limits {
	unlimited := func(n int) int {
		if n < 0 {
			return math.MaxInt32
		}
		return n
	}
	return arq.Limits{
		SendBuffer:       unlimited(l.SendBuffer),
		ReceiveBuffer:    unlimited(l.ReceiveBuffer),
		MessageFragments: max(l.MaxFragments, 0),
		MessageParts:     max(l.ReceiveFragments, 0),
		ReassemblyBytes:  max(l.ReassemblyBytes, 0),
		HeldMessages:     max(l.HeldMessages, 0),
		HeldBytes:        max(l.HeldBytes, 0),
		UnreliableAge:    max(l.UnreliableAge, 0),
	}
}

// Timeouts are the spans of time after which a connection acts. A zero field
// means its default.
type Timeouts struct {
	// Handshake is how long the whole handshake may take: of a Dial whose context has
	// no deadline, and of a client at a listener. Default 10 seconds. Negative: the
	// default.
	Handshake time.Duration
	// Idle is how long the peer may be silent before the connection ends with
	// [ErrIdleTimeout]. Pings keep a healthy connection from ever being silent. Default
	// 10 seconds. Negative: never.
	Idle time.Duration
	// Ping is how long nothing that asks for an answer may leave before a ping does.
	// Pings measure the round trip and keep address translators open. At most a
	// quarter of Idle. Default 2.5 seconds, and twice that to another peer of this package while
	// the path loses nothing. Negative: never, so that only traffic or Idle
	// shows that the peer is gone.
	Ping time.Duration
	// Unacknowledged is how long one reliable message may wait for its acknowledgement from
	// a peer that is heard all the time, before the connection ends with
	// [ErrUnacknowledged]. A peer that is not heard is Idle's. Default 60 seconds. Negative: for ever.
	Unacknowledged time.Duration
	// Close is how long Close goes on delivering, in the background, what was written
	// before. What is not acknowledged by then is lost. Default 5 seconds. Negative:
	// not at all.
	Close time.Duration
	// ReceiveStall is how long the receive buffer may stay full before the connection
	// ends with [ErrReceiveOverflow]. Default 10 seconds. Negative: for ever.
	ReceiveStall time.Duration
}

// session returns the connection's form of t.
func (t Timeouts) session() session.Timing {
	return session.Timing{
		Handshake:    t.Handshake,
		Idle:         t.Idle,
		Ping:         t.Ping,
		Unacked:      t.Unacknowledged,
		Drain:        t.Close,
		ReceiveStall: t.ReceiveStall,
	}
}
