package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/lab"
)

func TestAMessageIsKnownToTheLastByte(t *testing.T) {
	m := make([]byte, 200)
	compose(m, 3, 77, 5*time.Second)
	sent, err := check(m, 200, 3, 77)
	require.NoError(t, err)
	require.Equal(t, 5*time.Second, sent)

	_, err = check(m, 200, 4, 77)
	require.Error(t, err, "another flow's")
	_, err = check(m, 200, 3, 78)
	require.Error(t, err, "not the next one")
	_, err = check(m[:199], 200, 3, 77)
	require.Error(t, err, "too short")
	for i := range m {
		if i >= 6 && i < messageHeader {
			continue // the time is not known beforehand
		}
		m[i] ^= 1
		_, err = check(m, 200, 3, 77)
		require.Error(t, err, "byte %d", i)
		m[i] ^= 1
	}
}

// result is one run of a row.
func result(kind, name, library string, v Values) *Result {
	return &Result{Cell: Cell{Kind: kind, Name: name, Library: library}, Values: v}
}

func TestTheVerdictFollowsFromTheMedians(t *testing.T) {
	r := &Report{Runs: 3, TransferBytes: 64 << 20}
	add := func(kind, name, library, metric string, values ...float64) {
		for _, v := range values {
			r.Results = append(r.Results, result(kind, name, library, Values{metric: v}))
		}
	}
	add("game", "1 %", ours, mP99, 40, 41, 90)
	add("game", "1 %", "kcp-go", mP99, 80, 85, 80)
	add("game", "1 %", quicGo, mP99, 92, 93, 94)
	add("bulk", "0 %", ours, mRate, 50, 60, 55)
	add("bulk", "1 %", ours, mRate, 43, 44, 50)
	add("bulk", "5 %", ours, mRate, 30, 32, 34)
	add("bulk", "5 %", "kcp-go", mRate, 35, 36, 20)
	r.Results = append(r.Results,
		result("transfer", "a", ours, Values{mComplete: 1, mSeconds: 2}),
		result("transfer", "a", quicGo, Values{mComplete: 0, mSeconds: 4, mDone: 1}),
		result("transfer", "b", ours, Values{mComplete: 1, mSeconds: 2}),
		result("transfer", "b", quicGo, Values{mComplete: 1, mSeconds: 1.5}))

	want := []requirement{
		{"60 messages/s of 200 B, 1 % loss each way: p99 below the others'", "41.0, kcp-go 80.0, quic-go 93.0 ms; first in 2 of 3 runs", true},
		{"bulk of 1 KB messages, 0 % loss each way: more than the others", "55.00, kcp-go -, quic-go - MB/s; first in 3 of 3 runs", true},
		{"bulk of 1 KB messages, 1 % loss each way: more than the others", "44.00, kcp-go -, quic-go - MB/s; first in 3 of 3 runs", true},
		{"bulk, 1 % loss each way: at least 0.8 of its own loss-free figure", "0.80", true},
		{"bulk of 1 KB messages, 5 % loss each way: more than the others", "32.00, kcp-go 35.00, quic-go - MB/s; first in 1 of 3 runs", false},
		{"bulk, 5 % loss each way: at least 0.6 of its own loss-free figure", "0.58", false},
		{"64 MiB: every transfer is complete", "2 of 2", true},
		{"64 MiB: none slower than by quic-go", "1 of 2; slower: b", false},
	}
	require.Equal(t, want, r.requirements())
	require.Empty(t, r.failures())
	require.Contains(t, r.Markdown(), "| 1 of 2; slower: b | **no** |")
	require.Contains(t, r.Text(), "unfinished after 4.0 s at 1.0 MB")
}

func TestWhatDidNotArriveIsAFailure(t *testing.T) {
	lost := result("bulk", "1 %", quicGo, Values{})
	lost.Error = "message 4 came when 3 was next"
	r := &Report{Results: []*Result{lost,
		result("transfer", "a", ours, Values{mComplete: 0}),
		result("transfer", "a", quicGo, Values{mComplete: 0}), // it had a limit of time
	}}
	require.Len(t, r.failures(), 2)
	require.True(t, math.IsNaN(r.median("bulk", "1 %", quicGo, mRate)), "what a failed run measured does not count")
}

func TestEveryScenarioIsPlayedOrNamed(t *testing.T) {
	p := &Plan{Runs: 1, Sections: "abcde"}
	p.complete()
	r := &Report{}
	for _, c := range p.cells(0) {
		r.Results = append(r.Results, result(c.Kind, c.Name, c.Library, Values{}))
	}
	text := r.laboratory().Text()
	for _, s := range lab.Scenarios {
		require.Contains(t, text, s.Title)
	}
	require.Contains(t, text, "not played")
}

func TestLibrariesTakeTurns(t *testing.T) {
	p := &Plan{Runs: 2, Sections: "a"}
	p.complete()
	var order []string
	for run := range 2 {
		for _, c := range p.cells(run)[:3] {
			order = append(order, c.Library)
		}
	}
	require.Equal(t, "raknet kcp-go quic-go kcp-go quic-go raknet", strings.Join(order, " "))
}
