// Package raknet is the RakNet transport protocol: connections over UDP that
// deliver messages reliably or not, in order or not, on up to 32 independent
// channels. Minecraft: Bedrock Edition speaks it, as do many older games.
//
// # Connections
//
// A [Conn] is a [net.Conn] that keeps message boundaries: one Write is one
// message, and one Read returns one. Write sends in mode [ReliableOrdered] on
// channel 0; [Conn.Send] chooses the delivery mode, channel and priority of each
// message, and [Conn.Receive] tells how one arrived.
//
//	conn, err := raknet.Dial("play.example.org:19132")
//	if err != nil {
//		return err
//	}
//	defer conn.Close()
//	_, err = conn.Write([]byte("\xfehello"))
//
// A [Listener] is a [net.Listener] whose Accept returns connections that are
// ready to use:
//
//	l, err := raknet.Listen(":19132")
//	if err != nil {
//		return err
//	}
//	for {
//		conn, err := l.Accept()
//		if err != nil {
//			return err
//		}
//		go serve(conn.(*raknet.Conn))
//	}
//
// [Dialer] and [ListenConfig] carry settings. Their zero values are what the
// functions Dial, Ping and Listen use. A negative number in a setting means "off"
// or "no limit"; a zero means the default.
//
// # Payloads
//
// The first byte of a message is its identifier, and RakNet keeps eight of them for
// itself: 0x00, 0x03, 0x04, 0x09, 0x10, 0x13, 0x15 and 0x18. A message that starts
// with one of those is refused with [ErrReservedID], since the other side would
// take it for a message of the protocol. Bedrock starts every message with 0xfe;
// other programs choose a byte from 0x86 up, as the original engine advises. Empty
// messages do not exist in the protocol: they are refused with [ErrEmptyMessage].
//
// # Errors
//
// Every error that a method of a connection, listener or dialer returns is a
// [*net.OpError] whose Net is "raknet", with one exception: [Conn.Read] returns a
// bare [io.EOF] once the peer has closed and everything that it sent was read, as
// the contract of [io.Reader] wants. errors.Is and errors.As find the reason:
//
//   - [net.ErrClosed] after a close, by whichever side, and [io.EOF] too when the peer closed in an orderly way;
//   - [os.ErrDeadlineExceeded], with Timeout() true, when a deadline passed;
//   - the error and the cause of a context that ended;
//   - [*VersionError], [*RejectedError] when a server refused a dial;
//   - [*DisconnectError], [ErrIdleTimeout], [ErrReceiveOverflow] and the like for why a connection ended.
//
// # Concurrency
//
// All methods of Conn and Listener may be called from several goroutines at once.
// The library starts a fixed number of goroutines per socket and one per
// connection; they are gone when Close of the socket's owner has returned and its
// connections have said goodbye.
package raknet

import (
	"context"
	"time"

	"github.com/raknet-go/raknet/protocol"
)

// Reliability is the delivery mode of a message. Its zero value is [Unreliable].
type Reliability = protocol.Reliability

// The delivery modes. The three with a receipt travel like their namesakes
// without one; the sender learns from a [Receipt] that the peer has the message.
const (
	// Unreliable messages may be lost and may overtake each other. None arrives twice.
	Unreliable = protocol.Unreliable
	// UnreliableSequenced messages may be lost; one that arrives after a newer one of
	// its channel is dropped.
	UnreliableSequenced = protocol.UnreliableSequenced
	// Reliable messages arrive exactly once, in any order.
	Reliable = protocol.Reliable
	// ReliableOrdered messages arrive exactly once and in the order sent on their
	// channel.
	ReliableOrdered = protocol.ReliableOrdered
	// ReliableSequenced messages are resent until they arrive; one that arrives after a
	// newer one of its channel is dropped, so that the newest always gets through.
	// A widely used Java server cannot parse this mode or UnreliableSequenced.
	ReliableSequenced = protocol.ReliableSequenced
	// UnreliableWithReceipt is Unreliable, and the receipt says whether it was
	// acknowledged or lost.
	UnreliableWithReceipt = protocol.UnreliableWithReceipt
	// ReliableWithReceipt is Reliable, and the receipt says when it was acknowledged.
	ReliableWithReceipt = protocol.ReliableWithReceipt
	// ReliableOrderedWithReceipt is ReliableOrdered, and the receipt says when it was
	// acknowledged.
	ReliableOrderedWithReceipt = protocol.ReliableOrderedWithReceipt
)

// Priority says which of the messages that wait for the congestion window leaves
// first. It never changes the order within a channel. Its zero value is [PriorityHigh].
type Priority = protocol.Priority

// The priorities, from the largest share of a busy connection to the smallest.
// Shares are weighted, so that low priority messages never starve.
const (
	PriorityImmediate = protocol.PriorityImmediate
	PriorityHigh      = protocol.PriorityHigh
	PriorityMedium    = protocol.PriorityMedium
	PriorityLow       = protocol.PriorityLow
)

// OrderingChannels is the number of channels a connection has: 0 to 31.
const OrderingChannels = protocol.OrderingChannels

const (
	dialTimeout = 10 * time.Second // of Dial: what a handshake over a bad link needs
	pingTimeout = 5 * time.Second  // of Ping: a server list waits no longer
)

// Dial connects to a server, such as "play.example.org:19132", and gives up after
// 10 seconds. The connection returned is ready to use. It is short for the method
// of a zero [Dialer].
func Dial(address string) (*Conn, error) { return Dialer{}.Dial(address) }

// DialTimeout is [Dial] with another time limit. A limit of zero or less has passed
// already.
func DialTimeout(address string, timeout time.Duration) (*Conn, error) {
	return Dialer{}.DialTimeout(address, timeout)
}

// DialContext is [Dial] that gives up when the context ends. The context has no
// influence on the connection once it is returned. Without a deadline in the
// context it gives up after [Timeouts].Handshake.
func DialContext(ctx context.Context, address string) (*Conn, error) {
	return Dialer{}.DialContext(ctx, address)
}

// Ping asks a server for the data that it shows in server lists, for up to 5
// seconds. It is short for the method of a zero [Dialer].
func Ping(address string) ([]byte, error) { return Dialer{}.Ping(address) }

// PingTimeout is [Ping] with another time limit.
func PingTimeout(address string, timeout time.Duration) ([]byte, error) {
	return Dialer{}.PingTimeout(address, timeout)
}

// PingContext is [Ping] that repeats its question until an answer comes or the
// context ends.
func PingContext(ctx context.Context, address string) ([]byte, error) {
	return Dialer{}.PingContext(ctx, address)
}

// Listen waits for connections on a UDP address such as ":19132", with the
// settings of a zero [ListenConfig]. Port 0 picks a free one; see [Listener.Addr].
func Listen(address string) (*Listener, error) { return ListenConfig{}.Listen(address) }
