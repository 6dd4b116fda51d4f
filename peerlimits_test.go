package raknet_test

import (
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
)

func TestAMessageOverThePeersLimitIsRefusedWithItsNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		peer   raknet.PeerLimits
		limits raknet.Limits
		most   int
		limit  string
	}{
		"nothing said":      {raknet.PeerLimits{}, raknet.Limits{}, 2048, "PeerLimits"},
		"PocketMine":        {raknet.PeerPocketMine, raknet.Limits{}, 127, "PeerPocketMine"},
		"Cloudburst":        {raknet.PeerCloudburst, raknet.Limits{}, 2048, "PeerCloudburst"},
		"of one's own":      {raknet.PeerLimits{Name: "the old server", Fragments: 10}, raknet.Limits{}, 10, "the old server"},
		"Limits go first":   {raknet.PeerPocketMine, raknet.Limits{MaxFragments: 200}, 200, "Limits.MaxFragments"},
		"without any names": {raknet.PeerLimits{Fragments: 3}, raknet.Limits{}, 3, "PeerLimits"},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, good, raknet.ListenConfig{PeerLimits: c.peer, Limits: c.limits}, func(w *world) {
				client, server := w.dial(raknet.Dialer{PeerLimits: c.peer, Limits: c.limits})
				per := client.MTU() - 60
				for _, end := range []*raknet.Conn{client, server} {
					_, err := end.Write(message(c.most*per + 1))
					requireOp(w, err, "write")
					require.ErrorIs(w, err, raknet.ErrMessageTooLarge)
					e, ok := errors.AsType[*raknet.MessageSizeError](err)
					require.True(w, ok)
					require.Equal(w, &raknet.MessageSizeError{
						Size: c.most*per + 1, MaxSize: c.most * per, Fragments: c.most + 1, MaxFragments: c.most, Limit: c.limit,
					}, e)
					require.ErrorContains(w, err, c.limit)
					_, err = end.Send(w.Context(), message(c.most*per+1), raknet.SendOptions{Reliability: raknet.Reliable})
					require.ErrorIs(w, err, raknet.ErrMessageTooLarge)
				}
				go client.Write(message(c.most * per))
				b, err := server.ReadPacket()
				require.NoError(w, err)
				require.Len(w, b, c.most*per)
			})
		})
	}
}

// Between two of this library there is no bound but the receiver's own.
func TestPeersOfThisLibraryNeedNoLimits(t *testing.T) {
	story(t, netsim.Link{Delay: time.Millisecond}, raknet.ListenConfig{Limits: raknet.Limits{ReceiveFragments: 20_000, ReassemblyBytes: 64 << 20}}, func(w *world) {
		client, server := w.dial(raknet.Dialer{PeerLimits: raknet.PeerUnlimited})
		const size = 10_000 * 1432
		go client.Write(message(size))
		b, err := server.ReadPacket()
		require.NoError(w, err)
		require.Equal(w, message(size), b)
	})
}

// departures watches when datagrams leave an address.
type departures struct {
	mu sync.Mutex
	at map[netip.AddrPort][]time.Time
}

func (d *departures) watch(w *world) {
	d.at = map[netip.AddrPort][]time.Time{}
	w.network.SetFilter(func(from, _ netip.AddrPort, _ []byte) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.at[from] = append(d.at[from], time.Now())
		return false
	})
}

// most is the largest number of datagrams that left one address within a span.
func (d *departures) most(span time.Duration) (most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, at := range d.at {
		first := 0
		for i := range at {
			for at[i].Sub(at[first]) >= span {
				first++
			}
			most = max(most, i-first+1)
		}
	}
	return most
}

func TestTheRateOfDatagramsKeepsToThePeersLimit(t *testing.T) {
	fast := netsim.Link{Delay: 200 * time.Microsecond}
	transfer := func(w *world, d raknet.Dialer) (most int) {
		var left departures
		left.watch(w)
		client, server := w.dial(d)
		for range 20 {
			go client.Write(message(100_000))
		}
		for range 20 {
			b, err := server.ReadPacket()
			require.NoError(w, err)
			require.Len(w, b, 100_000)
		}
		return left.most(10 * time.Millisecond)
	}
	story(t, fast, raknet.ListenConfig{}, func(w *world) {
		require.Greater(w, transfer(w, raknet.Dialer{}), 200, "this path needs the limit")
	})
	story(t, fast, raknet.ListenConfig{PeerLimits: raknet.PeerPocketMine}, func(w *world) {
		require.LessOrEqual(w, transfer(w, raknet.Dialer{PeerLimits: raknet.PeerPocketMine}), 150)
	})
	story(t, fast, raknet.ListenConfig{PeerLimits: raknet.PeerCloudburst}, func(w *world) {
		require.LessOrEqual(w, transfer(w, raknet.Dialer{PeerLimits: raknet.PeerCloudburst}), 90)
	})
}
