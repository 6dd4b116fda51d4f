package raknet_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

func TestSeveralSocketsAreOneListener(t *testing.T) {
	settled(t)
	l, err := raknet.ListenConfig{Sockets: 4, MaxConnections: 20}.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	l.PongData([]byte("one of four"))
	var clients []*raknet.Conn
	for i := range 20 {
		c, err := raknet.Dial(l.Addr().String())
		require.NoError(t, err)
		defer c.Close()
		clients = append(clients, c)
		s, err := l.AcceptContext(context.Background())
		require.NoError(t, err)
		go func() {
			for {
				b, err := s.ReadPacket()
				if err != nil {
					return
				}
				_, _ = s.Write(b)
			}
		}()
		pong, err := raknet.Ping(l.Addr().String())
		require.NoError(t, err)
		require.Equal(t, "one of four", string(pong), "ping %d", i)
	}
	_, err = raknet.DialTimeout(l.Addr().String(), 5*time.Second)
	var full *raknet.RejectedError
	require.ErrorAs(t, err, &full, "the bound is that of all sockets")
	require.Equal(t, raknet.RejectNoFreeSlots, full.Reason)

	for i, c := range clients {
		m := numbered(i, 50_000)
		_, err := c.Write(m)
		require.NoError(t, err)
	}
	for i, c := range clients {
		b, err := c.ReadPacket()
		require.NoError(t, err)
		require.Equal(t, digest(numbered(i, 50_000)), digest(b))
	}
	st := l.Stats()
	require.Equal(t, 20, st.Connections)
	require.Equal(t, uint64(20), st.Accepted)
	require.GreaterOrEqual(t, st.BytesReceived, uint64(20*50_000))
	count := 0
	for range l.Conns() {
		count++
	}
	require.Equal(t, 20, count)

	m := numbered(7, 100_000)
	for range l.Conns() {
		break // a loop may end early
	}
	for s := range l.Conns() {
		_, err := s.Write(m)
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, l.Shutdown(ctx))
	for _, c := range clients {
		b, err := c.ReadPacket()
		require.NoError(t, err, "Shutdown delivers what was written, on every socket")
		require.Equal(t, digest(m), digest(b))
	}
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestABlockHoldsOnEverySocket(t *testing.T) {
	settled(t)
	l, err := raknet.ListenConfig{Sockets: 3}.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	l.BlockFor(&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, time.Hour)
	for range 6 {
		_, err := raknet.PingTimeout(l.Addr().String(), 100*time.Millisecond)
		require.Error(t, err)
	}
	require.Zero(t, l.Stats().Pings)
}

func TestEveryOffloadCarriesABulk(t *testing.T) {
	for name, o := range map[string]raknet.Offload{"auto": raknet.OffloadAuto, "batch": raknet.OffloadBatch, "none": raknet.OffloadNone} {
		t.Run(name, func(t *testing.T) {
			settled(t)
			l, err := raknet.ListenConfig{Offload: o}.Listen("127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			c, err := raknet.Dialer{Offload: o}.Dial(l.Addr().String())
			require.NoError(t, err)
			defer c.Close()
			s, err := l.Accept()
			require.NoError(t, err)
			for i := range 3 {
				m := numbered(i, 1_000_000)
				_, err = c.Write(m)
				require.NoError(t, err)
				b, err := s.(*raknet.Conn).ReadPacket()
				require.NoError(t, err)
				require.Equal(t, digest(m), digest(b))
			}
		})
	}
}
