package lab

import (
	"math/rand/v2"
	"testing"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestTheTimelineKeepsOrder(t *testing.T) {
	var tl timeline
	rng := rand.New(rand.NewPCG(1, 2))
	var last event
	pops := 0
	for pushes := 0; pushes < 5000 || len(tl.h) > 0; {
		if pushes < 5000 && (len(tl.h) == 0 || rng.IntN(5) > 1) {
			tl.push(event{at: last.at + monotime.Time(rng.IntN(20))})
			pushes++
			continue
		}
		next := tl.next()
		e := tl.pop()
		if e.at != next || e.at < last.at || e.at == last.at && e.order < last.order {
			t.Fatalf("event %d of %v after event %d of %v", e.order, e.at, last.order, last.at)
		}
		last = e
		pops++
	}
	if pops != 5000 || tl.next() != monotime.Never {
		t.Errorf("%d events came out", pops)
	}
}
