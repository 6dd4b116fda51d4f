package wire

import (
	"encoding/binary"

	"github.com/raknet-go/raknet/protocol"
)

const (
	frameModeShift = 5    // the delivery mode is the top three bits of a frame's flags
	frameSplit     = 0x10 // a fragment of a larger message
	splitSize      = 10   // count, identifier and index of a fragment
	// minFrameSize is below every frame: fewer bytes than this after a frame
	// can't be another one.
	minFrameSize = 4
)

// MaxFramePayload is the largest payload in bytes that the 16-bit count of bits
// of a frame can announce.
const MaxFramePayload = (1<<16 - 1) / 8

// frameHeaderSizes holds the size of an unsplit frame's header by mode. Modes 5 to
// 7 have the layout of 0, 2 and 3: no known peer needs another, one needs this.
var frameHeaderSizes = [8]uint8{3, 10, 6, 10, 13, 3, 6, 10}

// Frame is one message, or one fragment of one, inside a datagram. Indices are
// as on the wire, modulo 2^24; those that the mode doesn't carry are 0.
type Frame struct {
	// Reliability is one of the five modes that the wire knows. Receipt modes come
	// out as what they are without receipt, and are written so.
	Reliability protocol.Reliability
	Split       bool  // the Split fields are there
	Channel     uint8 // ordering channel of ordered and sequenced modes, 0 to 31
	SplitID     uint16
	Reliable    uint32 // reliable index, of reliable modes
	Sequence    uint32 // sequencing index, of sequenced modes
	Order       uint32 // ordering index, of ordered and sequenced modes
	SplitCount  uint32 // fragments of the message, at least 1
	SplitIndex  uint32 // of this fragment, below SplitCount
	// Bits is the payload's length in bits, as announced. It fills whole bytes,
	// but real peers announce lengths that aren't a multiple of 8.
	Bits    int
	Payload []byte // borrows from what was parsed; never empty
}

// FrameHeaderSize returns the size in bytes of the header of a frame of mode r,
// which must be valid.
func FrameHeaderSize(r protocol.Reliability, split bool) int {
	n := int(frameHeaderSizes[r&7])
	if split {
		n += splitSize
	}
	return n
}

// AppendFrameHeader appends the header of a frame whose payload has payloadLen
// bytes, 1 to MaxFramePayload; the payload follows it. Bits and Payload of f are
// not used: what leaves is always whole bytes.
func AppendFrameHeader(dst []byte, f *Frame, payloadLen int) []byte {
	r := f.Reliability.Wire()
	flags := byte(r) << frameModeShift
	if f.Split {
		flags |= frameSplit
	}
	bits := uint16(payloadLen * 8)
	dst = append(dst, flags, byte(bits>>8), byte(bits))
	if r.IsReliable() {
		dst = AppendUint24(dst, f.Reliable)
	}
	if r.IsSequenced() {
		dst = AppendUint24(dst, f.Sequence)
	}
	if r.HasChannel() {
		dst = append(AppendUint24(dst, f.Order), f.Channel)
	}
	if f.Split {
		dst = binary.BigEndian.AppendUint32(dst, f.SplitCount)
		dst = binary.BigEndian.AppendUint16(dst, f.SplitID)
		dst = binary.BigEndian.AppendUint32(dst, f.SplitIndex)
	}
	return dst
}

// Parse reads the frame at the start of b and returns its size in bytes. It
// refuses what the original refuses: an empty payload, a channel above 31, a
// fragment index that is not below the count, and a payload beyond the end of b.
// The low four bits of the flags are ignored. The split count is not bounded
// here beyond that: its receiver must not believe it.
func (f *Frame) Parse(b []byte) (n int, err error) {
	if len(b) < 3 {
		return 0, ErrTruncated
	}
	r := protocol.Reliability(b[0] >> frameModeShift).Wire()
	split := b[0]&frameSplit != 0
	bits := int(b[1])<<8 | int(b[2])
	if bits == 0 {
		return 0, ErrEmptyFrame
	}
	header := FrameHeaderSize(r, split)
	n = header + (bits+7)/8
	if len(b) < n {
		return 0, ErrTruncated
	}
	f.Reliability, f.Split, f.Bits, f.Payload = r, split, bits, b[header:n:n]
	f.Reliable, f.Sequence, f.Order, f.Channel = 0, 0, 0, 0
	f.SplitCount, f.SplitID, f.SplitIndex = 0, 0, 0
	at := 3
	if r.IsReliable() {
		f.Reliable = Uint24(b[at:])
		at += 3
	}
	if r.IsSequenced() {
		f.Sequence = Uint24(b[at:])
		at += 3
	}
	if r.HasChannel() {
		f.Order = Uint24(b[at:])
		f.Channel = b[at+3]
		if f.Channel >= protocol.OrderingChannels {
			return 0, ErrChannel
		}
		at += 4
	}
	if split {
		f.SplitCount = binary.BigEndian.Uint32(b[at:])
		f.SplitID = binary.BigEndian.Uint16(b[at+4:])
		f.SplitIndex = binary.BigEndian.Uint32(b[at+6:])
		if f.SplitIndex >= f.SplitCount {
			return 0, ErrSplit
		}
	}
	return n, nil
}

// FrameIter walks the frames of a datagram. Its zero value has none.
type FrameIter struct {
	rest  []byte
	begun bool
	err   error
}

// Frames returns an iterator over what ParseDatagramHeader leaves.
func Frames(b []byte) FrameIter { return FrameIter{rest: b} }

// Next reads the next frame into f and reports whether there was one. Up to three
// zero bytes after a frame are padding and end the walk quietly; so does the end.
// Anything else that is no frame ends it with an error.
func (it *FrameIter) Next(f *Frame) bool {
	if it.err != nil || len(it.rest) == 0 {
		return false
	}
	if it.begun && len(it.rest) < minFrameSize && allZero(it.rest) {
		it.rest = nil
		return false
	}
	n, err := f.Parse(it.rest)
	if err != nil {
		it.err = err
		return false
	}
	it.rest, it.begun = it.rest[n:], true
	return true
}

// Err returns why the walk ended early, nil when it didn't.
func (it *FrameIter) Err() error { return it.err }
