package lab

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cheap are scenarios that take next to no time.
func cheap(t *testing.T) []*Scenario {
	scenarios := []*Scenario{quick(*mustFind(t, "game-1")), quick(*mustFind(t, "game-bursts")), quick(*mustFind(t, "droptail"))}
	for _, s := range scenarios {
		s.Baseline = ""
	}
	return scenarios
}

// Runs are spread over all processors; what is written must not show it.
func TestReportsAreTheSameEveryTime(t *testing.T) {
	write := func() string {
		r := Play(cheap(t), Controllers[:2], 3)
		require.Equal(t, []string{"game", "droptail"}, r.Families())
		return r.Table("game", true) + r.Table("droptail", false) + r.Markdown()
	}
	first := write()
	require.Equal(t, first, write())
	for _, want := range []string{"game-bursts: ", "must reach  p99 <= 250.0 ms", "seed 2", "## All controllers", "| yes |", "img/lab-game-5.svg"} {
		require.Contains(t, first, want)
	}
}

func TestBaselinesArePlayedThoughNotAskedFor(t *testing.T) {
	s := *mustFind(t, "slow-acks-game")
	s.Until = s.From + time.Second
	s.Baseline, s.Show = "game-0", []Metric{BytesRatio}
	r := Play([]*Scenario{&s}, Controllers[:1], 1)
	require.Len(t, r.Medians, 1)
	// A tenth of a minute's bytes, more or less.
	require.InDelta(t, 0.05, r.Medians[0][0][BytesRatio], 0.02)
}

func TestFiguresAreTheSameEveryTimeAndWellFormed(t *testing.T) {
	withoutRace(t)
	f := Figure{"tcp", "one & two", time.Second, []Panel{PanelWindow, PanelQueue, PanelGoodput, PanelLatency, PanelCompare}}
	first, err := f.Draw(Controllers[0], Controllers)
	require.NoError(t, err)
	again, err := f.Draw(Controllers[0], Controllers)
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, again))
	require.False(t, bytes.Contains(first, []byte("NaN")) || bytes.Contains(first, []byte("Inf")), "a point is nowhere")
	d := xml.NewDecoder(bytes.NewReader(first))
	for {
		if _, err = d.Token(); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, io.EOF)
	_, err = (&Figure{Scenario: "none"}).Draw(Controllers[0], nil)
	require.Error(t, err)
}

func TestFiguresAndBaselinesNameScenarios(t *testing.T) {
	for _, f := range Figures {
		mustFind(t, f.Scenario)
	}
	seen := map[string]bool{}
	for i := range Scenarios {
		s := &Scenarios[i]
		require.False(t, seen[s.Name], "%s is there twice", s.Name)
		seen[s.Name] = true
		if s.Baseline != "" {
			b := mustFind(t, s.Baseline)
			require.Equal(t, s.Until-s.From, b.Until-b.From, "%s: ratios to a run of another length", s.Name)
		}
		require.NotContains(t, s.Name+s.Family, " ")
		require.False(t, strings.HasSuffix(s.Title, "."))
	}
}
