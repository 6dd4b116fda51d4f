package arq

import (
	"testing"
	"time"
)

// Whatever a lossy transfer made, an engine at rest has no more than one that has done
// nothing, and goes on from there.
func TestAnEngineAtRestHoldsNothingThatOnlyTrafficNeeds(t *testing.T) {
	w := newPair(t, 1, Config{MTU: 1492}, path{delay: 5 * time.Millisecond, loss: 0.05, reorder: 0.05, reorderBy: 3 * time.Millisecond})
	for range 3 {
		bulk(t, w, 300, 3000, time.Minute)
		w.runUntil(time.Minute, w.end[0].Drained)
		w.now = w.now.Add(restPause + time.Second)
		for i, e := range w.end {
			e.Advance(w.now)
			for b := e.Transmit(w.now); b != nil; b = e.Transmit(w.now) {
				b.Release()
			}
			e.Rest(w.now)
			if e.sent.slots != nil || e.free != nil || e.queue != nil || e.repeats.recent != nil {
				t.Errorf("end %d keeps what it sent with", i)
			}
			if e.ready != nil || e.arrivals.seen != nil || e.acks.ranges.spans != nil || e.acks.echoes != nil || e.reasm != nil ||
				e.nacks.gaps != nil || e.reliable.above != nil || e.order.zero.held != nil || e.order.hold.store != nil {
				t.Errorf("end %d keeps what it received with", i)
			}
		}
	}
}
