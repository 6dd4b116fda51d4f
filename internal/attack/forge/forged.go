package forge

import (
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Forged is an attack by a stranger who knows the address of a client that is connected, and
// writes it on datagrams. What the connection's numbers are, it can only guess.
type Forged struct {
	Name, What string
	Make       func(i uint64, dst []byte) []byte
}

// Forgeries are all attacks of this kind.
func Forgeries() []Forged {
	return []Forged{
		{"forged disconnects", "0x15, bare and in datagrams of every mode with guessed numbers", Disconnect},
		{"forged requests", "requests 1, requests 2 with guessed cookies, refusals, and pings", Reset},
		{"forged garbage", "broken frame sets, ACKs and NACKs of everything, jumps of every number", Scramble},
	}
}

// Disconnect is a 0x15 with guessed numbers.
func Disconnect(i uint64, dst []byte) []byte {
	n := scatter(i)
	f := wire.Frame{Reliable: uint32(n>>20) & wire.Mask24, Order: uint32(n>>40) & wire.Mask24}
	switch i % 5 {
	case 0:
		return append(dst, byte(protocol.IDDisconnect))
	case 1, 2:
		f.Reliability = protocol.Unreliable
	case 3:
		f.Reliability = protocol.Reliable
	case 4:
		f.Reliability = protocol.ReliableOrdered
	}
	dst = wire.AppendDatagramHeader(dst, wire.FrameSetID, uint32(n)&wire.Mask24)
	return append(wire.AppendFrameHeader(dst, &f, 1), byte(protocol.IDDisconnect))
}

// refusals are what a server tells those whom it does not want.
var refusals = []protocol.ID{
	protocol.IDAlreadyConnected, protocol.IDNoFreeConnections, protocol.IDBanned, protocol.IDRecentlyConnected,
	protocol.IDConnectionAttemptFailed, protocol.IDConnectionLost,
}

// Reset is one of the offline packets that could begin or end a connection.
func Reset(i uint64, dst []byte) []byte {
	switch i % 4 {
	case 0:
		return Request1(i, dst)
	case 1:
		return BadCookie(i, dst)
	case 2:
		p := wire.Refusal{ID: byte(refusals[i/4%uint64(len(refusals))]), GUID: int64(i)}
		return p.Append(dst)
	}
	return Ping(i, dst)
}

// Scramble is a datagram that a connection must not take for its peer's.
func Scramble(i uint64, dst []byte) []byte {
	r := scatter(i)
	n := uint32(r) & wire.Mask24
	l := Link{Number: n, Reliable: uint32(r>>20) & wire.Mask24, Order: uint32(r>>40) & wire.Mask24}
	switch i % 4 {
	case 0:
		return BrokenFrames(&l, i, dst)
	case 1:
		return everything(dst, wire.ACKID, n, 1)
	case 2:
		return everything(dst, wire.NACKID, n, 1)
	}
	return l.Message(dst, []byte{0xfe, 'x'})
}
