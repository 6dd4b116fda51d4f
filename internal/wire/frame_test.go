package wire

import (
	"testing"

	"github.com/raknet-go/raknet/protocol"
	"github.com/stretchr/testify/require"
)

func TestFrameGoldenVectors(t *testing.T) {
	for _, test := range []struct {
		name, bytes string
		frame       Frame
	}{
		{"unreliable", "00 0010 fe01", Frame{Reliability: protocol.Unreliable}},
		{"unreliable sequenced", "20 0010 050000 020000 1f fe01", Frame{
			Reliability: protocol.UnreliableSequenced, Sequence: 5, Order: 2, Channel: 31,
		}},
		{"reliable", "40 0010 020000 fe01", Frame{Reliability: protocol.Reliable, Reliable: 2}},
		{"reliable ordered", "60 0010 ffffff 030201 07 fe01", Frame{
			Reliability: protocol.ReliableOrdered, Reliable: 0xffffff, Order: 0x010203, Channel: 7,
		}},
		{"reliable sequenced", "80 0010 010000 020000 030000 04 fe01", Frame{
			Reliability: protocol.ReliableSequenced, Reliable: 1, Sequence: 2, Order: 3, Channel: 4,
		}},
		{"fragment", "70 0010 010000 020000 00 00000003 0009 00000002 fe01", Frame{
			Reliability: protocol.ReliableOrdered, Reliable: 1, Order: 2,
			Split: true, SplitCount: 3, SplitID: 9, SplitIndex: 2,
		}},
		{"unreliable fragment, huge count", "10 0010 7fffffff ffff 7ffffffe fe01", Frame{
			Split: true, SplitCount: 0x7fffffff, SplitID: 0xffff, SplitIndex: 0x7ffffffe,
		}},
	} {
		want := unhex(t, test.bytes)
		f := test.frame
		f.Bits, f.Payload = 16, []byte{0xfe, 0x01}
		require.Equal(t, want, append(AppendFrameHeader(nil, &f, 2), f.Payload...), test.name)
		require.Equal(t, len(want)-2, FrameHeaderSize(f.Reliability, f.Split), test.name)

		got := Frame{Split: true, Channel: 9, SplitID: 9, Reliable: 9, Sequence: 9, Order: 9, SplitCount: 9, SplitIndex: 9}
		n, err := got.Parse(append(want, 0xee))
		require.NoError(t, err, test.name)
		require.Equal(t, len(want), n, test.name)
		require.Equal(t, f, got, test.name)

		for n := range want {
			_, err := got.Parse(want[:n])
			require.ErrorIs(t, err, ErrTruncated, "%s, first %d bytes", test.name, n)
		}
	}
}

func TestReceiptModesReadAndWriteAsTheirBase(t *testing.T) {
	for wire, base := range map[byte]protocol.Reliability{5: protocol.Unreliable, 6: protocol.Reliable, 7: protocol.ReliableOrdered} {
		f := Frame{Reliability: protocol.Reliability(wire), Reliable: 1, Order: 2, Channel: 3}
		b := append(AppendFrameHeader(nil, &f, 1), 0xfe)
		require.Equal(t, byte(base)<<5, b[0], "never on the wire")

		b[0] = wire << 5 // as a port in Java writes it
		var got Frame
		n, err := got.Parse(b)
		require.NoError(t, err)
		require.Equal(t, len(b), n)
		require.Equal(t, base, got.Reliability)
	}
	// Mode 7 without the fields of mode 3 is cut short.
	var f Frame
	_, err := f.Parse(unhex(t, "e0 0010 fe01"))
	require.ErrorIs(t, err, ErrTruncated)
}

func TestFrameFlagBitsBelowSplitAreIgnored(t *testing.T) {
	for low := range byte(16) {
		var f Frame
		n, err := f.Parse([]byte{0x40 | low, 0, 8, 1, 0, 0, 0xfe})
		require.NoError(t, err)
		require.Equal(t, 7, n)
		require.False(t, f.Split)
	}
}

func TestFrameLengthInBitsRoundsUp(t *testing.T) {
	for bits, size := range map[int]int{1: 1, 7: 1, 8: 1, 9: 2, 65: 9, 65535: 8192} {
		b := append([]byte{0, byte(bits >> 8), byte(bits)}, make([]byte, size)...)
		var f Frame
		n, err := f.Parse(b)
		require.NoError(t, err, "%d bits", bits)
		require.Equal(t, len(b), n)
		require.Equal(t, bits, f.Bits)
		require.Len(t, f.Payload, size)
		require.Equal(t, size, cap(f.Payload), "appending must not reach the next frame")

		_, err = f.Parse(b[:len(b)-1])
		require.ErrorIs(t, err, ErrTruncated, "%d bits", bits)
	}
}

func TestFramesThatTheOriginalRefuses(t *testing.T) {
	for _, test := range []struct {
		name, bytes string
		want        error
	}{
		{"no payload", "60 0000 020000 020000 00", ErrEmptyFrame},
		{"no payload, nothing else", "00 0000 00", ErrEmptyFrame},
		{"channel 32", "60 0008 020000 020000 20 fe", ErrChannel},
		{"channel 255", "20 0008 020000 020000 ff fe", ErrChannel},
		{"split count 0", "70 0008 020000 020000 00 00000000 0000 00000000 aa", ErrSplit},
		{"index is the count", "70 0008 020000 020000 00 00000002 0000 00000002 aa", ErrSplit},
		{"largest index", "70 0008 020000 020000 00 00000002 0000 ffffffff aa", ErrSplit},
		{"payload beyond the end", "60 ffff 020000 020000 00 fe01", ErrTruncated},
	} {
		var f Frame
		n, err := f.Parse(unhex(t, test.bytes))
		require.ErrorIs(t, err, test.want, test.name)
		require.Zero(t, n, test.name)
	}
	var f Frame
	_, err := f.Parse(unhex(t, "10 0008 00000001 0000 00000000 aa"))
	require.NoError(t, err, "a message of one fragment is legal")
}

// walk returns the payloads of the frames in b.
func walk(b []byte) (payloads []string, err error) {
	it := Frames(b)
	var f Frame
	for it.Next(&f) {
		payloads = append(payloads, string(f.Payload))
	}
	if it.Next(&f) {
		panic("the walk went on after its end")
	}
	return payloads, it.Err()
}

func TestFrameIter(t *testing.T) {
	for _, test := range []struct {
		name, bytes string
		frames      []string
		want        error
	}{
		{"no frame", "", nil, nil},
		{"two frames", "00 0008 61 40 0010 000000 6262", []string{"a", "bb"}, nil},
		{"odd bits before another", "00 0001 61 00 0010 6262", []string{"a", "bb"}, nil},
		{"padding of one", "00 0008 61 00", []string{"a"}, nil},
		{"padding of three", "00 0008 61 000000", []string{"a"}, nil},
		{"four zeros are an empty frame", "00 0008 61 00000000", []string{"a"}, ErrEmptyFrame},
		{"padding without a frame", "00", nil, ErrTruncated},
		{"a cut frame is no padding", "00 0008 61 60ff", []string{"a"}, ErrTruncated},
		{"bad after good", "00 0008 61 60 0008 000000 000000 20 62", []string{"a"}, ErrChannel},
	} {
		frames, err := walk(unhex(t, test.bytes))
		require.Equal(t, test.frames, frames, test.name)
		require.Equal(t, test.want, err, test.name)
	}
	var none FrameIter
	require.False(t, none.Next(new(Frame)))
	require.NoError(t, none.Err())
}
