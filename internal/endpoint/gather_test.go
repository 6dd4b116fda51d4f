package endpoint

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestATickOfAGameLeavesInFewCalls(t *testing.T) {
	bubble(t, func(r *rig) {
		var players, conns []*Conn
		for i := range 40 {
			c, s := r.dial(fmt.Sprintf("10.0.1.%d:5000", i+1))
			players, conns = append(players, c), append(conns, s)
		}
		time.Sleep(time.Second)
		before := r.server.Stats()
		for _, c := range conns {
			r.write(c, "\xfetick")
			if c == conns[0] {
				require.Equal(t, before.DatagramsSent+1, r.server.Stats().DatagramsSent, "the first leaves before the call returns")
			}
		}
		synctest.Wait()
		after := r.server.Stats()
		require.Equal(t, before.DatagramsSent+40, after.DatagramsSent, "none waits for time to pass")
		require.LessOrEqual(t, after.WriteBatches-before.WriteBatches, uint64(15))
		for _, c := range players {
			require.Equal(t, "\xfetick", r.read(c))
		}
	})
}

// Whatever the number of idle connections, the server wakes up a few times for each of the
// moments at which it pings.
func TestIdleConnectionsShareTheirWakeUps(t *testing.T) {
	bubble(t, func(r *rig) {
		for i := range 40 {
			r.dial(fmt.Sprintf("10.0.1.%d:5000", i+1))
			time.Sleep(17 * time.Millisecond)
		}
		time.Sleep(time.Minute) // the first datagrams of a connection are acknowledged at once
		before := r.server.Stats()
		time.Sleep(90 * time.Second)
		after := r.server.Stats()
		pings := 90 / 2.25 * 40
		require.InDelta(t, 2*pings, after.DatagramsSent-before.DatagramsSent, pings/10, "a ping, and the ACK of its answer")
		require.Less(t, after.WriteBatches-before.WriteBatches, (after.DatagramsSent-before.DatagramsSent)/2)
	})
}
