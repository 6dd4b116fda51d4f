package endpoint

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// perDatagram sends messages of a megabyte and returns the mean length of the datagrams of the last ones.
func perDatagram(t *testing.T, client, server *Conn) int {
	t.Helper()
	const each, size = 4, 1 << 20
	var before Stats
	for round := range 2 {
		before = client.ep.stats()
		done := make(chan error, 1)
		go func() {
			for range each {
				if _, err := client.Write(message(size, 0xfe)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		p := make([]byte, size)
		for range each {
			n, err := server.Read(p)
			require.NoError(t, err, round)
			require.Equal(t, size, n)
			require.Equal(t, message(size, 0xfe), p)
		}
		require.NoError(t, <-done)
	}
	after := client.ep.stats()
	return int((after.BytesSent - before.BytesSent) / (after.DatagramsSent - before.DatagramsSent))
}

// Two of this library on one machine fill several times as much of a datagram as a network would take, where both can
// receive that.
func TestATransferOnOneMachineIsWide(t *testing.T) {
	client, server := loopback(t, nil)
	mean := perDatagram(t, client, server)
	if udp.Longest(client.ep.sock) >= arq.WideMTU {
		require.Greater(t, mean, 4000)
	} else {
		require.LessOrEqual(t, mean, protocol.MaxMTU)
	}
	require.Equal(t, protocol.MaxMTU, client.MTU(), "what was agreed on stays so")
}

func TestAnMTUThatWasChosenIsKept(t *testing.T) {
	client, server := loopback(t, func(c *Config) { c.MaxMTU = 1200 })
	require.LessOrEqual(t, perDatagram(t, client, server), 1200)
}

// What is longer than any datagram of a network is taken from those who may send it only.
func TestALongDatagramOfAStrangerIsDropped(t *testing.T) {
	client, server := loopback(t, func(c *Config) { c.Pong = func(*PingRequest) []byte { return []byte("pong") } })
	c, err := net.Dial("udp", server.ep.LocalAddr().String())
	require.NoError(t, err)
	defer c.Close()
	long := make([]byte, 5000)
	ping := wire.UnconnectedPing{Time: 1, GUID: 2, HasGUID: true}
	copy(long, ping.Append(nil))
	_, err = c.Write(long)
	require.NoError(t, err)
	_, err = c.Write(ping.Append(nil))
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(5*time.Second)))
	var pong [500]byte
	n, err := c.Read(pong[:])
	require.NoError(t, err)
	require.Equal(t, byte(protocol.IDUnconnectedPong), pong[0])
	require.Less(t, n, 500)
	s := server.ep.stats()
	require.EqualValues(t, 1, s.Pongs, "one ping of two")
	if udp.Longest(server.ep.sock) >= arq.WideMTU {
		require.EqualValues(t, 1, s.Dropped["too long"])
	}
	require.NoError(t, client.Cause())
}

// It makes no connection of one whose handshake it ends either.
func TestALongDatagramOfAGuestIsDropped(t *testing.T) {
	_, server := loopback(t, func(c *Config) {
		c.MaxMTU = 1400
		c.Pong = func(*PingRequest) []byte { return []byte("pong") }
	})
	l := server.ep
	at := l.LocalAddr().(*net.UDPAddr).AddrPort()
	c, err := net.Dial("udp", at.String())
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	var client offline.Client
	client.Init(l.clock.Now(), &offline.ClientConfig{GUID: 7, ServerAddr: at})
	answer := make([]byte, 2000)
	for done := false; !done; {
		for b, _ := client.Transmit(l.clock.Now(), make([]byte, 0, 2000)); b != nil; b, _ = client.Transmit(l.clock.Now(), make([]byte, 0, 2000)) {
			_, err := c.Write(b)
			require.NoError(t, err)
		}
		n, err := c.Read(answer)
		require.NoError(t, err)
		client.Receive(l.clock.Now(), answer[:n])
		_, done, err = client.Result()
		require.NoError(t, err)
	}
	connections := l.cfg.Budget.n.Load()
	body := append((&wire.ConnectionRequest{GUID: 7}).Append(nil), make([]byte, 3000)...)
	b := wire.AppendFrameHeader(wire.AppendDatagramHeader(nil, wire.FrameSetID, 0), &wire.Frame{Reliability: protocol.ReliableOrdered}, len(body))
	_, err = c.Write(append(b, body...))
	require.NoError(t, err)
	ping := wire.UnconnectedPing{Time: 1, GUID: 2, HasGUID: true}
	_, err = c.Write(ping.Append(nil))
	require.NoError(t, err)
	n, err := c.Read(answer)
	require.NoError(t, err)
	require.Equal(t, byte(protocol.IDUnconnectedPong), answer[:n][0], "what came before was seen")
	require.Equal(t, connections, l.cfg.Budget.n.Load())
	if udp.Longest(l.sock) >= arq.WideMTU {
		require.EqualValues(t, 1, l.stats().Dropped["too long"])
	}
}
