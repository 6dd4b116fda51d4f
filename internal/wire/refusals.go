package wire

import "github.com/raknet-go/raknet/protocol"

// Refusal is a server's no: already connected (0x12), no free incoming
// connections (0x14), banned (0x17), recently connected (0x1a), or one of the two
// about libcat security (0x0a, 0x0b), which only the original engine knows.
type Refusal struct {
	ID   byte
	GUID int64 // of the server; 0 for 0x0a
	// Type belongs to 0x0a alone: 0 the server's key is missing, 1 the client's
	// identity is missing, 2 the client's identity is invalid.
	Type byte
}

// Append appends the packet, in the layout of its ID. 0x0b carries an address,
// which is written as unassigned.
func (p *Refusal) Append(dst []byte) []byte {
	switch protocol.ID(p.ID) {
	case protocol.IDPublicKeyRequired:
		return append(dst, p.ID, p.Type)
	case protocol.IDSecurityRequired:
		return appendInt64(append(append(dst, p.ID), unassigned...), p.GUID)
	}
	return appendInt64(appendMarked(dst, protocol.ID(p.ID)), p.GUID)
}

// Parse reads any of the refusals; ID says which.
func (p *Refusal) Parse(b []byte) error {
	id := firstByte(b)
	switch id {
	case protocol.IDAlreadyConnected, protocol.IDNoFreeConnections, protocol.IDBanned, protocol.IDRecentlyConnected:
		rest, err := marked(b, id)
		if err != nil {
			return err
		}
		if len(rest) < 8 {
			return ErrTruncated
		}
		*p = Refusal{ID: byte(id), GUID: int64At(rest, 0)}
		return nil
	case protocol.IDPublicKeyRequired:
		if len(b) < 2 {
			return ErrTruncated
		}
		*p = Refusal{ID: byte(id), Type: b[1]}
		return nil
	case protocol.IDSecurityRequired:
		_, n, err := ParseAddr(b[1:])
		if err != nil {
			return err
		}
		if len(b) < 1+n+8 {
			return ErrTruncated
		}
		*p = Refusal{ID: byte(id), GUID: int64At(b, 1+n)}
		return nil
	}
	return idError(b)
}

// IncompatibleVersion refuses a request 1 of another protocol version (0x19).
type IncompatibleVersion struct {
	Version byte  // the server's protocol version
	GUID    int64 // of the server
}

// Append appends the packet, version first.
func (p *IncompatibleVersion) Append(dst []byte) []byte {
	dst = append(dst, byte(protocol.IDIncompatibleVersion), p.Version)
	return appendInt64(AppendMagic(dst), p.GUID)
}

// Parse reads the packet. The version comes before the offline marker, except
// with one implementation, which puts the marker first.
func (p *IncompatibleVersion) Parse(b []byte) error {
	if firstByte(b) != protocol.IDIncompatibleVersion {
		return idError(b)
	}
	if len(b) < 2+MagicSize+8 {
		return ErrTruncated
	}
	version := b[1]
	if !HasMagic(b[2:]) {
		if !HasMagic(b[1:]) {
			return ErrMagic
		}
		version = b[1+MagicSize]
	}
	*p = IncompatibleVersion{Version: version, GUID: int64At(b, 2+MagicSize)}
	return nil
}
