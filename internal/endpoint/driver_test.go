package endpoint

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/monotime"
)

var seed = flag.Uint64("seed", 1, "of random tests")

func TestTheDriversHeap(t *testing.T) {
	t.Logf("-seed=%d", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 0))
	synctest.Test(t, func(t *testing.T) {
		var d driver
		d.init(monotime.NewClock(), func() bool { return false })
		conns := make([]Conn, 500)
		want := map[*Conn]monotime.Time{}
		for range 20_000 {
			c := &conns[rnd.IntN(len(conns))]
			switch rnd.IntN(10) {
			case 0:
				d.disarm(c)
				delete(want, c)
			case 1:
				now := monotime.Time(rnd.IntN(1000))
				for _, c := range d.popDue(now, nil) {
					require.LessOrEqual(t, want[c], now)
					delete(want, c)
				}
			default:
				at := monotime.Time(1 + rnd.IntN(100_000))
				d.arm(1, c, at)
				if old, ok := want[c]; !ok || at < old {
					want[c] = at
				}
			}
			require.Equal(t, len(want), len(d.heap))
			for c := range want {
				require.Same(t, c, d.heap[c.place-1].c, "it knows its place")
			}
		}
		last := monotime.Time(0)
		for len(d.heap) > 0 {
			first := d.heap[0]
			require.Equal(t, want[first.c], first.at, "armed moments only come closer")
			require.GreaterOrEqual(t, first.at, last)
			last = first.at
			d.disarm(first.c)
			require.Zero(t, first.c.place)
		}
		d.arm(1, &conns[0], monotime.Never)
		require.Empty(t, d.heap)
		d.timer.Stop()
	})
}

func TestAnIdleConnectionWakesNobodyBetweenItsPings(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		time.Sleep(5 * time.Second)
		before := r.server.Stats()
		time.Sleep(time.Minute)
		after := r.server.Stats()
		require.Less(t, after.DatagramsSent-before.DatagramsSent, uint64(150))
		require.NoError(t, client.Cause())
		require.NoError(t, server.Cause())
	})
}

func TestWhatFallsDueTogetherLeavesTogether(t *testing.T) {
	bubble(t, func(r *rig) {
		for i := range 100 {
			r.dial(fmt.Sprintf("10.0.1.%d:1", i+1))
		}
		time.Sleep(10 * time.Second)
		before := r.server.Stats()
		for c := range r.server.Conns() {
			c.mu.Lock()
			r.server.driver.arm(r.server.clock.Now(), c, r.server.clock.Now())
			c.mu.Unlock()
		}
		time.Sleep(10 * time.Second)
		after := r.server.Stats()
		require.Equal(t, 100, after.Connections)
		require.NotZero(t, after.DatagramsSent-before.DatagramsSent)
	})
}
