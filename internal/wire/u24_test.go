package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUint24IsLittleEndian(t *testing.T) {
	require.Equal(t, []byte{0x56, 0x34, 0x12}, AppendUint24(nil, 0x123456))
	require.Equal(t, uint32(0x123456), Uint24([]byte{0x56, 0x34, 0x12, 0xff}))

	b := []byte{9, 9, 9, 9}
	PutUint24(b, 0x010203)
	require.Equal(t, []byte{3, 2, 1, 9}, b)
}

func TestUint24DropsWhatDoesNotFit(t *testing.T) {
	require.Equal(t, []byte{0, 0, 0}, AppendUint24(nil, 1<<24))
	require.Equal(t, []byte{0xff, 0xff, 0xff}, AppendUint24(nil, 0xffffffff))
	for _, v := range []uint32{0, 1, 0xff, 0x100, 0xffff, 0x10000, 1 << 23, Mask24 - 1, Mask24} {
		require.Equal(t, v, Uint24(AppendUint24(nil, v)))
	}
}
