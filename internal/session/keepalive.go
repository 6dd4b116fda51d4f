package session

import (
	"math"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

const (
	// probesPerPing is how many times faster pings leave once the peer has been
	// silent for Timing.Ping: with the defaults every 500 ms, fifteen before
	// Timing.Idle, so that a path which loses 40 % each way still shows life in all
	// but one of a thousand silences. On the first loss between kin it is ten.
	probesPerPing = 5
	// pingSlots is how many moments in Timing.Ping the pings of a server's connections share.
	// Arbitrary: fewer would save more, and bring more answers at once than the least of
	// receive buffers holds.
	pingSlots = 10
	// pingsRemembered is how many pings a pong may answer; an answer to an older
	// one is ignored. Four reach back 2 s while probing and 10 s otherwise.
	pingsRemembered = 4
	// stallTolerance is how late Advance may come before the process counts as
	// having been asleep (suspended, stopped, or starved).
	stallTolerance = time.Second
	// stallGrace is the least time that a peer gets to be heard after such a
	// sleep: a peer's slowest resend, or a ping and its answer.
	stallGrace = 2 * time.Second
	// none is no reliable index.
	none = math.MinInt64
	// unackedLooks is how often per Timing.Unacked progress is looked at.
	unackedLooks = 4
)

// keepalive remembers what liveness is judged by.
type keepalive struct {
	lastHeard    monotime.Time // an in-window datagram, or an ACK of ours
	lastProgress monotime.Time // unacked was seen to change
	unacked      int64         // the oldest unacknowledged reliable index, or none
	lastSent     monotime.Time // a datagram that the peer must acknowledge
	lastPing     monotime.Time
	pings        [pingsRemembered]monotime.Time // zero: none, or answered
	pingRTT      time.Duration                  // of the last pong that matched
	pongs        bucket
	pingsSent    uint32
	pongsSent    uint32
	pongsHeld    uint32
	nextPing     uint8  // slot in pings
	asks         uint8  // of kin that were no pings, since the last that was
	seenAt       uint16 // when a datagram came whose number was near the one before, see strange.go
}

func (k *keepalive) init(now monotime.Time) {
	k.lastHeard, k.lastProgress, k.lastSent = now, now, now
	k.unacked = none
}

// heard notes a believable datagram: nothing else counts as a sign of life, since
// anybody can forge the peer's address.
func (c *Conn) heard(now monotime.Time) { c.keepalive.lastHeard = now }

// startKeepalive arms what watches a connected peer.
func (c *Conn) startKeepalive(now monotime.Time) {
	c.keepalive.lastHeard = now
	if c.timing.Idle > 0 {
		c.timers.set(timerIdle, now.Add(c.timing.Idle))
	}
	if c.timing.Unacked > 0 {
		c.progressing(now)
	}
	c.armPing()
}

// pingDue returns when the next ping leaves if nothing else happens: Timing.Ping
// after the last datagram that asks for an acknowledgement, or after the last sign of
// life if that is longer ago, but not at once after another ping.
//
// A server is earlier by up to a fifth, at one of few moments that all its connections
// have in common. So many pings leave together, and their answers come together, which costs
// a fraction of what lone ones do. And one side pings, not both: the answer is something
// that asks for an acknowledgement.
func (c *Conn) pingDue() monotime.Time {
	k := &c.keepalive
	every, since := c.pingEvery(), min(k.lastSent, k.lastHeard)
	if c.relaxed() {
		since = k.lastHeard
	}
	quiet := since.Add(every)
	if grid := every / pingSlots; c.side == Server && grid > 0 {
		quiet = quiet.Add(-grid)
		quiet -= quiet % monotime.Time(grid)
	}
	return max(quiet, k.lastPing.Add(c.timing.Ping/probesPerPing))
}

func (c *Conn) armPing() {
	if c.timing.Ping > 0 {
		c.timers.set(timerPing, c.pingDue())
	}
}

// ping sends a connected ping. It is unreliable: the acknowledgement of its
// datagram is as good an answer as the pong, and a lost one is worth less than
// the next.
func (c *Conn) ping(now monotime.Time) { c.pingIn(now, protocol.Unreliable) }

func (c *Conn) pingIn(now monotime.Time, mode protocol.Reliability) {
	k := &c.keepalive
	k.lastPing = now
	k.pings[k.nextPing] = now
	k.nextPing = (k.nextPing + 1) % pingsRemembered
	k.pingsSent++
	var buf [16]byte
	p := wire.ConnectedPing{Time: c.secretTime(now)}
	c.sendControl(now, p.Append(buf[:0]), mode, protocol.PriorityImmediate)
}

// ask makes the peer show that it lives.
func (c *Conn) ask(now monotime.Time) {
	k := &c.keepalive
	if k.asks++; !c.relaxed() || k.asks == kinPingEach {
		k.asks = 0
		c.ping(now)
		return
	}
	k.lastPing = now
	c.sendControl(now, []byte{byte(protocol.IDDetectLostConnections)}, protocol.Unreliable, protocol.PriorityImmediate)
}

// pinged handles a connected ping: it is answered in every state, since some
// servers ping before the connection request arrives.
func (c *Conn) pinged(now monotime.Time, b []byte) {
	var p wire.ConnectedPing
	if p.Parse(b) != nil || c.said == saidBye { // who has left gives no sign of life: the peer may ask because it doubts that
		return
	}
	k := &c.keepalive
	if !c.timers.armed(timerPong) && k.pongs.take(now, pongInterval, pongBurst) {
		c.pong(now, p.Time)
		return
	}
	if c.timers.armed(timerPong) {
		k.pongsHeld++ // the earlier held-back one stays unanswered
	}
	c.timers.set(timerPong, k.pongs.ready(pongInterval, pongBurst))
	c.timers.rare.pongOwed = p.Time
}

func (c *Conn) pong(now monotime.Time, pingTime int64) {
	c.keepalive.pongsSent++
	c.eng.HurryAcks() // else the ACK of the ping follows alone a moment later
	var buf [32]byte
	p := wire.ConnectedPong{PingTime: pingTime, Time: c.millis(now)}
	c.sendControl(now, p.Append(buf[:0]), protocol.Unreliable, protocol.PriorityImmediate)
}

// ponged handles a pong. One that echoes no ping of ours says nothing: some peers
// write their own time there.
func (c *Conn) ponged(now monotime.Time, b []byte) {
	var p wire.ConnectedPong
	if p.Parse(b) != nil {
		return
	}
	k := &c.keepalive
	for i, sent := range k.pings {
		if !sent.IsZero() && c.secretTime(sent) == p.PingTime {
			c.proven()
			c.answered(sent)
			k.pings[i] = 0
			k.pingRTT = now.Sub(sent)
			return
		}
	}
}

// fire does what the session's own timers say is due.
func (c *Conn) fire(now monotime.Time) {
	if c.state >= Closed {
		if c.timers.due(timerClose, now) {
			c.closeExpired(now)
		}
		return
	}
	if c.timers.due(timerHandshake, now) {
		if c.state != Handshaking {
			if c.doubtExpires(now) {
				c.disconnected(now) // nothing was heard since
			}
			return
		}
		// A server stays quiet towards a client that never finished: with cookies
		// off its address may not even be its own.
		c.finish(now, ErrHandshakeTimeout, c.side == Client)
		return
	}
	if c.timers.due(timerRequest, now) {
		c.sendRequest(now)
	}
	if c.timers.due(timerPong, now) {
		c.keepalive.pongs.take(now, pongInterval, pongBurst)
		c.pong(now, c.timers.rare.pongOwed)
	}
	if c.timers.due(timerIdle, now) {
		if at := c.keepalive.lastHeard.Add(c.timing.Idle); at > now {
			c.timers.set(timerIdle, at)
		} else {
			c.finish(now, ErrIdleTimeout, true)
			return
		}
	}
	if c.timers.due(timerUnacked, now) && !c.progressing(now) {
		c.finish(now, ErrStalled, true)
		return
	}
	if c.timers.due(timerStall, now) {
		c.finish(now, ErrReceiveOverflow, true)
		return
	}
	if c.timers.due(timerPing, now) {
		if c.proving() {
			c.askForProof(now)
			return
		}
		if c.pingDue() <= now {
			c.ask(now)
		}
		c.armPing()
		if !c.putOff(now) {
			c.finish(now, ErrStalled, true)
			return
		}
	}
	if c.timers.due(timerClose, now) {
		c.closeExpired(now)
	}
}

// putOff moves what watches the peer to when it can matter now. Done with the pings it does not come up between
// them, so that a server's idle connections are looked at at the few moments that they have in common. False: the peer acknowledges nothing.
func (c *Conn) putOff(now monotime.Time) bool {
	if at := c.keepalive.lastHeard.Add(c.timing.Idle); at > now && c.timers.armed(timerIdle) {
		c.timers.set(timerIdle, at)
	}
	return !c.timers.armed(timerUnacked) || c.progressing(now)
}

// progressing looks whether the peer acknowledges the reliable data it is sent:
// some acknowledge pings and never a mode that they cannot read.
func (c *Conn) progressing(now monotime.Time) bool {
	k := &c.keepalive
	oldest, any := c.eng.OldestUnacked()
	if !any {
		oldest = none
	}
	if !any || oldest != k.unacked {
		k.unacked, k.lastProgress = oldest, now
	}
	if k.lastProgress.Add(c.timing.Unacked) <= now {
		return false
	}
	c.timers.set(timerUnacked, now.Add(c.timing.Unacked/unackedLooks))
	return true
}

// forgiveStall moves the deadlines that punish silence when Advance comes much later
// than asked for: the peer's datagrams of that time may still lie in the socket.
// So timeouts are measured in time that the process was awake.
func (c *Conn) forgiveStall(now monotime.Time) {
	requested := c.timers.requested
	c.timers.requested = monotime.Never
	if requested == monotime.Never || now.Sub(requested) <= stallTolerance {
		return
	}
	asleep := now.Sub(requested)
	for _, k := range [...]timerKind{timerHandshake, timerClose, timerStall} {
		if c.timers.armed(k) && c.state < Closed {
			c.timers.set(k, max(c.timers.of(k).Add(asleep), now.Add(stallGrace)))
		}
	}
	k := &c.keepalive
	forgive := func(last *monotime.Time, limit time.Duration) {
		if limit < 0 {
			return
		}
		*last = min(now, max(last.Add(asleep), now.Add(min(stallGrace, limit)-limit)))
	}
	forgive(&k.lastHeard, c.timing.Idle)
	forgive(&k.lastProgress, c.timing.Unacked)
}
