package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheMedianOfWhatFellShortIsJudged(t *testing.T) {
	p := fullPlan()
	r := calm(byStranger)
	r.judge(p)
	require.False(t, r.unlucky(), "all is well")
	r.Verdicts, r.During = nil, time.Second
	r.judge(p)
	require.True(t, r.unlucky())
	calmer := calm(byStranger)
	calmer.During = 2500 * time.Microsecond
	m := middle([]Row{r, calmer, calm(byStranger)})
	require.Equal(t, calmer.During, m.During)
	require.Equal(t, 2, m.Again)
	m.judge(p)
	require.True(t, m.ok())
	require.Contains(t, m.cells()[0], "median of 3")
	m = middle([]Row{r, calmer, r})
	m.judge(p)
	require.Equal(t, time.Second, m.During)
	require.False(t, m.ok())
}

func TestNothingElseGetsAnotherChance(t *testing.T) {
	r := calm(byStranger)
	r.During, r.Lost = time.Second, []string{"why"}
	r.judge(fullPlan())
	require.False(t, r.unlucky())
}
