package netsim

import (
	"math/rand/v2"
	"testing"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestEventsHappenByTimeAndThenAsPlanned(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var q eventHeap
	pushed, popped := 0, 0
	var now monotime.Time
	var last event
	for pushed < 20000 || q.len() > 0 {
		if pushed < 20000 && (q.len() == 0 || r.IntN(100) < 55) {
			q.push(event{at: now + monotime.Time(r.IntN(20))})
			pushed++
			continue
		}
		if next := q.peek(); next.at < now {
			t.Fatalf("event of %d at %d", next.at, now)
		}
		e := q.pop()
		if popped > 0 && !before(&last, &e) {
			t.Fatalf("(%d, %d) after (%d, %d)", e.at, e.order, last.at, last.order)
		}
		last, now = e, e.at
		popped++
	}
	if popped != pushed || q.peek() != nil {
		t.Fatalf("%d events of %d", popped, pushed)
	}
}
