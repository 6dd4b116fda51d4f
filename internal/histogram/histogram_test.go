package histogram

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuantilesAreOfWhatWasCounted(t *testing.T) {
	var h Histogram
	for i := range 10_000 {
		h.Add(time.Duration(i+1) * time.Microsecond)
	}
	first := h.Counts()
	var before Tally
	before.Add(first, 1)
	require.EqualValues(t, 10_000, before.Count())
	for q, want := range map[float64]time.Duration{0.5: 5 * time.Millisecond, 0.99: 9900 * time.Microsecond, 1: 10 * time.Millisecond} {
		require.InEpsilon(t, float64(want), float64(before.Quantile(q)), 1.0/32)
	}
	for range 10_000 {
		h.Add(time.Second)
	}
	var after Tally
	after.Add(h.Counts(), 1)
	after.Add(first, -1)
	require.InEpsilon(t, float64(time.Second), float64(after.Quantile(0.01)), 1.0/32, "what was there before does not count")
	require.Zero(t, new(Tally).Quantile(0.5))
}

func TestTakingStartsOver(t *testing.T) {
	var h Histogram
	h.Add(time.Millisecond)
	require.EqualValues(t, 1, h.Take().Count())
	require.Zero(t, h.Take().Count())
	require.Empty(t, h.Counts())
}

func TestEveryTimeHasABucketNearIt(t *testing.T) {
	require.Equal(t, size-1, bucket(math.MaxInt64))
	require.Zero(t, bucket(-1))
	for _, d := range []time.Duration{0, 31, 32, 33, 1000, time.Second, 30 * time.Second} {
		require.InDelta(t, float64(d), float64(middle(bucket(d))), float64(d)/32+1)
	}
	new(Tally).Add(make([]uint32, size+1), 1) // of another program's
}
