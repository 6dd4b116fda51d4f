package raknet

import (
	"fmt"
	"math"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/protocol"
)

// PeerLimits bound what this side sends, so that it stays within what its peer takes. Many
// implementations acknowledge and then drop what is beyond a bound of theirs, after which a
// channel stalls for ever, or hear nothing more from an address that sends too fast. Nothing on the
// wire tells of these bounds: whoever configures a dialer or listener knows whom it talks to.
//
// The zero value is what every known server of Bedrock takes, save PocketMine. A number of zero
// is its default. What is over a bound waits, except a message with too many fragments, which
// is refused with [ErrMessageTooLarge].
type PeerLimits struct {
	// Name is what errors call these limits.
	Name string
	// Fragments bounds the fragments of one message, of MTU-60 bytes each. Default 2048.
	// Negative: no bound, so that the peer has to have one large enough (at a peer of this library
	// [Limits].ReceiveFragments and ReassemblyBytes). Limits.MaxFragments, if set, replaces it.
	Fragments int
	// ReliableInFlight bounds how far reliable frames run ahead of the oldest that is not
	// acknowledged. Default 4096, and 10240 for a peer that is seen to be of this library.
	// Negative: 10240.
	ReliableInFlight int
	// SplitsInFlight bounds the messages of several fragments that are partly sent and not
	// wholly acknowledged. Default and negative: 256.
	SplitsInFlight int
	// Datagrams bounds how many datagrams of any kind leave within any Interval. Every
	// connection counts for itself, though peers count what comes from an IP address.
	// Default and negative: any number. Default Interval: 10 ms.
	Datagrams int
	Interval  time.Duration
}

// Limits for known peers.
var (
	// PeerPocketMine keeps to what PocketMine-MP, a server on RakLib, takes by default: messages of up to 127
	// fragments, four of them at once, 2048 reliable frames ahead. It blocks an
	// address for five minutes that sends 200 datagrams within 10 ms, so that 150 are the most here.
	PeerPocketMine = PeerLimits{Name: "PeerPocketMine", Fragments: 127, ReliableInFlight: 2048, SplitsInFlight: 4, Datagrams: 150}
	// PeerCloudburst keeps to what servers on Cloudburst's library, such as Geyser, take by
	// default: they block an address for ten seconds that sends 120 datagrams within 10 ms.
	PeerCloudburst = PeerLimits{Name: "PeerCloudburst", Datagrams: 90}
	// PeerUnlimited is for two peers of this library, the receiver's [Limits] being the only bounds.
	PeerUnlimited = PeerLimits{Name: "PeerUnlimited", Fragments: -1, ReliableInFlight: -1}
)

// mostFragments bounds the fragments of a message where the user wants no bound: its length
// has to fit an int of 32 bits.
const mostFragments = math.MaxInt32 / protocol.MaxMTU

// defaultPeer is what errors call the zero value.
const defaultPeer = "PeerLimits"

// bound writes p into the template of an engine, which has the user's Limits in it.
func (p PeerLimits) bound(c arq.Config) arq.Config {
	l := &c.Limits
	if l.MessageFragments == 0 {
		l.MessageFragments = p.Fragments
		if p.Fragments < 0 {
			l.MessageFragments = mostFragments
		}
	}
	l.MessageFragments = min(l.MessageFragments, mostFragments)
	l.ReliableInFlight = p.ReliableInFlight
	l.SplitsInFlight = max(p.SplitsInFlight, 0)
	l.Departures = max(p.Datagrams, 0)
	l.DepartureSpan = max(p.Interval, 0)
	return c
}

// fragmentLimit is how errors call the bound on a message's fragments.
func (p PeerLimits) fragmentLimit(l Limits) string {
	switch {
	case l.MaxFragments > 0:
		return "Limits.MaxFragments"
	case p.Name != "":
		return p.Name
	}
	return defaultPeer
}

// MessageSizeError says by how much a message is too large to send. errors.Is finds
// [ErrMessageTooLarge] in it.
type MessageSizeError struct {
	// Size and MaxSize are the bytes of the message, and the most on this connection.
	Size, MaxSize int
	// Fragments and MaxFragments are the same in fragments.
	Fragments, MaxFragments int
	// Limit names the bound: that of the [PeerLimits], or "Limits.MaxFragments".
	Limit string
}

// Error gives all the numbers.
func (e *MessageSizeError) Error() string {
	return fmt.Sprintf("message of %d bytes takes %d fragments, and %s allows %d (%d bytes): %v",
		e.Size, e.Fragments, e.Limit, e.MaxFragments, e.MaxSize, ErrMessageTooLarge)
}

// Unwrap returns [ErrMessageTooLarge].
func (e *MessageSizeError) Unwrap() error { return ErrMessageTooLarge }

// sized gives an error of sending a message of size bytes the numbers behind it, if its size
// is what was wrong.
func (c *Conn) sized(err error, size int) error {
	if err != session.ErrMessageTooLarge {
		return err
	}
	most, name := c.ec.FragmentLimit()
	per := arq.MaxFrame(c.ec.MTU())
	return &MessageSizeError{Size: size, MaxSize: most * per, Fragments: (size + per - 1) / per, MaxFragments: most, Limit: name}
}
