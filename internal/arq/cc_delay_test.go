package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// delays feeds rounds of round trips, in milliseconds, and returns the moment after.
func (p *pathDelay) delays(now monotime.Time, rounds int, ms ...int) monotime.Time {
	for range rounds {
		for _, v := range ms {
			now = now.Add(10 * time.Millisecond)
			p.add(now, time.Duration(v)*time.Millisecond)
		}
		p.endRound()
	}
	return now
}

func TestAQueueStandsIfARoundNeverSeesItEmpty(t *testing.T) {
	var p pathDelay
	now := p.delays(1, 3, 50, 60, 70)
	if p.standing() {
		t.Error("empty once a round")
	}
	now = p.delays(now, 1, 60, 70, 80)
	if p.standing() {
		t.Error("few samples: the peer may have let its ACKs wait")
	}
	now = p.delays(now, 1, 63, 70, 80)
	if !p.standing() {
		t.Error("longer than any such wait")
	}
	now = p.delays(now, 1, 60, 70, 80, 80, 80, 80, 80, 80)
	if !p.standing() {
		t.Error("10 ms at least")
	}
	now = p.delays(now, 1, 55, 70, 80)
	if p.standing() {
		t.Error("5 ms are a timer's")
	}
	p.endRound()
	if p.lastRound != 55*time.Millisecond {
		t.Error("a round without a sample tells nothing")
	}
	p.add(now, 0)
	if p.samples != 0 {
		t.Error("0 is no sample")
	}
}

func TestAQueueThatBuildsUpShowsWithinTheRound(t *testing.T) {
	var p pathDelay
	now := p.delays(1, 1, 50)
	for i := range buildingSamples {
		if p.building() {
			t.Fatalf("after %d samples", i)
		}
		p.add(now, 60*time.Millisecond)
	}
	if !p.building() {
		t.Error("not seen")
	}
	p.add(now, 51*time.Millisecond)
	if p.building() {
		t.Error("it was empty in between")
	}
}

func TestLossesThatComeWithTheQueueTell(t *testing.T) {
	t.Logf("# a path that loses at random, whatever its queue")
	var p pathDelay
	now := monotime.Time(1)
	for i := range 200 {
		now = p.delays(now, 1, 50, 50, 50, 62)
		p.add(now, 50*time.Millisecond)
		if i%4 == 0 {
			p.add(now, 62*time.Millisecond)
		}
		p.lost()
	}
	if p.telling() {
		t.Errorf("usual %v, at losses %v", p.usual, p.atLoss)
	}
	t.Logf("# a short queue that overflows")
	p = pathDelay{}
	for range 200 {
		now = p.delays(now, 1, 50, 50, 50, 62)
		p.add(now, 62*time.Millisecond)
		p.lost()
	}
	if !p.telling() || !p.long() {
		t.Errorf("usual %v, at losses %v", p.usual, p.atLoss)
	}
	p.add(now, 50*time.Millisecond)
	if p.long() {
		t.Error("now it is empty")
	}
}

func TestTheLeastRoundTripIsReplacedWhenStale(t *testing.T) {
	var p pathDelay
	if p.stale(1) {
		t.Error("none yet")
	}
	now := p.delays(1, 1, 50)
	now = now.Add(minFresh)
	if p.stale(now) {
		t.Error("too early")
	}
	p.add(now, 53*time.Millisecond)
	if p.stale(now.Add(minFresh)) {
		t.Error("something like it was seen")
	}
	now = now.Add(2 * minFresh)
	if !p.stale(now) {
		t.Error("not seen for long")
	}
	p.endRound()
	p.add(now, 90*time.Millisecond)
	p.add(now, 80*time.Millisecond)
	p.add(now, 85*time.Millisecond)
	if p.replace(now); p.min != 80*time.Millisecond || p.stale(now) {
		t.Errorf("%v, the least of the round is 80 ms", p.min)
	}
	p.endRound()
	if p.replace(now); p.min != 85*time.Millisecond {
		t.Errorf("%v, the latest is 85 ms", p.min)
	}
}
