package wire

import (
	"encoding/binary"
	"net/netip"

	"github.com/raknet-go/raknet/protocol"
)

// Times in connected messages are milliseconds of any epoch. A receiver echoes
// them and draws no other conclusion.

// handshakeTimes is the size of the two times that end 0x10 and 0x13.
const handshakeTimes = 16

// ConnectedPing asks for a ConnectedPong (0x00).
type ConnectedPing struct{ Time int64 }

// Append appends the message.
func (p *ConnectedPing) Append(dst []byte) []byte {
	return appendInt64(append(dst, byte(protocol.IDConnectedPing)), p.Time)
}

// Parse reads the message.
func (p *ConnectedPing) Parse(b []byte) error {
	if firstByte(b) != protocol.IDConnectedPing {
		return idError(b)
	}
	if len(b) < 9 {
		return ErrTruncated
	}
	*p = ConnectedPing{Time: int64At(b, 1)}
	return nil
}

// ConnectedPong answers a ConnectedPing (0x03).
type ConnectedPong struct {
	PingTime int64 // the ping's time
	Time     int64 // of the answering side; 0 when it was left out
}

// Append appends the message.
func (p *ConnectedPong) Append(dst []byte) []byte {
	dst = appendInt64(append(dst, byte(protocol.IDConnectedPong)), p.PingTime)
	return appendInt64(dst, p.Time)
}

// Parse reads the message. Some peers leave their own time out, which makes it
// 9 bytes instead of 17.
func (p *ConnectedPong) Parse(b []byte) error {
	if firstByte(b) != protocol.IDConnectedPong {
		return idError(b)
	}
	if len(b) < 9 {
		return ErrTruncated
	}
	*p = ConnectedPong{PingTime: int64At(b, 1)}
	if len(b) >= 17 {
		p.Time = int64At(b, 9)
	}
	return nil
}

// ConnectionRequest is the client's first message on a connection (0x09).
type ConnectionRequest struct {
	GUID     int64 // of the client
	Time     int64
	Security bool   // the client asks for libcat security
	Password []byte // nil or empty: none
}

// Append appends the message.
func (p *ConnectionRequest) Append(dst []byte) []byte {
	dst = appendInt64(append(dst, byte(protocol.IDConnectionRequest)), p.GUID)
	dst = appendInt64(dst, p.Time)
	dst = appendBool(dst, p.Security)
	return append(dst, p.Password...)
}

// Parse reads the message. Password borrows from b.
func (p *ConnectionRequest) Parse(b []byte) error {
	if firstByte(b) != protocol.IDConnectionRequest {
		return idError(b)
	}
	if len(b) < 18 {
		return ErrTruncated
	}
	*p = ConnectionRequest{GUID: int64At(b, 1), Time: int64At(b, 9), Security: b[17] != 0, Password: b[18:]}
	return nil
}

// ConnectionRequestAccepted is the server's answer to a ConnectionRequest (0x10).
type ConnectionRequestAccepted struct {
	Client netip.AddrPort // as the server sees the client
	Index  uint16         // of the client in the server's table; nobody uses it
	// Internal is how many internal addresses the message holds: 10 in the
	// original, 20 in Bedrock, anything elsewhere. Append writes unassigned ones, but for Kin.
	Internal    int
	Kin         Kin
	RequestTime int64 // the request's time
	Time        int64 // of the server, echoed by NewIncomingConnection
}

// Append appends the message.
func (p *ConnectionRequestAccepted) Append(dst []byte) []byte {
	dst = AppendAddr(append(dst, byte(protocol.IDConnectionRequestAccepted)), p.Client)
	dst = binary.BigEndian.AppendUint16(dst, p.Index)
	dst = appendInternal(dst, p.Internal, kinServer, p.Kin)
	dst = appendInt64(dst, p.RequestTime)
	return appendInt64(dst, p.Time)
}

// Parse reads the message. Whatever stands between the index and the last 16
// bytes, which are the times, is taken for internal addresses; Internal is 0 when
// it is something else. The index may be a single byte, as some servers write it.
func (p *ConnectionRequestAccepted) Parse(b []byte) error {
	if firstByte(b) != protocol.IDConnectionRequestAccepted {
		return idError(b)
	}
	client, n, err := ParseAddr(b[1:])
	if err != nil {
		return err
	}
	rest := b[1+n:]
	middle := len(rest) - handshakeTimes
	if middle < 1 {
		return ErrTruncated
	}
	*p = ConnectionRequestAccepted{
		Client:      client,
		RequestTime: int64At(rest, middle),
		Time:        int64At(rest, middle+8),
	}
	p.Index, p.Internal = parseIndex(rest[:middle])
	p.Kin = parseKin(rest[:middle], kinServer)
	return nil
}

// parseIndex reads the index and the addresses between the client's address and
// the times of 0x10. Two bytes are the rule for the index; one byte it is when
// only then the rest is made of addresses. b is not empty.
func parseIndex(b []byte) (index uint16, internal int) {
	if len(b) >= 2 {
		if n, ok := countAddrs(b[2:]); ok {
			return binary.BigEndian.Uint16(b), n
		}
	}
	if n, ok := countAddrs(b[1:]); ok {
		return uint16(b[0]), n
	}
	return binary.BigEndian.Uint16(b), 0
}

// NewIncomingConnection is the client's last message of the handshake (0x13).
type NewIncomingConnection struct {
	Server   netip.AddrPort // as the client knows the server; the zero AddrPort when unreadable
	Internal int            // how many internal addresses there are; see ConnectionRequestAccepted
	Kin      Kin
	// HasTimes: the two times were there. Append always writes them.
	HasTimes     bool
	AcceptedTime int64 // the time of the ConnectionRequestAccepted
	Time         int64 // of the client
}

// Append appends the message.
func (p *NewIncomingConnection) Append(dst []byte) []byte {
	dst = AppendAddr(append(dst, byte(protocol.IDNewIncomingConnection)), p.Server)
	dst = appendInternal(dst, p.Internal, kinClient, p.Kin)
	dst = appendInt64(dst, p.AcceptedTime)
	return appendInt64(dst, p.Time)
}

// Parse reads the message and never judges its body: clients send it with any
// number of addresses, without times, with a wrong address or with times that
// mean nothing. It fails only for another identifier. The times are the last 16
// bytes, if that many follow the server's address.
func (p *NewIncomingConnection) Parse(b []byte) error {
	if firstByte(b) != protocol.IDNewIncomingConnection {
		return idError(b)
	}
	*p = NewIncomingConnection{}
	rest := b[1:]
	if server, n, err := ParseAddr(rest); err == nil {
		p.Server = server
		rest = rest[n:]
	}
	middle := len(rest) - handshakeTimes
	if middle < 0 {
		return nil
	}
	p.HasTimes = true
	p.AcceptedTime, p.Time = int64At(rest, middle), int64At(rest, middle+8)
	p.Internal, _ = countAddrs(rest[:middle])
	p.Kin = parseKin(rest[:middle], kinClient)
	return nil
}
