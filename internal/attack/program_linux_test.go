package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// local is a recruit that starts no process: everybody is in this one.
func local(name string, _ bool, _ ...string) (*agent, error) {
	r := roles[name]()
	return &agent{name, r.obey, func() string { r.close(); return "" }}, nil
}

// smallPlan runs every attack with a few hundred datagrams.
func smallPlan() *Plan {
	return &Plan{
		Quick: true, Sessions: 5, Quiet: time.Millisecond, Flood: 30 * time.Millisecond,
		Rates: []int{10_000}, PeerRate: []int{10_000}, Vector: 300, Sources: 300,
		Slow: Timeouts{Stall: 100 * time.Millisecond, Unacked: 5 * time.Second, Greet: 3 * time.Second},
		Lure: 10 * time.Millisecond, LureDial: 300 * time.Millisecond, LureSent: 300, recruit: local,
	}
}

// timeless are the requirements that hold on a machine of any speed, and in a process that has
// attackers in it as well.
var timeless = []requirement{reqBroken, reqLost, reqAnswers, reqForged, reqOut, reqPongs, reqVictim, reqClear}

// Every attack is played against a listener with real sessions, and every hostile server against a dialer.
func TestNoAttackDoesHarm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	arrived := 0
	rows, err := smallPlan().run(func(r *Row) {
		t.Logf("%s: %d sent, %d arrived, %d connects; ended: %s", r.title(), r.Sent, r.Arrived, r.Connects, r.ends())
		for _, v := range r.Verdicts {
			for _, what := range timeless {
				if v.What == what && !v.OK {
					t.Errorf("%s", strings.Join(r.failures(), "\n"))
				}
			}
		}
		if r.Kind != byServer && r.Arrived > 0 {
			arrived++
		}
		if r.Kind != byServer && r.Sent == 0 {
			t.Errorf("%s: nothing was sent", r.title())
		}
	})
	require.NoError(t, err)
	floods, err := smallPlan().floods()
	require.NoError(t, err)
	require.Greater(t, len(rows), len(floods)+50)
	require.GreaterOrEqual(t, arrived, len(floods), "attacks that nothing came of say nothing")
	report := Report{Machine: "a test", Quick: true, Rows: rows}
	text := report.text()
	for _, want := range []string{"half-open", "never acknowledges", "CO-08", "not judged", requirements[reqLost].text} {
		require.Contains(t, text, want)
	}
}

func TestRolesObeyOrdersLineByLine(t *testing.T) {
	in, orders := io.Pipe()
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- runRole(roleServer, in, &out) }()
	encoder := json.NewEncoder(orders)
	for _, op := range []string{"listen", "look", "dance"} {
		require.NoError(t, encoder.Encode(&Order{Op: op}))
	}
	require.NoError(t, orders.Close())
	require.NoError(t, <-done)
	answers := json.NewDecoder(&out)
	var listening, looked, danced Answer
	require.NoError(t, answers.Decode(&listening))
	require.Contains(t, listening.Address, "127.0.0.1:")
	require.NoError(t, answers.Decode(&looked))
	require.Positive(t, looked.Look.RSS)
	require.NoError(t, answers.Decode(&danced))
	require.NotEmpty(t, danced.Error)
	require.Error(t, runRole("nobody", in, &out))
}

func TestEveryPlannedAttackExists(t *testing.T) {
	for _, p := range []*Plan{fullPlan(), quickPlan()} {
		floods, err := p.floods()
		require.NoError(t, err)
		require.Greater(t, len(floods), 100)
		for _, s := range append(floods, p.slow()...) {
			if s.Kind == byPeer || s.Kind == byVector {
				_, err := peerNamed(s.Kind, s.Name)
				require.NoError(t, err)
			}
			require.Positive(t, s.Time, "an attack without end")
		}
	}
}
