package show

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTablesAreWrittenInColumnsAndAsMarkdown(t *testing.T) {
	table := Table{{"what", "at most"}, {"größer", "<= 1"}, {"x", YesNo(false)}}
	require.Equal(t, "  what    at most\n  größer  <= 1\n  x       no\n", table.Text())
	require.Equal(t, "| what | at most |\n|---|---|\n| größer | ≤ 1 |\n| x | **no** |\n", table.Markdown())
}

func TestNumbersThatAreNoneAreADash(t *testing.T) {
	require.Equal(t, "1.50", Number(1.5, 2))
	require.Equal(t, "-", Number(math.NaN(), 2))
	require.Equal(t, "-", Number(math.Inf(1), 2))
}

func TestMedians(t *testing.T) {
	require.Equal(t, 2.0, Median([]float64{3, 1, 2}))
	require.Equal(t, 2.5, Median([]float64{4, 1, 2, 3}))
	require.True(t, math.IsNaN(Median(nil)))
}
