package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimingDefaults(t *testing.T) {
	require.Equal(t, Timing{
		Handshake: 10 * time.Second, Idle: 10 * time.Second, Ping: 2500 * time.Millisecond, Unacked: time.Minute,
		Drain: 5 * time.Second, Farewell: 2 * time.Second, Linger: 2500 * time.Millisecond, ReceiveStall: 10 * time.Second,
		usualPing: true,
	}, *Timing{}.Settle())

	off := Timing{Handshake: -1, Idle: -1, Ping: -1, Unacked: -1, Drain: -1, Farewell: -1, Linger: -1, ReceiveStall: -1}
	got := *off.Settle()
	require.Equal(t, 10*time.Second, got.Handshake, "a handshake must end")
	got.Handshake = -1
	require.Equal(t, off, got)

	require.Equal(t, time.Second, Timing{Idle: 4 * time.Second}.Settle().Ping, "pings fit into a short Idle")
	require.Equal(t, time.Minute, Timing{Idle: -1, Ping: time.Minute}.Settle().Ping)
}
