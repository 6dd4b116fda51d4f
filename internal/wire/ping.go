package wire

import (
	"encoding/binary"

	"github.com/raknet-go/raknet/protocol"
)

// UnconnectedPing asks a server for its pong data (0x01, 0x02).
type UnconnectedPing struct {
	OnlyIfOpen bool  // 0x02: the server answers only while it has room
	Time       int64 // the sender's clock in milliseconds, echoed by the pong
	HasGUID    bool  // false: the sender left its GUID out, as some server list pingers do
	GUID       int64
}

// Append appends the packet. Without HasGUID it is eight bytes shorter, and
// servers that guard against amplification may not answer it.
func (p *UnconnectedPing) Append(dst []byte) []byte {
	id := protocol.IDUnconnectedPing
	if p.OnlyIfOpen {
		id = protocol.IDUnconnectedPingOpen
	}
	dst = append(dst, byte(id))
	dst = appendInt64(dst, p.Time)
	dst = AppendMagic(dst)
	if p.HasGUID {
		dst = appendInt64(dst, p.GUID)
	}
	return dst
}

// Parse reads the packet, whose GUID may be missing.
func (p *UnconnectedPing) Parse(b []byte) error {
	id := firstByte(b)
	if id != protocol.IDUnconnectedPing && id != protocol.IDUnconnectedPingOpen {
		return idError(b)
	}
	if len(b) < 9+MagicSize {
		return ErrTruncated
	}
	if !HasMagic(b[9:]) {
		return ErrMagic
	}
	*p = UnconnectedPing{OnlyIfOpen: id == protocol.IDUnconnectedPingOpen, Time: int64At(b, 1)}
	if rest := b[9+MagicSize:]; len(rest) >= 8 {
		p.HasGUID, p.GUID = true, int64At(rest, 0)
	}
	return nil
}

// UnconnectedPong answers an UnconnectedPing (0x1c).
type UnconnectedPong struct {
	Time int64 // the ping's time, though some servers send their own clock
	GUID int64 // of the server
	// Data is what the server says about itself: in Bedrock, fields joined by
	// semicolons. Append writes at most 65535 bytes of it, behind their length.
	Data []byte
}

// Append appends the packet in Bedrock's form, with the length before the data.
func (p *UnconnectedPong) Append(dst []byte) []byte {
	data := p.Data[:min(len(p.Data), 1<<16-1)]
	dst = append(dst, byte(protocol.IDUnconnectedPong))
	dst = appendInt64(dst, p.Time)
	dst = appendInt64(dst, p.GUID)
	dst = AppendMagic(dst)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(data)))
	return append(dst, data...)
}

// Parse reads the packet. Data borrows from b. It comes with a length before it
// (Bedrock), without one (the original engine), or not at all: a leading length
// that fits what follows is taken as one.
func (p *UnconnectedPong) Parse(b []byte) error {
	if firstByte(b) != protocol.IDUnconnectedPong {
		return idError(b)
	}
	if len(b) < 17+MagicSize {
		return ErrTruncated
	}
	if !HasMagic(b[17:]) {
		return ErrMagic
	}
	data := b[17+MagicSize:]
	if len(data) >= 2 {
		if n := int(binary.BigEndian.Uint16(data)); n <= len(data)-2 {
			data = data[2 : 2+n]
		}
	}
	*p = UnconnectedPong{Time: int64At(b, 1), GUID: int64At(b, 9), Data: data}
	return nil
}

// OutOfBand carries application data outside any connection (0x0d). Unlike in
// every other offline packet, the GUID comes before the marker.
type OutOfBand struct {
	GUID int64  // of the sender
	Data []byte // the original engine takes 1 to 399 bytes; a leading 0x1d advertises a system
}

// Append appends the packet.
func (p *OutOfBand) Append(dst []byte) []byte {
	dst = append(dst, byte(protocol.IDOutOfBand))
	dst = appendInt64(dst, p.GUID)
	dst = AppendMagic(dst)
	return append(dst, p.Data...)
}

// Parse reads the packet. Data borrows from b and may be empty.
func (p *OutOfBand) Parse(b []byte) error {
	if firstByte(b) != protocol.IDOutOfBand {
		return idError(b)
	}
	if len(b) < 9+MagicSize {
		return ErrTruncated
	}
	if !HasMagic(b[9:]) {
		return ErrMagic
	}
	*p = OutOfBand{GUID: int64At(b, 1), Data: b[9+MagicSize:]}
	return nil
}
