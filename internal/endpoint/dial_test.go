package endpoint

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/protocol"
)

func TestADialEndsWithItsContext(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(netsim.Link{Loss: 1})
		e := r.client("10.0.0.2:1")
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer cancel()
		begin := time.Now()
		_, err := e.Dial(ctx, r.at, DialConfig{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 1500*time.Millisecond, time.Since(begin))
		require.True(t, isClosed(e.Done()))
		require.ErrorIs(t, e.Err(), context.DeadlineExceeded)
	})
}

func TestADialFindsAnMTUThatFits(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(netsim.Link{Delay: oneWay, MTU: 1300})
		client, server := r.pair()
		require.Equal(t, 1200, client.MTU())
		require.Equal(t, 1200, server.MTU())
		want := message(10_000, 0xfe)
		go client.Write(want)
		got, err := server.ReadPacket()
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestADialAsksForAFreshPort(t *testing.T) {
	bubble(t, func(r *rig) {
		lost := 0
		r.net.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
			if data[0] == byte(protocol.IDOpenConnectionReply2) && to.Port() == 1 {
				lost++
				return true
			}
			return false
		})
		_, err := r.client("10.0.0.2:1").Dial(context.Background(), r.at, DialConfig{})
		require.ErrorIs(t, err, ErrFreshPort)
		require.NotZero(t, lost)
		r.dial("10.0.0.2:2")
	})
}

func TestTheHandshakeTimesOut(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetFilter(func(from, to netip.AddrPort, data []byte) bool { return data[0]&0x80 != 0 })
		_, err := r.client("10.0.0.2:1").Dial(context.Background(), r.at, DialConfig{})
		require.ErrorIs(t, err, session.ErrHandshakeTimeout)
	})
}

func TestACancelledHandshakeSaysGoodbye(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
			return data[0]&0x80 != 0 && from.Port() == 19132
		})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := r.client("10.0.0.2:1").Dial(ctx, r.at, DialConfig{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(15 * time.Second)
		r.net.SetFilter(nil)
		r.stray("10.0.0.3:1").knock(1, 1) // lets the reader see to its notes
		require.Equal(t, 1, r.server.Stats().HalfOpen)
	})
}

func TestTwoVersionsMeet(t *testing.T) {
	bubble(t, func(r *rig) {
		client, _ := r.pair()
		require.Equal(t, byte(10), client.Version(), "falls back to what the server speaks")
		_, err := r.client("10.0.0.3:1").Dial(context.Background(), r.at, DialConfig{Version: 11})
		var mismatch *offline.VersionError
		require.ErrorAs(t, err, &mismatch)
		require.Equal(t, offline.VersionError{Client: 11, Server: 10}, *mismatch)
	}, func(c *Config) { c.Versions = []byte{10} })
}

func TestOneEndpointAcceptsAndDials(t *testing.T) {
	bubble(t, func(r *rig) {
		other := r.listen("10.0.0.9:19132", Config{GUID: 5, Accepting: true})
		out := r.dialFrom(other)
		in := r.accept()
		to := udp.Peer{AddrPort: netip.MustParseAddrPort("10.0.0.9:19132")}
		_, err := r.server.Dial(context.Background(), to, DialConfig{})
		require.ErrorIs(t, err, ErrInUse)
		r.write(out, "\xfea")
		require.Equal(t, "\xfea", r.read(in))
		third := r.client("10.0.0.3:1")
		c, err := third.Dial(context.Background(), to, DialConfig{})
		require.NoError(t, err)
		c2, err := other.Accept(context.Background())
		require.NoError(t, err)
		r.write(c2, "\xfeb")
		require.Equal(t, "\xfeb", r.read(c))
	})
}

func TestClosingTheEndpointEndsADial(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(netsim.Link{Loss: 1})
		e := r.client("10.0.0.2:1")
		dial := start(func() error { _, err := e.Dial(context.Background(), r.at, DialConfig{}); return err })
		require.True(t, dial.blocked())
		e.Close()
		require.ErrorIs(t, dial.wait(), net.ErrClosed)
	})
}

func TestServersWithoutCookiesAreDialed(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		r.write(client, "\xfe")
		r.read(server)
	}, func(c *Config) { c.NoCookies = true })
}
