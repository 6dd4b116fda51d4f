package forge

import (
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// What a client's message asks of the attacked server's application. Others are read and dropped.
const (
	SayEcho = "\xfeecho" // send this message back
	SaySink = "\xfesink" // never read again
	SayPour = "\xfepour" // send as much as you can
)

// Bound is what an attack by a peer fills, so that its memory can be judged.
type Bound uint8

// What is filled.
const (
	Nothing    Bound = iota // nothing that is large
	Reassembly              // Limits.ReassemblyBytes
	Held                    // Limits.HeldBytes
	Unread                  // Limits.ReceiveBuffer
	Unacked                 // Limits.SendBuffer
)

// Peer is an attack by somebody who has a connection.
type Peer struct {
	Name, What string
	Fills      Bound
	// Half: the connection stays in its handshake.
	Half bool
	// Say is the first message, a request to the application.
	Say string
	// Mute: the server's datagrams are never acknowledged. LateMS: they are so much later.
	Mute   bool
	LateMS int
	// Make appends the i-th datagram to dst.
	Make func(l *Link, i uint64, dst []byte) []byte
}

// Peers are all attacks of this kind but the vectors.
func Peers() []Peer {
	return []Peer{
		{Name: "echoes", What: "honest messages of 100 bytes as fast as they leave, each to be sent back", Make: Echo},
		{Name: "broken frames", What: "frame sets of random bytes", Make: BrokenFrames},
		{Name: "repeated 0x09", What: "connection requests, on a connection that is up", Make: Again},
		{Name: "repeated 0x09, half-open", What: "the same, on one in its handshake", Half: true, Make: Again},
		{Name: "connected pings", What: "full datagrams of connected pings", Make: Pings},
		{Name: "split bombs", What: "first fragments of messages of 8192 fragments, as many as fit", Make: SplitBomb, Fills: Reassembly},
		{Name: "unfinished messages", What: "full fragments of 200 messages of which one is always missing", Make: Unfinished, Fills: Reassembly},
		{Name: "loose unfinished messages", What: "the same in fragments of 513 bytes, each in a buffer for 2048", Make: LooseUnfinished, Fills: Reassembly},
		{Name: "held messages", What: "full ordered messages behind one that never comes", Make: HeldBack, Fills: Held},
		{Name: "loose held messages", What: "the same of 513 bytes, each in a buffer for 2048", Make: LooseHeld, Fills: Held},
		{Name: "small held messages", What: "ordered messages of one byte behind one that never comes, on all channels", Make: SmallHeld, Fills: Held},
		{Name: "sequence jumps", What: "datagram numbers 4000 apart", Make: Jump},
		{Name: "random numbers", What: "random datagram, reliable and ordering numbers", Make: RandomNumbers},
		{Name: "ACK bombs", What: "ACKs of 200 ranges, each of which names everything", Say: SayPour, Make: AckBomb},
		{Name: "NACK bombs", What: "NACKs of 200 ranges, each of which names everything", Say: SayPour, Make: NackBomb},
		{Name: "NACK storm", What: "NACKs for everything that came, while it is acknowledged 50 ms late", Say: SayPour, LateMS: 50, Make: NackStorm},
	}
}

// NeverAcks asks for much, lives, and acknowledges nothing.
func NeverAcks() Peer {
	return Peer{
		Name: "never acknowledges", What: "asks for as much as the server can send, pings, and acknowledges nothing",
		Say: SayPour, Mute: true, Fills: Unacked, Make: func(l *Link, _ uint64, dst []byte) []byte { return l.Ping(dst) },
	}
}

// NeverRead sends to an application that does not read. Its messages are not ordered: an attacker
// sends nothing again, and behind an ordered one that is lost all others would be held back.
func NeverRead() Peer {
	return Peer{
		Name: "application never reads", What: "full reliable messages to an application that reads none of them",
		Say: SaySink, Fills: Unread, Make: FullUnordered,
	}
}

// Echo is a message that the application sends back.
func Echo(l *Link, i uint64, dst []byte) []byte { return l.Message(dst, echo(i, 100)) }

func echo(i uint64, n int) []byte { return noise([]byte(SayEcho), i, n-len(SayEcho)) }

// Full is a message that fills a datagram.
func Full(l *Link, i uint64, dst []byte) []byte {
	size := l.room() - wire.FrameHeaderSize(protocol.ReliableOrdered, false)
	return l.Message(dst, noise([]byte{0xfe, 'x'}, i, size-2))
}

// Loose is a message in a datagram that it does not fill.
func Loose(l *Link, i uint64, dst []byte) []byte {
	return l.Message(dst, noise([]byte{0xfe, 'x'}, i, loose-2))
}

// FullUnordered is a reliable message that fills a datagram.
func FullUnordered(l *Link, i uint64, dst []byte) []byte {
	f := wire.Frame{Reliability: protocol.Reliable, Reliable: l.reliable()}
	size := l.room() - wire.FrameHeaderSize(protocol.Reliable, false)
	return noise(append(wire.AppendFrameHeader(l.header(dst), &f, size), 0xfe, 'x'), i, size-2)
}

// BrokenFrames is a frame set of random bytes.
func BrokenFrames(l *Link, i uint64, dst []byte) []byte {
	return noise(l.header(dst), i, 1+int(scatter(i)%200))
}

// Again is another connection request.
func Again(l *Link, _ uint64, dst []byte) []byte { return l.Hello(dst) }

// Pings is a datagram full of connected pings.
func Pings(l *Link, i uint64, dst []byte) []byte {
	p := wire.ConnectedPing{Time: int64(i)}
	payload := p.Append(nil)
	start := len(dst)
	dst = l.header(dst)
	each := wire.FrameHeaderSize(protocol.Unreliable, false) + len(payload)
	for len(dst)-start+each <= wire.DatagramHeaderSize+l.room() {
		dst = l.unreliable(dst, payload)
	}
	return dst
}

// manyParts is what a receiver takes for the length of a message at most.
const manyParts = 8192

// bombsThatFit is how many messages of manyParts a receiver sets memory aside for.
const bombsThatFit = 4

// SplitBomb is a datagram of fragments, each of which begins another message of 8192. The first ones have one each, for
// which there is room.
func SplitBomb(l *Link, i uint64, dst []byte) []byte {
	start := len(dst)
	dst = l.header(dst)
	each := wire.FrameHeaderSize(protocol.Reliable, true) + 1
	for k := uint64(0); len(dst)-start+each <= wire.DatagramHeaderSize+l.room(); k++ {
		f := wire.Frame{Reliability: protocol.Reliable, Reliable: l.reliable(), Split: true, SplitCount: manyParts, SplitID: uint16(i*64 + k)}
		dst = append(wire.AppendFrameHeader(dst, &f, 1), byte(k))
		if i < bombsThatFit {
			break
		}
	}
	return dst
}

// unfinished is how many messages Unfinished has under way, and unfinishedParts of how many fragments each is: all
// of them together have room, so that no fragment is refused.
const (
	unfinished      = 200
	unfinishedParts = 28
)

// loose is how long a message is that lies in the largest buffer for its size, if nothing moves it.
const loose = 513

// Unfinished is a full fragment of one of 200 messages. None of them gets its first.
func Unfinished(l *Link, i uint64, dst []byte) []byte {
	return l.missing(dst, i, l.room()-wire.FrameHeaderSize(protocol.Reliable, true))
}

// LooseUnfinished is a small one of them.
func LooseUnfinished(l *Link, i uint64, dst []byte) []byte { return l.missing(dst, i, loose) }

func (l *Link) missing(dst []byte, i uint64, size int) []byte {
	f := wire.Frame{
		Reliability: protocol.Reliable, Reliable: l.reliable(), Split: true,
		SplitCount: unfinishedParts, SplitID: uint16(i % unfinished), SplitIndex: uint32(1 + i/unfinished%(unfinishedParts-1)),
	}
	return noise(wire.AppendFrameHeader(l.header(dst), &f, size), i, size)
}

// HeldBack is a full ordered message behind one that never comes.
func HeldBack(l *Link, i uint64, dst []byte) []byte {
	if i == 0 {
		l.order()
	}
	return Full(l, i, dst)
}

// LooseHeld is a small one behind one that never comes.
func LooseHeld(l *Link, i uint64, dst []byte) []byte {
	if i == 0 {
		l.order()
	}
	return Loose(l, i, dst)
}

// SmallHeld is a datagram of ordered messages of one byte, on all channels, behind ones that never come.
func SmallHeld(l *Link, i uint64, dst []byte) []byte {
	start := len(dst)
	dst = l.header(dst)
	each := wire.FrameHeaderSize(protocol.ReliableOrdered, false) + 1
	for k := uint64(0); len(dst)-start+each <= wire.DatagramHeaderSize+l.room(); k++ {
		n := i*100 + k
		f := wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: l.reliable(), Channel: uint8(n % 32), Order: uint32(100 + n/32)}
		dst = append(wire.AppendFrameHeader(dst, &f, 1), 0xfe)
	}
	return dst
}

// Jump is a message whose datagram lies 4000 above the one before.
func Jump(l *Link, i uint64, dst []byte) []byte {
	l.Number = (l.Number + 3999) & wire.Mask24
	return l.unreliable(l.header(dst), []byte{0xfe, byte(i)})
}

// RandomNumbers is a message with random numbers of every kind.
func RandomNumbers(l *Link, i uint64, dst []byte) []byte {
	n := scatter(i)
	far := Link{Number: uint32(n) & wire.Mask24, Reliable: uint32(n>>20) & wire.Mask24, Order: uint32(n>>40) & wire.Mask24}
	return far.Message(dst, []byte{0xfe, byte(i)})
}

// AckBomb acknowledges everything that came 200 times over.
func AckBomb(l *Link, _ uint64, dst []byte) []byte {
	return everything(dst, wire.ACKID, l.Heard-1, 200)
}

// NackBomb asks for everything that came 200 times over.
func NackBomb(l *Link, _ uint64, dst []byte) []byte {
	return everything(dst, wire.NACKID, l.Heard-1, 200)
}

// NackStorm asks for the last thousand datagrams.
func NackStorm(l *Link, _ uint64, dst []byte) []byte {
	a := wire.StartRanges(dst, wire.NACKID, mostBytes)
	a.Add(l.Heard-1000, l.Heard-1)
	return a.Finish()
}
