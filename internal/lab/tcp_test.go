package lab

import (
	"testing"
	"time"
)

// alone is a scenario of TCP models only.
func alone(loss float64, flows int) *Scenario {
	s := symmetric(lossy(fast, loss), Scenario{Name: "tcp alone", Flows: make([]Flow, flows), From: 2 * time.Second, Until: 8 * time.Second})
	for i := range s.Flows {
		s.Flows[i] = Flow{TCP: true}
	}
	return &s
}

// A model that could not fill a link alone would prove nothing about its neighbour.
func TestTheTCPModelFillsALink(t *testing.T) {
	withoutRace(t)
	if r := Run(alone(0, 1), Controllers[0], 1, nil); r[Share] < 95 {
		t.Errorf("alone it gets %.1f %%", r[Share])
	}
}

func TestTwoTCPModelsShareALink(t *testing.T) {
	withoutRace(t)
	s := alone(0, 2)
	s.From, s.Until = 10*time.Second, 30*time.Second
	if r := Run(s, Controllers[0], 1, nil); r[Share] < 95 || r[Jain] < 0.9 {
		t.Errorf("two get %.1f %%, Jain's index is %.3f", r[Share], r[Jain])
	}
}

// CUBIC takes every loss for a full queue: at 1 % of random loss and 50 ms little is left.
func TestTheTCPModelYieldsToLoss(t *testing.T) {
	withoutRace(t)
	r := Run(alone(0.01, 1), Controllers[0], 1, nil)
	if r[Share] > 15 || r[Share] < 1 {
		t.Errorf("with 1 %% of random loss it gets %.1f %%", r[Share])
	}
}

func TestTheTCPModelSurvivesABlackout(t *testing.T) {
	withoutRace(t)
	s := alone(0, 1)
	s.BlackoutAt, s.Blackout = time.Second, 3*time.Second
	s.From, s.Until = 10*time.Second, 14*time.Second
	if r := Run(s, Controllers[0], 1, nil); r[Share] < 50 {
		t.Errorf("after a blackout it gets %.1f %%", r[Share])
	}
}
