package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestTheFirstSampleSetsEverything(t *testing.T) {
	var r rttEstimator
	if r.rto() != initialRTO || r.flight() != initialRTO || r.least() != unknownLeast {
		t.Fatalf("before any sample: rto %v, flight %v, least %v", r.rto(), r.flight(), r.least())
	}
	r.add(1, 40*time.Millisecond)
	if r.srtt != 40*time.Millisecond || r.rttvar != 20*time.Millisecond || r.min != 40*time.Millisecond {
		t.Fatalf("srtt %v, rttvar %v, min %v", r.srtt, r.rttvar, r.min)
	}
	if want := 40*time.Millisecond + 80*time.Millisecond + assumedAckDelay; r.rto() != want {
		t.Fatalf("rto %v, want %v", r.rto(), want)
	}
}

func TestTheTimeoutLearnsThePeersTick(t *testing.T) {
	for _, tick := range []time.Duration{0, 10 * time.Millisecond, 100 * time.Millisecond} {
		var r rttEstimator
		now := monotime.Time(1)
		worst := time.Duration(0)
		for i := range 200 {
			sample := 20 * time.Millisecond
			if tick > 0 {
				sample += time.Duration(i) * 7 * time.Millisecond % tick
			}
			if i > 50 {
				worst = max(worst, sample)
				if r.rto() <= sample {
					t.Fatalf("tick %v: rto %v would fire before a sample of %v", tick, r.rto(), sample)
				}
			}
			now = now.Add(sample)
			r.add(now, sample)
		}
		if limit := worst*2 + 60*time.Millisecond + tick; r.rto() > limit {
			t.Errorf("tick %v: rto %v is above %v", tick, r.rto(), limit)
		}
	}
}

// The first datagrams of a connection are acknowledged at once, and so are those of a
// busy one. Then one comes alone, and its ACK waits.
func TestPromptAcksDoNotTeachThatThePeerNeverWaits(t *testing.T) {
	var r rttEstimator
	now := monotime.Time(1)
	const roundTrip = 20 * time.Millisecond
	for range 100 {
		now = now.Add(roundTrip)
		r.add(now, roundTrip)
	}
	if r.rto() <= roundTrip+maxAckDelay {
		t.Errorf("rto %v fires before an ACK that takes %v", r.rto(), roundTrip+maxAckDelay)
	}
}

func TestTheLeastRoundTripIsForgotten(t *testing.T) {
	var r rttEstimator
	r.add(1, 10*time.Millisecond)
	now := monotime.Time(1)
	for range 200 {
		now = now.Add(100 * time.Millisecond)
		r.add(now, 80*time.Millisecond)
	}
	if r.min != 80*time.Millisecond {
		t.Errorf("the path changed 20 s ago, and the least round trip is still %v", r.min)
	}
	if r.add(now, 0); r.latest <= 0 {
		t.Error("a sample of nothing must count as something")
	}
	for range 50 {
		r.add(now, time.Minute)
	}
	if r.rto() != maxRTO {
		t.Errorf("rto %v is not capped", r.rto())
	}
}
