package wire

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/raknet-go/raknet/protocol"
)

// UDPOverhead is what every MTU on this wire counts beyond the UDP payload: the
// headers of IPv4 and UDP in bytes, over IPv6 as well.
const UDPOverhead = protocol.UDPOverhead

// request1Size is the size of request 1 without its padding.
const request1Size = 1 + MagicSize + 1

// OpenRequest1 opens the offline handshake (0x05). It is padded to the size that
// the client would like to send, which probes the path for it.
type OpenRequest1 struct {
	Version byte // the client's protocol version
	MTU     int  // payload length plus UDPOverhead
}

// Append appends the packet, padded with zeros to MTU - UDPOverhead bytes. An MTU
// too small for the packet itself adds no padding.
func (p *OpenRequest1) Append(dst []byte) []byte {
	dst = appendMarked(dst, protocol.IDOpenConnectionRequest1)
	dst = append(dst, p.Version)
	padding := max(0, p.MTU-UDPOverhead-request1Size)
	end := len(dst) + padding
	dst = slices.Grow(dst, padding)[:end]
	clear(dst[end-padding:])
	return dst
}

// Parse reads the packet and takes the MTU from its length. The padding may hold
// anything.
func (p *OpenRequest1) Parse(b []byte) error {
	rest, err := marked(b, protocol.IDOpenConnectionRequest1)
	if err != nil {
		return err
	}
	if len(rest) < 1 {
		return ErrTruncated
	}
	*p = OpenRequest1{Version: rest[0], MTU: len(b) + UDPOverhead}
	return nil
}

// OpenRequest2 asks for the connection itself (0x07). Its layout depends on
// reply 1: only a client that was told of security writes the cookie, so the
// bytes don't say by themselves which of the two layouts they are.
type OpenRequest2 struct {
	HasCookie bool // the cookie and Challenge are on the wire
	Cookie    uint32
	// Challenge: a libcat challenge follows. Parse reports it with ErrSecurity;
	// Append never writes one.
	Challenge bool
	Server    netip.AddrPort // as the client knows the server
	MTU       int            // 0 to 65535; unchecked
	GUID      int64          // of the client, either sign
}

// Append appends the packet.
func (p *OpenRequest2) Append(dst []byte) []byte {
	dst = appendMarked(dst, protocol.IDOpenConnectionRequest2)
	if p.HasCookie {
		dst = binary.BigEndian.AppendUint32(dst, p.Cookie)
		dst = append(dst, 0)
	}
	dst = AppendAddr(dst, p.Server)
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.MTU))
	return appendInt64(dst, p.GUID)
}

// Parse reads the packet in the layout that reply 1 asked for. It returns
// ErrSecurity, with Challenge set, when a libcat challenge follows the cookie.
func (p *OpenRequest2) Parse(b []byte, withCookie bool) error {
	rest, err := marked(b, protocol.IDOpenConnectionRequest2)
	if err != nil {
		return err
	}
	*p = OpenRequest2{HasCookie: withCookie}
	if withCookie {
		if len(rest) < 5 {
			return ErrTruncated
		}
		p.Cookie = binary.BigEndian.Uint32(rest)
		if p.Challenge = rest[4] != 0; p.Challenge {
			return ErrSecurity
		}
		rest = rest[5:]
	}
	server, n, err := ParseAddr(rest)
	if err != nil {
		return err
	}
	if rest = rest[n:]; len(rest) < 10 {
		return ErrTruncated
	}
	p.Server = server
	p.MTU = int(binary.BigEndian.Uint16(rest))
	p.GUID = int64At(rest, 2)
	return nil
}
