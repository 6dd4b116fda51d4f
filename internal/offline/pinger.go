package offline

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// PingerConfig sets up a Pinger.
type PingerConfig struct {
	GUID     int64
	Epoch    int64         // milliseconds added to now for the time stamp in the ping; any value
	Interval time.Duration // between two pings; 0: 500 ms (arbitrary)
}

// Pong is a server's answer.
type Pong struct {
	Data []byte // a copy; empty if the pong carried none
	GUID int64
	RTT  time.Duration
}

// Pinger asks one server for a pong until it gets one.
type Pinger struct{}

// Init starts; the first ping waits in Transmit.
func (p *Pinger) Init(now monotime.Time, c *PingerConfig) {}

// Receive takes one datagram that came from the server's address.
func (p *Pinger) Receive(now monotime.Time, pkt []byte) {}

// Advance lets time pass.
func (p *Pinger) Advance(now monotime.Time) {}

// Transmit appends the next ping to dst, or returns nil.
func (p *Pinger) Transmit(now monotime.Time, dst []byte) []byte { return nil }

// Deadline is when Advance has work.
func (p *Pinger) Deadline() monotime.Time { return monotime.Never }

// Result returns the pong once there is one.
func (p *Pinger) Result() (Pong, bool) { return Pong{}, false }
