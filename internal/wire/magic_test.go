package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMagic(t *testing.T) {
	want := unhex(t, "00 ff ff 00 fe fe fe fe fd fd fd fd 12 34 56 78")
	require.Len(t, want, MagicSize)
	require.Equal(t, want, AppendMagic(nil))
	require.True(t, HasMagic(want))
	require.True(t, HasMagic(append(want, 1)))
	for n := range want {
		require.False(t, HasMagic(want[:n]))
	}
}
