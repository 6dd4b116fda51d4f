package hostile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCleanupsAreDoneAtOnceAndOnce(t *testing.T) {
	i := &Instant{TB: t}
	done := ""
	for range 2 {
		i.Cleanup(func() { done += "a" })
		i.Cleanup(func() { done += "b" })
		require.Empty(t, done)
		i.Finish()
		require.Equal(t, "ba", done)
		done = ""
	}
	i.Finish()
	require.Empty(t, done)
}
