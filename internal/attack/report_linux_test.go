package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheTablesAreWrittenBetweenTheMarks(t *testing.T) {
	page, err := between("head\n"+markBegin+"\nold\n"+markEnd+"\ntail\n", "new\n")
	require.NoError(t, err)
	require.Equal(t, "head\n"+markBegin+"\nnew\n"+markEnd+"\ntail\n", page)
	again, err := between(page, "new\n")
	require.NoError(t, err)
	require.Equal(t, page, again)
	_, err = between("no marks", "new")
	require.Error(t, err)
}

// The worst of the vectors stands for all, and what a verdict shows is the worst of its rows.
func TestTheWorstIsShown(t *testing.T) {
	good, bad := calm(byVector), calm(byVector)
	good.Name, bad.Name, bad.CPU, bad.Lost = "good", "bad", 70*time.Microsecond, []string{"why"}
	r := Report{Rows: []Row{good, bad}}
	for i := range r.Rows {
		r.Rows[i].judge(fullPlan())
	}
	attacks := r.attacks()
	require.Len(t, attacks, 2)
	require.Contains(t, attacks[1][0], "each of 2 vectors")
	require.Equal(t, "no", attacks[1][len(attacks[1])-1])
	verdicts := r.verdicts().Text()
	require.Contains(t, verdicts, "70 us")
	failed, _ := r.failures()
	require.Len(t, failed, 2)
	require.Contains(t, r.text(), "FAILED: vector bad: real sessions lost: 1: why")
	require.Equal(t, 2, strings.Count(r.verdicts().Markdown(), "**no**"))
}
