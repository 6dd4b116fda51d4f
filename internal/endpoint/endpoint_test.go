package endpoint

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAMessageGoesThereAndBack(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		require.Equal(t, int64(7), server.GUID())
		require.Equal(t, int64(99), client.GUID())
		require.Equal(t, 1492, client.MTU())
		require.Equal(t, byte(11), server.Version())
		begin := time.Now()
		r.write(client, "\xfehello")
		require.Equal(t, "\xfehello", r.read(server))
		require.Equal(t, oneWay, time.Since(begin), "an idle connection sends in the call")
		r.write(server, "\xfeworld")
		require.Equal(t, "\xfeworld", r.read(client))
		require.Equal(t, 2*oneWay, time.Since(begin))
	})
}

func TestAThousandMessagesKeepTheirOrder(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		go func() {
			for i := range 1000 {
				r.write(client, fmt.Sprintf("\xfe%d", i))
			}
		}()
		for i := range 1000 {
			require.Equal(t, fmt.Sprintf("\xfe%d", i), r.read(server))
		}
		s := client.Stats()
		require.Less(t, s.DatagramsSent, uint64(300), "a burst is packed")
	})
}

func TestLargeMessagesAreCutAndPutTogether(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		for _, n := range []int{1432, 1433, 50_000, 1 << 20} {
			want := message(n, 0xfe)
			sent := start(func() error { _, err := client.Write(want); return err })
			got, err := server.ReadPacket()
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.NoError(t, sent.wait())
		}
	})
}

func TestCloseOfAnEndpointTellsEverybody(t *testing.T) {
	bubble(t, func(r *rig) {
		var clients []*Conn
		for i := range 50 {
			c, _ := r.dial(fmt.Sprintf("10.0.1.%d:4000", i+1))
			clients = append(clients, c)
		}
		require.Equal(t, 50, r.server.Stats().Connections)
		begin := time.Now()
		require.NoError(t, r.server.Close())
		require.Zero(t, time.Since(begin))
		for _, c := range clients {
			_, err := c.ReadPacket()
			require.Error(t, err)
			require.Equal(t, oneWay, time.Since(begin))
		}
		_, err := r.server.Accept(context.Background())
		require.ErrorIs(t, err, net.ErrClosed)
	})
}
