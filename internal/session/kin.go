package session

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
)

// Two peers of this library know each other by the handshake, and so what they may expect of each other beyond
// what every implementation does.
//
// To keep a connection alive on which nothing happens takes half as often then, and two datagrams instead of
// four: a detect lost connections (0x04), whose acknowledgement is the answer, instead of a ping, its
// acknowledgement, a pong and its acknowledgement. Only the server asks: what asks is a sign of life as good as
// an answer. That holds as long as nothing is lost; then there are pings as for everybody.

const (
	// kinPings is how many times Timing.Ping kin may hear nothing before they ask, if that is the default: half of
	// the default of Timing.Idle, as in the original engine. Others get a half of that because some of them
	// give a silent peer up after 5 s.
	kinPings = 2
	// kinShare is the part of the time that the peer bears silence, one in kinShare, after which it is asked at the latest.
	kinShare = 2
	// kinGrace is how long kin have to answer, beside a round trip, when somebody else comes from their address. Less than
	// what a client waits until it repeats a request for the second time.
	kinGrace = 400 * time.Millisecond
	// kinPingEach is how many asks make a ping: it measures the round trip for both sides. Arbitrary.
	kinPingEach = 8
	// kinLead is by what part of the time, one in kinLead, a client is later than its server, so that it asks only when the
	// server does not.
	kinLead = 4
	// kinUnit is the unit of Conn.kin, which is rounded down but to one, and kinForever the most it can be.
	kinUnit    = 500 * time.Millisecond
	kinForever = 0xff
)

// ownKin is what the peer is told.
func (c *Conn) ownKin() wire.Kin {
	k := wire.Kin{Patience: wire.KinForever, Wide: c.eng.TakesWide()}
	if idle := c.timing.Idle; idle >= 0 {
		k.Patience = uint16(min(max(idle/wire.KinUnit, 1), time.Duration(wire.KinForever-1)))
	}
	return k
}

// meetKin takes down what the peer said of itself.
func (c *Conn) meetKin(k wire.Kin) {
	if k == (wire.Kin{}) {
		return
	}
	c.eng.MeetKin()
	if k.Wide {
		c.eng.MayWiden()
	}
	c.kin = kinForever
	if k.Patience != wire.KinForever {
		c.kin = uint8(min(max(time.Duration(k.Patience)*wire.KinUnit/kinUnit, 1), kinForever-1))
	}
}

// relaxed reports whether kin need not be asked in the way that is for everybody: who refuses what comes does not
// acknowledge it, and so gives no sign of life by that.
func (c *Conn) relaxed() bool {
	return c.kin != 0 && c.timing.usualPing && !c.eng.Loses() && !c.eng.Full()
}

// hasten pulls the next ping to where it is for everybody, when that has come to hold for kin.
func (c *Conn) hasten() {
	if c.kin == 0 || c.relaxed() || !c.timers.armed(timerPing) {
		return
	}
	if at := c.pingDue(); at < c.timers.of(timerPing) {
		c.timers.set(timerPing, at)
	}
}

// Forlorn reports whether a peer that has been silent for longer than others may be is dead, as far as anybody
// can tell. Kin are asked: who is not forlorn then has to be looked at again after kinGrace, and Transmit has something to send.
func (c *Conn) Forlorn(now monotime.Time) bool {
	k := &c.keepalive
	switch {
	case !c.relaxed():
		return true
	case k.lastPing > k.lastHeard:
		return now.Sub(k.lastPing) >= kinGrace+c.eng.RTT()
	}
	c.ask(now)
	return false
}

// pingEvery is how long the peer may be silent before it is asked whether it lives.
func (c *Conn) pingEvery() time.Duration {
	if !c.relaxed() {
		return c.timing.Ping
	}
	every := kinPings * c.timing.Ping
	if c.kin != kinForever {
		every = min(every, time.Duration(c.kin)*kinUnit/kinShare)
	}
	if c.side == Client {
		every += every / kinLead
	}
	return every
}
