package wire

import (
	"encoding/binary"

	"github.com/raknet-go/raknet/protocol"
)

// noID is no identifier of any packet parsed here; it stands for the first byte
// of an empty input.
const noID protocol.ID = 0xff

// firstByte returns the identifier of a packet, noID when there is none.
func firstByte(b []byte) protocol.ID {
	if len(b) == 0 {
		return noID
	}
	return protocol.ID(b[0])
}

// idError tells an empty input from a packet of another kind.
func idError(b []byte) error {
	if len(b) == 0 {
		return ErrTruncated
	}
	return ErrID
}

// marked checks the identifier and the offline marker behind it, and returns
// what follows the marker.
func marked(b []byte, id protocol.ID) ([]byte, error) {
	if firstByte(b) != id {
		return nil, idError(b)
	}
	if len(b) < 1+MagicSize {
		return nil, ErrTruncated
	}
	if !HasMagic(b[1:]) {
		return nil, ErrMagic
	}
	return b[1+MagicSize:], nil
}

// appendMarked appends an identifier and the offline marker.
func appendMarked(dst []byte, id protocol.ID) []byte {
	return AppendMagic(append(dst, byte(id)))
}

func int64At(b []byte, i int) int64 { return int64(binary.BigEndian.Uint64(b[i:])) }

func appendInt64(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v))
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}
