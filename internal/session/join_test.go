package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/protocol"
)

// What Send refuses does not join either, though a datagram with room for it waits; Send then says why.
func TestNothingJoinsThatSendRefuses(t *testing.T) {
	user := []byte("\xfeuser")
	waits := func(c *Conn) {
		require.NoError(t, c.Send(start, &arq.Message{Payload: user, Reliability: protocol.ReliableOrdered}))
	}
	r := connectedServer(t, Config{})
	require.False(t, r.Join(user, 0, protocol.PriorityHigh), "nothing waits")
	waits(&r.Conn)
	require.True(t, r.Join(user, 0, protocol.PriorityHigh))
	refused := 0
	for id := range 256 {
		r = connectedServer(t, Config{})
		waits(&r.Conn)
		payload := []byte{byte(id), 1, 2}
		joined := r.Join(payload, 0, protocol.PriorityHigh)
		err := r.Send(r.now, &arq.Message{Payload: payload, Reliability: protocol.ReliableOrdered})
		require.Equal(t, err == nil, joined, "identifier %#x: %v", id, err)
		if err != nil {
			refused++
		}
	}
	require.NotZero(t, refused)
	require.False(t, r.Join(nil, 0, protocol.PriorityHigh))
	require.False(t, r.Join(user, protocol.OrderingChannels, protocol.PriorityHigh))
	require.False(t, r.Join(user, 0, protocol.Priorities))

	t.Log("# nor after Close, while what was sent before is on its way")
	r = connectedServer(t, Config{})
	waits(&r.Conn)
	r.Close(r.now)
	require.Equal(t, Closing, r.State())
	require.False(t, r.Join(user, 0, protocol.PriorityHigh))
}

// A message may join one of the connection's own. It has been written all the same, and Close waits for it.
func TestWhatJoinedCountsAsWritten(t *testing.T) {
	for _, joins := range []bool{false, true} {
		r := connectedServer(t, Config{})
		r.autoAck = false
		r.sendControl(r.now, []byte{byte(protocol.IDDetectLostConnections)}, protocol.ReliableOrdered, protocol.PriorityHigh)
		if joins {
			require.True(t, r.Join([]byte("\xfeuser"), 0, protocol.PriorityHigh))
		}
		r.Close(r.now)
		r.settle()
		require.Equal(t, joins, r.count(protocol.IDDisconnect) == 0)
	}
}
