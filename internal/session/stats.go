package session

import (
	"time"

	"github.com/raknet-go/raknet/internal/arq"
)

// Stats are a connection's counters and gauges. Counters only grow.
type Stats struct {
	// The engine's. Its RTT includes the time that the peer holds back ACKs. Its
	// messages are the application's: control messages are not counted.
	arq.Stats
	// PingRTT is what the last answered connected ping took; zero before any.
	PingRTT time.Duration
	// PingsSent and PongsSent count connected pings and pongs; PongsSuppressed
	// counts pings that were never answered because too many came.
	PingsSent, PongsSent, PongsSuppressed uint64
	// UnreadMessages are the messages that wait for the application, UnreadBytes
	// what they count for against Limits.ReceiveBuffer.
	UnreadMessages, UnreadBytes int
}

// Stats fills in s.
func (c *Conn) Stats(s *Stats) {
	*s = Stats{
		PingRTT: c.keepalive.pingRTT, PingsSent: uint64(c.keepalive.pingsSent), PongsSent: uint64(c.keepalive.pongsSent),
		PongsSuppressed: uint64(c.keepalive.pongsHeld), UnreadMessages: c.inbox.len(), UnreadBytes: c.inbox.bytes,
	}
	c.eng.Stats(&s.Stats)
	s.MessagesReceived -= c.controls
}
