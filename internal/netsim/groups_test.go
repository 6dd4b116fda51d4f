package netsim

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/protocol"
)

// Hundreds of split messages under way at once, of all priorities, on a path that loses
// a third: the receiver has room for as many unfinished ones as a sender begins.
func TestManySplitMessagesAtOnce(t *testing.T) {
	for seed := range uint64(6) {
		link := Link{Delay: 100 * time.Millisecond, Loss: 0.33}
		s := Scenario{Seed: seed, Cookies: true, Window: 1000, Clients: []ClientPlan{{
			Up: link, Down: link, MTU: 576,
			ToServer: Workload{Messages: 1200, After: 5 * time.Second, Burst: 1200, Every: time.Millisecond, Size: 1500, Modes: []protocol.Reliability{protocol.Reliable}},
		}}}
		s.Prepare()
		w := NewWorld(s)
		w.Trace(20)
		report, err := w.Run()
		if err == nil && report.Unroomed > 0 {
			t.Errorf("seed %d: %d datagrams were refused", seed, report.Unroomed)
		}
		if err != nil {
			for _, l := range w.Tail() {
				t.Log(l[:min(200, len(l))])
			}
			t.Fatalf("seed %d: %v; %v", seed, err, &report)
		}
	}
}
