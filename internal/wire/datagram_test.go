package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClassifyGoesByTheTopBits(t *testing.T) {
	for id := range 256 {
		want := KindOffline
		switch {
		case id >= 0xc0:
			want = KindACK
		case id >= 0xa0:
			want = KindNACK
		case id >= 0x80:
			want = KindFrameSet
		}
		b := make([]byte, 7)
		b[0] = byte(id)
		require.Equal(t, want, Classify(b), "%#x", id)
	}
}

func TestClassifyShortDatagrams(t *testing.T) {
	require.Equal(t, KindInvalid, Classify(nil))
	require.Equal(t, KindOffline, Classify([]byte{0}))
	for id, size := range map[byte]int{0x84: 4, 0x80: 4, 0x9f: 4, 0xa0: 3, 0xbf: 3, 0xc0: 3, 0xdf: 3, 0xe0: 7, 0xff: 7} {
		b := make([]byte, size)
		b[0] = id
		require.NotEqual(t, KindInvalid, Classify(b), "%#x", id)
		for n := 1; n < size; n++ {
			require.Equal(t, KindInvalid, Classify(b[:n]), "%#x of %d bytes", id, n)
		}
	}
}

func TestDatagramHeader(t *testing.T) {
	require.Equal(t, []byte{0x84, 0x07, 0, 0}, AppendDatagramHeader(nil, FrameSetID, 7))
	require.Equal(t, []byte{0x8c, 0xff, 0xff, 0xff}, AppendDatagramHeader(nil, FrameSetContinuousID, 0xffffffff))
	require.Len(t, AppendDatagramHeader(nil, FrameSetID, 0), DatagramHeaderSize)

	for flags := 0x80; flags < 0xa0; flags++ {
		number, frames, err := ParseDatagramHeader([]byte{byte(flags), 1, 2, 3, 0xaa})
		require.NoError(t, err)
		require.Equal(t, uint32(0x030201), number)
		require.Equal(t, []byte{0xaa}, frames)
	}
	for n := range 4 {
		_, _, err := ParseDatagramHeader([]byte{0x84, 1, 2, 3}[:n])
		require.ErrorIs(t, err, ErrTruncated)
	}
	for _, id := range []byte{0x00, 0x7f, 0xa0, 0xc0, 0xff} {
		_, _, err := ParseDatagramHeader([]byte{id, 1, 2, 3})
		require.ErrorIs(t, err, ErrDatagram, "%#x", id)
	}
}
