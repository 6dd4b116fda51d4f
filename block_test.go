package raknet_test

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/protocol"
)

func TestPrefixesAreBlockedListedAndUnblocked(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		inside, outside := w.stranger("192.0.2.77:1"), w.stranger("192.0.3.77:1")
		answered := func(s *stranger) bool { s.send(pingDatagram); return s.hearOne() != nil }
		network := netip.MustParsePrefix("192.0.2.0/24")
		require.True(w, answered(inside))

		w.listener.BlockPrefix(network, time.Hour)
		w.listener.BlockPrefix(netip.MustParsePrefix("2001:db8::/32"), raknet.BlockForever)
		w.listener.BlockPrefix(netip.Prefix{}, time.Hour)
		w.listener.BlockPrefix(netip.MustParsePrefix("192.0.3.0/24"), -time.Second)
		require.False(w, answered(inside))
		require.True(w, answered(outside))
		require.EqualValues(w, 1, w.listener.Stats().DroppedOffline["blocked"])
		blocked := maps.Collect(w.listener.Blocked())
		require.Len(w, blocked, 2)
		require.Greater(w, blocked[network], 59*time.Minute)
		require.LessOrEqual(w, blocked[network], time.Hour)
		for range w.listener.Blocked() {
			break
		}

		require.False(w, w.listener.Unblock(netip.MustParsePrefix("192.0.2.77/32")), "exactly the prefix")
		require.True(w, w.listener.Unblock(network))
		require.False(w, w.listener.Unblock(network))
		require.True(w, answered(inside))

		w.listener.BlockPrefix(network, time.Minute)
		w.pass(time.Minute)
		require.True(w, answered(inside), "blocks end")
		w.pass(100 * 365 * 24 * time.Hour)
		require.Len(w, maps.Collect(w.listener.Blocked()), 1, "but those for ever")
	})
}

func TestTheTableOfBlocksIsBounded(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		for i := range 5000 {
			w.listener.BlockPrefix(netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}), 32), time.Hour+time.Duration(i)*time.Second)
		}
		blocked := maps.Collect(w.listener.Blocked())
		require.Len(w, blocked, 4096)
		require.NotContains(w, blocked, netip.MustParsePrefix("192.0.0.1/32"), "what would end soonest made room")
		require.Contains(w, blocked, netip.MustParsePrefix("192.0.19.135/32"))
	})
}

func TestWhoIsExemptIsHeardWhateverIsBlocked(t *testing.T) {
	conf := raknet.ListenConfig{Exempt: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/28")}, PongRate: 1}
	story(t, good, conf, func(w *world) {
		w.listener.BlockPrefix(netip.MustParsePrefix("0.0.0.0/0"), time.Hour)
		exempt, other := w.stranger("192.0.2.1:1"), w.stranger("192.0.2.16:1")
		for range 50 {
			exempt.send(pingDatagram)
			other.send(pingDatagram)
		}
		require.Len(w, exempt.hear(time.Second), 50, "nor has it a budget of its own")
		require.Empty(w, other.hear(time.Second))
	})
}

func TestAHostHasItsShareOfConnections(t *testing.T) {
	conf := raknet.ListenConfig{MaxPerIP: 2, Exempt: []netip.Prefix{netip.MustParsePrefix("10.5.5.5/32")}}
	story(t, good, conf, func(w *world) {
		first := w.malloryFrom("10.66.6.6:1")
		w.malloryFrom("10.66.6.6:2")
		third := w.stranger("10.66.6.6:3")
		require.Equal(w, byte(protocol.IDNoFreeConnections), third.knock(3)[0])
		w.malloryFrom("10.66.6.7:1")
		require.NoError(w, first.victim.Close())
		w.pass(10 * time.Second)
		require.Equal(w, byte(protocol.IDOpenConnectionReply2), third.knock(3)[0])
		for i := range 5 {
			w.malloryFrom(fmt.Sprintf("10.5.5.5:%d", i+1))
		}
	})
}

// Who has more handshakes under way than connections are left gets no more of them.
func TestTheShareOfAHostHoldsForHandshakesThatRace(t *testing.T) {
	story(t, good, raknet.ListenConfig{MaxPerIP: 2}, func(w *world) {
		var list []*mallory
		for i := range 5 {
			m := w.mallory(fmt.Sprintf("10.66.6.6:%d", i+1))
			require.Equal(w, byte(protocol.IDOpenConnectionReply2), m.knock(1)[0])
			list = append(list, m)
		}
		for _, m := range list {
			go m.listen()
			m.connect()
		}
		w.pass(time.Second)
		require.Equal(w, 2, w.listener.Stats().Connections)
		told := 0
		for _, m := range list {
			if len(m.sent(protocol.IDDisconnect)) > 0 {
				told++
			}
		}
		require.Equal(w, 3, told)
		for range 2 {
			c, err := w.listener.AcceptContext(w.Context())
			require.NoError(w, err)
			require.NoError(w, c.Close())
		}
	})
}

func TestHandshakesUnderWayAreBoundedByHostAndInAll(t *testing.T) {
	story(t, good, raknet.ListenConfig{MaxHalfOpen: 6, MaxHalfOpenPerIP: 3}, func(w *world) {
		for i := range 10 {
			w.stranger(fmt.Sprintf("10.66.6.6:%d", i+1)).knock(int64(i))
		}
		require.Equal(w, 3, w.listener.Stats().HalfOpen)
		require.EqualValues(w, 7, w.listener.Stats().Evicted)
		for i := range 10 {
			w.stranger(fmt.Sprintf("10.66.7.%d:1", i+1)).knock(int64(i))
		}
		require.Equal(w, 6, w.listener.Stats().HalfOpen)
		start := time.Now()
		client, _ := w.dial(raknet.Dialer{})
		require.Less(w, time.Since(start), time.Second, "others get in all the same")
		require.NoError(w, client.Context().Err())
		w.pass(20 * time.Second)
		w.stranger("10.66.8.1:1").send(pingDatagram)
		w.pass(time.Second)
		require.Zero(w, w.listener.Stats().HalfOpen, "and the others end by themselves")
	})
}

// Pings of many networks, as forgers would send them.
func TestPongsAreBoundedByNetworkAndInAll(t *testing.T) {
	story(t, good, raknet.ListenConfig{PongRate: 5, PongRateTotal: 50}, func(w *world) {
		w.listener.PongData(make([]byte, 2000))
		one := w.stranger("192.0.2.1:1")
		for range 100 {
			one.send(pingDatagram)
		}
		pongs := one.hear(500 * time.Millisecond)
		require.Len(w, pongs, 10, "two seconds' worth")
		require.LessOrEqual(w, len(pongs[0]), 35+397)
		require.EqualValues(w, 90, w.listener.Stats().PongsSuppressed)
		heard := 0
		for i := range 100 {
			s := w.stranger(fmt.Sprintf("198.51.%d.1:1", i))
			for range 10 {
				s.send(pingDatagram)
			}
			heard += len(s.hear(50 * time.Millisecond))
		}
		require.LessOrEqual(w, heard, 100+5*50)
		require.GreaterOrEqual(w, heard, 5*50)
	})
}

func TestWhoIsNotAcceptedIsLetGo(t *testing.T) {
	story(t, good, raknet.ListenConfig{AcceptBacklog: 1}, func(w *world) {
		d := raknet.Dialer{UpstreamDialer: w.network}
		first, err := d.Dial(serverAddress)
		require.NoError(w, err)
		_, err = d.Dial(serverAddress)
		var rejected *raknet.RejectedError
		require.ErrorAs(w, err, &rejected)
		require.Equal(w, raknet.RejectNoFreeSlots, rejected.Reason)
		start := time.Now()
		<-first.Context().Done()
		require.InDelta(w, 10, time.Since(start).Seconds(), 1)
		var how *raknet.DisconnectError
		require.ErrorAs(w, context.Cause(first.Context()), &how)
		require.True(w, how.Remote)
		w.dial(raknet.Dialer{})
	})
}
