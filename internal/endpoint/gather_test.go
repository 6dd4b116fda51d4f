package endpoint

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/udp"
)

// heldSocket keeps a call that sends from returning until it is let go.
type heldSocket struct {
	udp.Socket
	hold atomic.Pointer[chan struct{}]
}

func (s *heldSocket) WriteBatch(out []udp.Outbound) (int, error) {
	if held := s.hold.Load(); held != nil {
		<-*held
	}
	return s.Socket.WriteBatch(out)
}

// The driver is held in its first call, so that nothing depends on which goroutine the
// processors run first.
func TestATickOfAGameLeavesInFewCalls(t *testing.T) {
	bubble(t, func(r *rig) {
		socket := &heldSocket{Socket: r.socket("10.0.0.3:19132")}
		server, err := New(socket, Config{GUID: 98, Accepting: true})
		require.NoError(r.t, err)
		r.ends = append(r.ends, server)
		r.server, r.at = server, udp.Peer{AddrPort: netip.MustParseAddrPort("10.0.0.3:19132")}
		var players, conns []*Conn
		for i := range 40 {
			c, s := r.dial(fmt.Sprintf("10.0.1.%d:5000", i+1))
			players, conns = append(players, c), append(conns, s)
		}
		time.Sleep(time.Second)
		before := server.Stats()
		release := make(chan struct{})
		for i, c := range conns {
			r.write(c, "\xfetick")
			if i == 0 {
				require.Equal(t, before.DatagramsSent+1, server.Stats().DatagramsSent, "the first leaves before the call returns")
				socket.hold.Store(&release)
			}
		}
		synctest.Wait()
		require.Equal(t, before.DatagramsSent+1, server.Stats().DatagramsSent, "no call of the user's waited for the socket")
		socket.hold.Store(nil)
		close(release)
		synctest.Wait()
		after := server.Stats()
		require.Equal(t, before.DatagramsSent+40, after.DatagramsSent, "none waits for time to pass")
		require.LessOrEqual(t, after.WriteBatches-before.WriteBatches, uint64(3), "the first, what the driver found, and what gathered meanwhile")
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
		asks := 90 / 4.5 * 40
		require.InDelta(t, asks*9/8, after.DatagramsSent-before.DatagramsSent, asks/10, "a question, and in one of eight cases the ACK of its answer")
		require.Less(t, after.WriteBatches-before.WriteBatches, (after.DatagramsSent-before.DatagramsSent)/2)
	})
}
