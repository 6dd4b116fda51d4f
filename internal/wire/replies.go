package wire

import (
	"encoding/binary"
	"net/netip"

	"github.com/raknet-go/raknet/protocol"
)

// libcatKeySize is the length of the shortest public key that follows the cookie
// of a server with libcat security: 64 bytes in the original, 294 elsewhere.
const libcatKeySize = 64

// OpenReply1 answers request 1 (0x06).
type OpenReply1 struct {
	GUID     int64  // of the server; 0 from some protection boxes
	Security bool   // request 2 must return Cookie; in Bedrock that is all it means
	Cookie   uint32 // only with Security
	// LibcatKey: a public key follows the cookie, so the server wants libcat
	// security, and MTU is not read. Append never writes a key.
	LibcatKey bool
	MTU       int // 0 to 65535; unchecked: protection boxes answer 0 first
}

// Append appends the packet.
func (p *OpenReply1) Append(dst []byte) []byte {
	dst = appendMarked(dst, protocol.IDOpenConnectionReply1)
	dst = appendInt64(dst, p.GUID)
	dst = appendBool(dst, p.Security)
	if p.Security {
		dst = binary.BigEndian.AppendUint32(dst, p.Cookie)
	}
	return binary.BigEndian.AppendUint16(dst, uint16(p.MTU))
}

// Parse reads the packet. Some servers pad it with zeros to the size of request 1.
// A key is told from padding by its length and by not being all zeros.
func (p *OpenReply1) Parse(b []byte) error {
	rest, err := marked(b, protocol.IDOpenConnectionReply1)
	if err != nil {
		return err
	}
	if len(rest) < 11 {
		return ErrTruncated
	}
	*p = OpenReply1{GUID: int64At(rest, 0), Security: rest[8] != 0}
	rest = rest[9:]
	if p.Security {
		if len(rest) < 6 {
			return ErrTruncated
		}
		p.Cookie = binary.BigEndian.Uint32(rest)
		rest = rest[4:]
		if tail := rest[2:]; len(tail) >= libcatKeySize && !allZero(tail) {
			p.LibcatKey = true
			return nil
		}
	}
	p.MTU = int(binary.BigEndian.Uint16(rest))
	return nil
}

// OpenReply2 answers request 2 and ends the offline handshake (0x08).
type OpenReply2 struct {
	GUID   int64          // of the server
	Client netip.AddrPort // as the server sees the client
	MTU    int            // 0 to 65535; unchecked: the original copies what the client wrote
	// Encryption: the server expects libcat encryption. The original writes it as
	// one bit (0x80), others as one byte.
	Encryption bool
}

// Append appends the packet; Encryption is written as a byte.
func (p *OpenReply2) Append(dst []byte) []byte {
	dst = appendMarked(dst, protocol.IDOpenConnectionReply2)
	dst = appendInt64(dst, p.GUID)
	dst = AppendAddr(dst, p.Client)
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.MTU))
	return appendBool(dst, p.Encryption)
}

// Parse reads the packet; any set bit of the last byte means Encryption.
func (p *OpenReply2) Parse(b []byte) error {
	rest, err := marked(b, protocol.IDOpenConnectionReply2)
	if err != nil {
		return err
	}
	if len(rest) < 8 {
		return ErrTruncated
	}
	guid := int64At(rest, 0)
	client, n, err := ParseAddr(rest[8:])
	if err != nil {
		return err
	}
	if rest = rest[8+n:]; len(rest) < 3 {
		return ErrTruncated
	}
	*p = OpenReply2{GUID: guid, Client: client, MTU: int(binary.BigEndian.Uint16(rest)), Encryption: rest[2] != 0}
	return nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
