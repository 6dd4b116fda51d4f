package lab

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuantilesTakeTheNearestRank(t *testing.T) {
	var d []time.Duration
	for i := 1; i <= 1000; i++ {
		d = append(d, time.Duration(i)*time.Millisecond)
	}
	require.Equal(t, 500.0, quantile(d, 0.5))
	require.Equal(t, 990.0, quantile(d, 0.99))
	require.Equal(t, 999.0, quantile(d, 0.999))
	require.Equal(t, 1000.0, quantile(d, 1))
	require.True(t, math.IsNaN(quantile(nil, 0.5)))
	d[999] = never
	require.True(t, math.IsInf(quantile(d, 1), 1))
}

func TestMediansIgnoreWhatWasNotMeasured(t *testing.T) {
	runs := []*Result{newResult(), newResult(), newResult(), newResult()}
	for i, r := range runs {
		r[Share] = float64(i * i)
		r[Flowing] = math.Inf(1)
	}
	runs[0][Goodput] = 7
	m := Median(runs)
	require.Equal(t, 2.5, m[Share])
	require.Equal(t, 7.0, m[Goodput])
	require.True(t, math.IsInf(m[Flowing], 1))
	require.True(t, math.IsNaN(m[Jain]))
}

func TestNumbersAreWrittenInOneWay(t *testing.T) {
	require.Equal(t, "-", Share.Format(math.NaN()))
	require.Equal(t, "never", Flowing.Format(math.Inf(1)))
	require.Equal(t, "0.0", Share.Format(-0.01))
	require.Equal(t, "12.35", Resent.Format(12.345678))
	require.Equal(t, "queue p95 <= 20.0 ms", (&Goal{QueueP95, false, 20}).String())
	require.Equal(t, "Jain >= 0.950", (&Goal{Jain, true, 0.95}).String())
}

func TestJainsIndex(t *testing.T) {
	require.InDelta(t, 1, jain([]float64{3, 3, 3}), 1e-12)
	require.InDelta(t, 0.5, jain([]float64{3, 0}), 1e-12)
	require.InDelta(t, 0.9, jain([]float64{1, 2}), 1e-12)
}
