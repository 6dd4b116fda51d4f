package endpoint

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// stray is a peer that follows no protocol but the test's.
type stray struct {
	r  *rig
	pc *netsim.PacketConn
}

func (r *rig) stray(address string) *stray {
	r.t.Helper()
	pc, err := r.net.Listen(netip.MustParseAddrPort(address))
	require.NoError(r.t, err)
	return &stray{r, pc}
}

func (s *stray) send(p []byte) {
	s.r.t.Helper()
	_, err := s.pc.WriteTo(p, net.UDPAddrFromAddrPort(s.r.at.AddrPort))
	require.NoError(s.r.t, err)
}

// hear returns the next offline packet within a second, or nil.
func (s *stray) hear() []byte {
	s.pc.SetReadDeadline(time.Now().Add(time.Second))
	for b := make([]byte, 2048); ; {
		n, _, err := s.pc.ReadFrom(b)
		if err != nil {
			return nil
		}
		if b[0]&0x80 == 0 {
			return b[:n]
		}
	}
}

// knock does the offline handshake, asking n times for the second reply.
func (s *stray) knock(guid int64, n int) (replies [][]byte) {
	s.r.t.Helper()
	first := wire.OpenRequest1{Version: 11, MTU: 1200}
	s.send(first.Append(nil))
	var reply wire.OpenReply1
	require.NoError(s.r.t, reply.Parse(s.hear()))
	second := wire.OpenRequest2{HasCookie: reply.Security, Cookie: reply.Cookie, Server: s.r.at.AddrPort, MTU: reply.MTU, GUID: guid}
	for range n {
		s.send(second.Append(nil))
		replies = append(replies, s.hear())
	}
	return replies
}

func TestARepeatedRequestGetsTheSameReply(t *testing.T) {
	bubble(t, func(r *rig) {
		replies := r.stray("10.0.0.2:1").knock(5, 3)
		require.Equal(t, byte(protocol.IDOpenConnectionReply2), replies[0][0])
		require.Equal(t, replies[0], replies[1])
		require.Equal(t, replies[0], replies[2])
		s := r.server.Stats()
		require.Equal(t, 1, s.HalfOpen)
		require.Zero(t, s.Connections)
	})
}

func TestHalfOpenConnectionsEndByTimeAndByNumber(t *testing.T) {
	bubble(t, func(r *rig) {
		for i := range 6 {
			r.stray(fmt.Sprintf("10.0.0.2:%d", i+1)).knock(int64(i), 1)
		}
		s := r.server.Stats()
		require.Equal(t, 4, s.HalfOpen)
		require.Equal(t, uint64(2), s.Evicted)
		time.Sleep(11 * time.Second)
		r.stray("10.0.0.3:1").knock(1, 1)
		require.Equal(t, 1, r.server.Stats().HalfOpen)
		t.Log("# a real client gets in whatever the others left behind")
		r.dial("10.0.0.2:5000")
		synctest.Wait()
		require.Equal(t, 1, r.server.Stats().HalfOpen)
	}, func(c *Config) { c.HalfOpenPerIP = 4 })
}

func TestAPeerThatStartsAnewReplacesItsSilentConnection(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.dial("10.0.0.2:1")
		at := client.Endpoint()
		time.Sleep(time.Second)
		t.Log("# the process dies without a word and its successor has the same port")
		at.sock.Close()
		time.Sleep(time.Second)
		s := r.stray("10.0.0.2:1")
		require.Equal(t, byte(protocol.IDAlreadyConnected), s.knock(8, 1)[0][0], "silent for too short a time")
		require.NoError(t, server.Cause())
		time.Sleep(1200 * time.Millisecond)
		t.Log("# a peer of this library may be silent for so long: it is asked first")
		require.Nil(t, s.knock(8, 1)[0])
		require.EqualValues(t, 1, r.server.Stats().Dropped[offline.DropAsked.String()])
		require.NoError(t, server.Cause())
		time.Sleep(time.Second)
		require.Equal(t, byte(protocol.IDOpenConnectionReply2), s.knock(8, 1)[0][0])
		require.ErrorIs(t, server.Cause(), ErrReplaced)
		_, err := server.ReadPacket()
		require.ErrorIs(t, err, ErrReplaced)
		require.Equal(t, 1, r.server.Stats().HalfOpen)
		t.Log("# another start during the handshake")
		require.Equal(t, byte(protocol.IDOpenConnectionReply2), s.knock(9, 1)[0][0])
		require.Equal(t, 1, r.server.Stats().HalfOpen)
	})
}

// An idle peer of this library answers, and stays, whoever comes from its address.
func TestAnIdlePeerIsNotReplaced(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.dial("10.0.0.2:1")
		time.Sleep(time.Minute)
		asked := 0
		for range 200 {
			time.Sleep(370 * time.Millisecond)
			switch server.standing(r.server.clock.Now(), 8, true) {
			case standingForlorn:
				t.Fatal("taken for dead")
			case standingAsked:
				asked++
			}
			r.server.tx.flush(leadBatches)
		}
		require.NotZero(t, asked)
		require.NoError(t, server.Cause())
		require.NoError(t, client.Cause())
	})
}

func TestAnAddressIsFreeAgainAfterItsConnectionEnded(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.dial("10.0.0.2:1")
		client.Abort(nil)
		client.Endpoint().Close()
		time.Sleep(100 * time.Millisecond)
		require.ErrorIs(t, server.Cause(), session.ErrDisconnected)
		t.Log("# while the old one still lingers")
		again, other := r.dial("10.0.0.2:1")
		r.write(again, "\xfe")
		r.read(other)
		t.Log("# and after the old one is buried")
		time.Sleep(8 * time.Second)
		r.write(again, "\xfe")
		r.read(other)
	})
}

func TestPings(t *testing.T) {
	bubble(t, func(r *rig) {
		r.server.SetPong([]byte("MCPE;hello"))
		client := r.client("10.0.0.2:1")
		p, err := client.Ping(context.Background(), r.at)
		require.NoError(t, err)
		require.Equal(t, "MCPE;hello", string(p.Data))
		require.Equal(t, int64(99), p.GUID)
		require.Equal(t, 2*oneWay, p.RTT)

		t.Log("# repeated until it is answered, or the context ends")
		r.net.SetDefault(netsim.Link{Loss: 1})
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		ping := start(func() error { _, err := client.Ping(ctx, r.at); return err })
		require.True(t, ping.blocked())
		require.ErrorIs(t, ping.wait(), context.DeadlineExceeded)

		t.Log("# a connected client may ping as well")
		r.net.SetDefault(netsim.Link{Delay: oneWay})
		c := r.dialFrom(client)
		_, err = client.Ping(context.Background(), r.at)
		require.NoError(t, err)
		require.NoError(t, c.Cause())

		t.Log("# a flood is answered as far as the budget goes")
		flood := r.stray("10.9.0.1:1")
		question := (&wire.UnconnectedPing{HasGUID: true, GUID: 3}).Append(nil)
		for range 500 {
			flood.send(question)
		}
		time.Sleep(50 * time.Millisecond)
		s := r.server.Stats()
		require.Less(t, s.Pongs, uint64(50))
		require.NotZero(t, s.PongsSuppressed)
	})
}

func TestTheBudgetOfPongsIsTheUsers(t *testing.T) {
	for _, tc := range []struct {
		change func(*Config)
		want   uint64
	}{
		{func(*Config) {}, 40},
		{func(c *Config) { c.PongRate = 5 }, 10},
		{func(c *Config) { c.PongRate, c.PongRateTotal = -1, 7 }, 14},
		{func(c *Config) { c.PongRate, c.PongRateTotal = -1, -1 }, 100},
	} {
		bubble(t, func(r *rig) {
			ping := wire.UnconnectedPing{HasGUID: true, GUID: 1}
			s := r.stray("10.0.0.9:1")
			for range 100 {
				s.send(ping.Append(nil))
			}
			time.Sleep(oneWay)
			synctest.Wait()
			require.Equal(t, tc.want, r.server.Stats().Pongs)
		}, tc.change)
	}
}

func TestThePongFunctionIsAsked(t *testing.T) {
	bubble(t, func(r *rig) {
		p, err := r.client("10.0.0.2:1").Ping(context.Background(), r.at)
		require.NoError(t, err)
		require.Equal(t, "10.0.0.2:1", string(p.Data))
	}, func(c *Config) {
		c.Pong = func(q *PingRequest) []byte { return []byte(q.Peer.AddrPort.String()) }
	})
}

func TestBlockedPrefixesAreNotHeard(t *testing.T) {
	bubble(t, func(r *rig) {
		r.server.Block(netip.MustParsePrefix("10.0.0.0/24"), 5*time.Second)
		begin := time.Now()
		client := r.client("10.0.0.2:1")
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_, err := client.Dial(ctx, r.at, DialConfig{})
		require.NoError(t, err)
		require.Greater(t, time.Since(begin), 5*time.Second)
		require.NotZero(t, r.server.Stats().Dropped["blocked"])
	})
}

func TestStraysCannotTouchAConnection(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		s := r.stray("10.0.0.3:1")
		for _, p := range [][]byte{{}, {0x15}, {0x84, 0, 0, 0}, {0xc0, 0, 1, 1, 0, 0, 0}, []byte("GET / HTTP/1.1"), make([]byte, 1500)} {
			s.send(p)
		}
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, uint64(2), r.server.Stats().Dropped["no session"])
		r.write(client, "\xfe")
		r.read(server)
	})
}
