package lab

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/pool"
)

// withoutRace skips a test of what a single goroutine does, which the race detector can
// only make slow: several run in Play alone.
func withoutRace(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("nothing runs at the same time")
	}
}

// quick shortens a scenario to what shows that it runs, not how well.
func quick(s Scenario) *Scenario {
	for i := range s.Flows {
		flows := append([]Flow(nil), s.Flows...)
		flows[i].Start = min(flows[i].Start, 200*time.Millisecond)
		s.Flows = flows
	}
	s.BlackoutAt = min(s.BlackoutAt, 500*time.Millisecond)
	s.From = min(s.From, 500*time.Millisecond)
	s.Until = min(s.Until, s.From+600*time.Millisecond)
	if s.Blackout > 0 {
		s.Until = s.BlackoutAt + time.Second + s.Blackout + 700*time.Millisecond
	}
	switch {
	case s.Up.Delay > 100*time.Millisecond:
		s.From, s.Until = 3*time.Second, 5*time.Second
	case s.Up.Delay < time.Millisecond:
		s.From, s.Until = 100*time.Millisecond, 150*time.Millisecond
	}
	return &s
}

// No result may lie beyond what the link allows, whatever the controller does.
func TestEveryScenarioStaysWithinWhatIsPossible(t *testing.T) {
	withoutRace(t)
	for i := range Scenarios {
		s := quick(Scenarios[i])
		t.Run(s.Name, func(t *testing.T) {
			// The default, and one of the others in turn.
			for _, c := range []Controller{Controllers[0], Controllers[1+i%(len(Controllers)-1)]} {
				r := Run(s, c, 7, nil)
				oneWay := millis(s.Up.Delay)
				for _, m := range []Metric{LatencyP50, LatencyP99, LatencyP999, LatencyMax} {
					if v := r[m]; v < oneWay || math.IsInf(v, 1) {
						t.Errorf("%s: %v is %v ms, one way takes %v", c.Name, m, v, oneWay)
					}
				}
				for _, m := range []Metric{Resent, Needless, Dropped} {
					if v := r[m]; !(v >= 0 && v <= 100) {
						t.Errorf("%s: %v is %v %%", c.Name, m, v)
					}
				}
				if r[Needless] > r[Resent] {
					t.Errorf("%s: %v %% needless of %v %% resent", c.Name, r[Needless], r[Resent])
				}
				if s.Up.Bandwidth == 0 {
					continue
				}
				if v := r[Share]; !(v > 0) && s.Flows[0].Sources[0].Size < 10_000 {
					t.Errorf("%s: nothing was delivered", c.Name)
				}
				if full := 1000 * float64(s.Up.Queue) / float64(s.Up.Bandwidth); r[QueueP95] > full {
					t.Errorf("%s: %v ms in a queue of %v ms", c.Name, r[QueueP95], full)
				}
			}
		})
	}
}

// Messages that waited for a missing one are delivered with it, so a measured time may
// get what came before it. Over the whole life of a connection that evens out.
func TestNoFlowBeatsTheLink(t *testing.T) {
	withoutRace(t)
	s, _ := Find("bulk-1")
	whole := *s
	whole.From, whole.Until = 0, time.Second
	for _, c := range Controllers {
		if r := Run(&whole, c, 3, nil); r[Share] > 100 {
			t.Errorf("%s: %v %% of the link", c.Name, r[Share])
		}
	}
}

func TestARunCanBeHadAgain(t *testing.T) {
	withoutRace(t)
	for _, name := range []string{"game-bursts", "mixed", "tcp", "reorder"} {
		s, _ := Find(name)
		first, again := Run(quick(*s), Controllers[0], 5, nil), Run(quick(*s), Controllers[0], 5, nil)
		for m := range first {
			require.Equal(t, math.Float64bits(first[m]), math.Float64bits(again[m]), "%s: %v", name, Metric(m))
		}
		other := Run(quick(*s), Controllers[0], 6, nil)
		require.NotEqual(t, first[BytesRatio], other[BytesRatio], "%s: another seed changes nothing", name)
	}
}

func TestTheDefaultControllerIsTheEngines(t *testing.T) {
	withoutRace(t)
	c, ok := FindController(DefaultController)
	require.True(t, ok)
	s := quick(*mustFind(t, "bulk-1"))
	named, engines := Run(s, c, 1, nil), Run(s, Controller{Name: "of the engine"}, 1, nil)
	require.Equal(t, engines[Goodput], named[Goodput])
	require.Equal(t, engines[QueueP95], named[QueueP95])
}

func TestRunsGiveEveryBufferBack(t *testing.T) {
	before := pool.InUse()
	for _, name := range []string{"bulk-5-100k", "mixed", "tcp"} {
		Run(quick(*mustFind(t, name)), Controllers[0], 1, nil)
	}
	runtime.GC()
	require.Equal(t, before, pool.InUse())
}

func mustFind(t *testing.T, name string) *Scenario {
	t.Helper()
	s, ok := Find(name)
	require.True(t, ok, name)
	return s
}
