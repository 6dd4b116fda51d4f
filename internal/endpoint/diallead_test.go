package endpoint

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/protocol"
)

func TestADialReadsTheSocketItself(t *testing.T) {
	bubble(t, func(r *rig) {
		e := r.client("10.0.0.2:1")
		synctest.Wait()
		require.Equal(t, roleFree, e.role.is(), "nobody has a use for it")
		var holders []roleHolder
		r.net.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
			holders = append(holders, e.role.is())
			return false
		})
		c := r.dialFrom(e)
		for _, h := range holders {
			require.Equal(t, roleCaller, h)
		}
		require.GreaterOrEqual(t, len(holders), 7)
		r.net.SetFilter(nil)
		server := r.accept()
		r.write(server, "\xfe")
		time.Sleep(2*leadGrace + oneWay)
		synctest.Wait()
		require.Equal(t, roleBackground, e.role.is(), "as after a Read")
		require.Equal(t, "\xfe", r.read(c))
	})
}

func TestADialThatReadsIsCalledAway(t *testing.T) {
	for what, end := range map[string]func(e *Endpoint, cancel func()){
		"by its context":        func(_ *Endpoint, cancel func()) { cancel() },
		"by the endpoint's end": func(e *Endpoint, _ func()) { e.Close() },
	} {
		for _, silent := range []byte{byte(protocol.IDOpenConnectionReply1), byte(protocol.IDOpenConnectionReply2), 0x84} {
			bubble(t, func(r *rig) {
				r.net.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
					return from == r.at.AddrPort && data[0] == silent
				})
				e := r.client("10.0.0.2:1")
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				dial := start(func() error { _, err := e.Dial(ctx, r.at, DialConfig{}); return err })
				time.Sleep(333 * time.Millisecond)
				require.True(t, dial.blocked())
				require.Equal(t, roleCaller, e.role.is())
				begin := time.Now()
				end(e, cancel)
				err := dial.wait()
				require.Zero(t, time.Since(begin), what)
				if ctx.Err() != nil {
					require.ErrorIs(t, err, context.Canceled)
				} else {
					require.ErrorIs(t, err, net.ErrClosed)
				}
			})
		}
	}
}

func TestAPingReadsTheSocketItself(t *testing.T) {
	bubble(t, func(r *rig) {
		r.server.SetPong([]byte("pong"))
		lost := 0
		r.net.SetFilter(func(from, to netip.AddrPort, data []byte) bool { lost++; return lost < 4 })
		e := r.client("10.0.0.2:1")
		ping := start(func() error { _, err := e.Ping(context.Background(), r.at); return err })
		require.True(t, ping.blocked())
		require.Equal(t, roleCaller, e.role.is())
		require.NoError(t, ping.wait())
		require.Greater(t, lost, 4, "it asked again when its time had come")
	})
}

func TestWhoCannotBeCalledAwayLeavesTheReadingToTheBackground(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(netsim.Link{Loss: 1})
		e := r.client("10.0.0.2:1")
		e.lead = false
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		dial := start(func() error { _, err := e.Dial(ctx, r.at, DialConfig{}); return err })
		require.True(t, dial.blocked())
		require.Equal(t, roleBackground, e.role.is())
		require.ErrorIs(t, dial.wait(), context.DeadlineExceeded)
	})
}
