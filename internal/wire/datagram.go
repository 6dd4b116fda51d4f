package wire

// DatagramKind tells what a UDP payload is, from its first byte.
type DatagramKind uint8

// The kinds of datagrams. The zero value is KindInvalid.
const (
	KindInvalid  DatagramKind = iota // too short for what its first byte says
	KindOffline                      // bit 7 is clear: not part of a connection
	KindFrameSet                     // messages
	KindACK                          // datagram numbers that arrived
	KindNACK                         // datagram numbers that are missing
)

// Identifiers of datagrams, as sent. Receivers look at the top bits alone.
const (
	FrameSetID           byte = 0x84 // a frame set, as the original sends it in slow start
	FrameSetContinuousID byte = 0x8c // the same, when more data was waiting already
	ACKID                byte = 0xc0
	NACKID               byte = 0xa0
)

// ackHasAS marks an ACK with a float of congestion data before its records.
const ackHasAS = 0x20

// DatagramHeaderSize is the size in bytes of what precedes the frames of a frame set.
const DatagramHeaderSize = 4

// Classify tells the kind of a UDP payload. Every combination of the low bits of
// a connected datagram is accepted, as the original does.
func Classify(b []byte) DatagramKind {
	if len(b) == 0 {
		return KindInvalid
	}
	id := b[0]
	kind, size := KindFrameSet, DatagramHeaderSize
	switch {
	case id&0x80 == 0:
		return KindOffline
	case id&0x40 != 0:
		kind, size = KindACK, rangesHeaderSize(id)
	case id&0x20 != 0:
		kind, size = KindNACK, rangesHeaderSize(id)
	}
	if len(b) < size {
		return KindInvalid
	}
	return kind
}

// AppendDatagramHeader appends the header of a frame set: flags is FrameSetID or
// FrameSetContinuousID, and number goes out modulo 2^24.
func AppendDatagramHeader(dst []byte, flags byte, number uint32) []byte {
	return AppendUint24(append(dst, flags), number)
}

// ParseDatagramHeader reads the header of a frame set and returns its number and
// the frames behind it, which borrow from b and may be empty.
func ParseDatagramHeader(b []byte) (number uint32, frames []byte, err error) {
	if len(b) < DatagramHeaderSize {
		return 0, nil, ErrTruncated
	}
	if b[0]&0xe0 != 0x80 {
		return 0, nil, ErrDatagram
	}
	return Uint24(b[1:]), b[DatagramHeaderSize:], nil
}
