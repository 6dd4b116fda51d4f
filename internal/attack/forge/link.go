package forge

import (
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Link is what a hostile client knows of its connection: what it will number its next datagram,
// reliable frame and ordered message, and how far the server has come. Numbers are taken modulo 2^24.
type Link struct {
	GUID                    int64
	MTU                     int
	Number, Reliable, Order uint32
	Heard                   uint32 // the number after the highest that the server's datagrams had
}

// mtu is what hostile peers ask for, and mostBytes how long their datagrams are at most.
const (
	mtu       = 1400
	mostBytes = mtu - wire.UDPOverhead
)

// NewLink returns what a client knows that is not connected yet.
func NewLink(guid int64) *Link { return &Link{GUID: guid, MTU: mtu} }

// room is the most bytes of a datagram's frames.
func (l *Link) room() int { return l.MTU - wire.UDPOverhead - wire.DatagramHeaderSize }

// Request1 is the first packet of the handshake.
func (l *Link) Request1(dst []byte) []byte {
	p := wire.OpenRequest1{Version: version, MTU: l.MTU}
	return p.Append(dst)
}

// Request2 is the second.
func (l *Link) Request2(dst []byte, r *wire.OpenReply1) []byte {
	p := wire.OpenRequest2{HasCookie: r.Security, Cookie: r.Cookie, Server: server, MTU: l.MTU, GUID: l.GUID}
	return p.Append(dst)
}

// Hello is the datagram with the connection request (0x09).
func (l *Link) Hello(dst []byte) []byte {
	p := wire.ConnectionRequest{GUID: l.GUID, Time: 1}
	return l.Message(dst, p.Append(nil))
}

// Incoming is the datagram that ends the handshake (0x13).
func (l *Link) Incoming(dst []byte) []byte {
	p := wire.NewIncomingConnection{Server: server, Internal: 20, AcceptedTime: 1, Time: 2}
	return l.Message(dst, p.Append(nil))
}

// Message is the next datagram, with one ordered message on channel 0.
func (l *Link) Message(dst, payload []byte) []byte {
	f := wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: l.reliable(), Order: l.order()}
	return append(wire.AppendFrameHeader(l.header(dst), &f, len(payload)), payload...)
}

// Ping is the next datagram, with a connected ping: what a peer that lives sends.
func (l *Link) Ping(dst []byte) []byte {
	p := wire.ConnectedPing{Time: int64(l.Number)}
	return l.unreliable(l.header(dst), p.Append(nil))
}

// Goodbye is the next datagram, with a disconnect that waits for nothing.
func (l *Link) Goodbye(dst []byte) []byte {
	return l.unreliable(l.header(dst), []byte{byte(protocol.IDDisconnect)})
}

// header begins the next datagram.
func (l *Link) header(dst []byte) []byte {
	n := l.Number
	l.Number = (n + 1) & wire.Mask24
	return wire.AppendDatagramHeader(dst, wire.FrameSetID, n)
}

func (l *Link) unreliable(dst, payload []byte) []byte {
	return append(wire.AppendFrameHeader(dst, &wire.Frame{}, len(payload)), payload...)
}

func (l *Link) reliable() uint32 {
	n := l.Reliable
	l.Reliable = (n + 1) & wire.Mask24
	return n
}

func (l *Link) order() uint32 {
	n := l.Order
	l.Order = (n + 1) & wire.Mask24
	return n
}

// Hear notes a datagram of the server and returns its number, and whether it has one.
func (l *Link) Hear(d []byte) (number uint32, numbered bool) {
	number, _, err := wire.ParseDatagramHeader(d)
	if err != nil {
		return 0, false
	}
	if (number+1-l.Heard)&wire.Mask24 < 1<<23 {
		l.Heard = (number + 1) & wire.Mask24
	}
	return number, true
}

// Says reports whether a datagram holds a message that begins with id.
func Says(d []byte, id protocol.ID) bool {
	_, frames, err := wire.ParseDatagramHeader(d)
	if err != nil {
		return false
	}
	it := wire.Frames(frames)
	var f wire.Frame
	for it.Next(&f) {
		if !f.Split && protocol.ID(f.Payload[0]) == id {
			return true
		}
	}
	return false
}

// Reached reports whether a datagram is an ACK of the one with this number.
func Reached(d []byte, number uint32) bool {
	if wire.Classify(d) != wire.KindACK {
		return false
	}
	it, err := wire.ParseRanges(d)
	if err != nil {
		return false
	}
	for r, more := it.Next(); more; r, more = it.Next() {
		if (number-r.First)&wire.Mask24 <= (r.Last-r.First)&wire.Mask24 {
			return true
		}
	}
	return false
}

// Ack appends an ACK of the given numbers, as many as fit.
func Ack(dst []byte, numbers []uint32) []byte {
	a := wire.StartRanges(dst, wire.ACKID, mostBytes)
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[n-1]+1 {
			n++
		}
		if !a.Add(numbers[0], numbers[n-1]) {
			break
		}
		numbers = numbers[n:]
	}
	return a.Finish()
}
