package endpoint

import (
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/internal/wire"
)

// Where the system joins datagrams of one sender, each of them has a header of its own.
func TestJoinedDatagramsOfAProxyAreUnwrappedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSocket()
		e, err := New(s, Config{Accepting: true, Proxies: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/16")}, PongRate: 1})
		require.NoError(t, err)
		synctest.Wait() // the reader rests in the socket
		var list [][]byte
		for _, client := range []string{"203.0.113.9", "203.0.113.8", "203.0.113.7"} {
			list = append(list, append([]byte("PROXY UDP4 "+client+" 10.0.0.1 40010 19132\r\n"), (&wire.UnconnectedPing{HasGUID: true}).Append(nil)...))
		}
		in := []udp.Inbound{inbound("10.77.0.1:5", list...), inbound("10.77.0.1:6", list[0][:20])}
		e.process(e.clock.Now(), in)
		st := e.Stats()
		require.Equal(t, uint64(4), st.DatagramsReceived)
		require.Equal(t, uint64(3), st.Pings)
		require.Equal(t, uint64(2), st.Pongs, "of one network only two at once")
		require.Equal(t, uint64(1), st.Dropped["proxy"])
		require.Len(t, s.sent, 2)
		for i := range in {
			in[i].Buf.Release()
		}
		e.Close()
	})
}

func TestAListenerTrustsNobodyUnlessToldTo(t *testing.T) {
	bubble(t, func(r *rig) {
		require.True(t, r.server.proxies.Empty())
		s := r.stray("10.0.0.9:1")
		s.send(append([]byte("PROXY UDP4 203.0.113.9 10.0.0.1 40010 19132\r\n"), (&wire.UnconnectedPing{HasGUID: true}).Append(nil)...))
		require.Nil(t, s.hear())
		require.Equal(t, uint64(1), r.server.Stats().Dropped["unknown"])
	})
}
