package lab

import (
	"math"
	"testing"
)

// With independent loss, a message that comes with the k-th datagram after it is so late
// with a probability that can be calculated.
func TestTheIdealSenderIsAsCalculated(t *testing.T) {
	interval := millis(game.Every)
	for _, c := range []struct {
		name     string
		q        Metric
		interval float64 // how many of them a message is late
	}{
		{"game-0", LatencyP999, 0},
		{"game-5", LatencyP50, 0},  // 95 % come at once
		{"game-5", LatencyP99, 1},  // 99.75 % with the next at the latest
		{"game-5", LatencyP999, 2}, // 99.99 % with the one after
	} {
		s, _ := Find(c.name)
		r := idealGame(s, 3)
		if want := millis(oneWay) + c.interval*interval; math.Abs(r[c.q]-want) > 0.01 {
			t.Errorf("%s: %v is %v, calculated %v", c.name, c.q, r[c.q], want)
		}
	}
}

func TestNoControllerBeatsTheIdealSender(t *testing.T) {
	withoutRace(t)
	for _, name := range []string{"game-1", "game-5", "game-bursts"} {
		s, _ := Find(name)
		ideal := idealGame(s, 1)
		for _, c := range Controllers {
			// The loss of the real run strikes other datagrams, and a few per cent more or less.
			if r := Run(s, c, 1, nil); r[LatencyP999] < ideal[LatencyP999]*0.8 {
				t.Errorf("%s, %s: p99.9 %v, ideal %v", name, c.Name, r[LatencyP999], ideal[LatencyP999])
			}
		}
	}
}
