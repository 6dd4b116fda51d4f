package offline

import (
	"bytes"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// pingsRemembered is how many pings an answer is matched with: at the default
// interval those of the last four seconds. An answer to an older one is still
// taken, its round trip counts from the last ping.
const pingsRemembered = 8

// PingerConfig sets up a Pinger.
type PingerConfig struct {
	GUID     int64
	Epoch    int64         // milliseconds added to now for the time stamp in the ping; any value
	Interval time.Duration // between two pings; 0: 500 ms (arbitrary, that of connection requests)
}

// Pong is a server's answer.
type Pong struct {
	Data []byte // a copy that belongs to the caller; empty if the pong carried none
	GUID int64  // the server's
	RTT  time.Duration
}

// Pinger asks one server for a pong, again and again until it gets one.
type Pinger struct {
	guid     int64
	epoch    int64
	interval time.Duration
	next     monotime.Time
	now      monotime.Time // the latest seen
	due      bool
	sent     int
	pings    [pingsRemembered]sentPing // ring, by sent
	done     bool
	pong     Pong
}

type sentPing struct {
	stamp int64
	at    monotime.Time
}

// Init starts; the first ping is due at once.
func (p *Pinger) Init(now monotime.Time, c *PingerConfig) {
	*p = Pinger{guid: c.GUID, epoch: c.Epoch, interval: c.Interval, now: now, due: true}
	if p.interval <= 0 {
		p.interval = 500 * time.Millisecond
	}
	p.next = now.Add(p.interval)
}

// Receive takes one datagram that came from the server's address; all but the
// first pong is ignored. It keeps no reference to pkt.
func (p *Pinger) Receive(now monotime.Time, pkt []byte) {
	if p.done || p.sent == 0 || len(pkt) == 0 || protocol.ID(pkt[0]) != protocol.IDUnconnectedPong {
		return
	}
	var r wire.UnconnectedPong
	if r.Parse(pkt) != nil {
		return
	}
	p.now = now
	p.done, p.due = true, false
	p.pong = Pong{Data: bytes.Clone(r.Data), GUID: r.GUID, RTT: now.Sub(p.sentAt(r.Time))}
}

// sentAt returns when the ping with this time stamp was sent. Some servers write
// their own time into the pong: then the last ping is the best guess.
func (p *Pinger) sentAt(stamp int64) monotime.Time {
	for i := range min(p.sent, pingsRemembered) {
		if s := &p.pings[(p.sent-1-i)%pingsRemembered]; s.stamp == stamp {
			return s.at
		}
	}
	return p.pings[(p.sent-1)%pingsRemembered].at
}

// Advance lets time pass.
func (p *Pinger) Advance(now monotime.Time) {
	p.now = now
	if !p.done && now >= p.next {
		p.due = true
		p.next = now.Add(p.interval)
	}
}

// Transmit appends the next ping to dst and returns it, or nil if there is nothing
// to send now.
func (p *Pinger) Transmit(now monotime.Time, dst []byte) []byte {
	p.now = now
	if !p.due {
		return nil
	}
	p.due = false
	r := wire.UnconnectedPing{Time: p.epoch + now.Milli(), HasGUID: true, GUID: p.guid}
	p.pings[p.sent%pingsRemembered] = sentPing{r.Time, now}
	p.sent++
	return r.Append(dst)
}

// Deadline is when Advance has work: monotime.Never once there is a pong, the
// present while Transmit has something to send.
func (p *Pinger) Deadline() monotime.Time {
	switch {
	case p.done:
		return monotime.Never
	case p.due:
		return p.now
	}
	return p.next
}

// Result returns the pong once there is one.
func (p *Pinger) Result() (Pong, bool) { return p.pong, p.done }
