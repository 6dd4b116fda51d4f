package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

func TestStatsCountWhatHappened(t *testing.T) {
	p := connectedPair(t, func(client, server *Config) { client.Timing.Ping = defaultPing })
	p.server.deaf = true
	p.client.say(parcel(1, 100), protocol.ReliableOrdered, 0)
	p.client.say(parcel(2, 5000), protocol.ReliableOrdered, 0)
	p.run(10 * time.Second)
	var c, s Stats
	p.client.Stats(&c)
	p.server.Stats(&s)
	require.EqualValues(t, 2, c.MessagesSent)
	require.Equal(t, 2, s.UnreadMessages)
	require.Greater(t, s.UnreadBytes, 5100+4*pool.Overhead)
	require.Less(t, s.UnreadBytes, 11_000)
	require.Equal(t, s.UnreadBytes, p.server.Unread())
	require.EqualValues(t, p.client.sent, c.DatagramsSent)
	require.EqualValues(t, p.client.bytes, c.BytesSent)
	require.Equal(t, c.DatagramsSent, s.DatagramsReceived)
	require.Positive(t, c.PingsSent)
	require.Equal(t, c.PingsSent, s.PongsSent)
	require.Positive(t, c.RTT)
}
