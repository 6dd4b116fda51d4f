package netsim

import (
	"errors"
	"time"

	"github.com/raknet-go/raknet/internal/session"
)

// What the oracle allows beyond the durations of session.Timing, whose defaults hold in
// every world.
const (
	handshakeTime = 10 * time.Second
	idleTime      = 10 * time.Second
	unackedTime   = 60 * time.Second
	drainTime     = 5 * time.Second
	farewellTime  = 2 * time.Second
	lingerTime    = 2500 * time.Millisecond
	// threeTimeouts is three times the longest retransmission timeout.
	threeTimeouts = 6 * time.Second
	// slackTime is what a sweep and a path may add.
	slackTime = 2 * time.Second
	// stuckTime is how long a reliable message may keep everything behind it waiting on
	// a path that loses up to a third each way.
	stuckTime = 40 * time.Second
)

// excuse is what a client's path and plan do that may keep its connections from what
// they should achieve.
type excuse struct {
	loss      float64 // the larger of both directions, bursts included
	blackout  bool    // of any length
	partition bool    // one that may outlast the idle timeout
	rebind    bool
	mtu       bool // shrinks under a connection
	deaf      bool
	damaged   bool
	vanishes  bool
	crowded   bool // too many half-open connections, or connections
	tight     bool // a limit of the receiver below what its peer may have under way
	pause     time.Duration
}

// mayNotConnect reports whether a dial or a handshake may time out.
func (x *excuse) mayNotConnect() bool {
	return x.loss > 0.15 || x.blackout || x.rebind || x.mtu || x.damaged || x.vanishes || x.crowded || x.pause > time.Second
}

// mayDie reports whether a complete connection may end without anybody's will.
func (x *excuse) mayDie() bool {
	return x.loss > 0.34 || x.partition || x.rebind || x.mtu || x.damaged || x.tight || x.pause > 6*time.Second
}

// grace is by how much the ends of a connection may be late because they slept.
func (p *peer) grace() time.Duration {
	g := time.Duration(p.host.asleep)
	if o := p.pair.other(p); o != nil {
		g += time.Duration(o.host.asleep)
	}
	if g > 0 {
		g += 2 * time.Second
	}
	return g + slackTime
}

// check looks at what may change at any turn.
func (p *peer) check() {
	w := p.w
	if st := p.sess.State(); st != p.state {
		if st < p.state {
			w.violated("state", "%s goes from %v to %v", p, p.state, st)
		}
		p.state, p.since = st, w.now
	}
	if unread := p.sess.Unread(); unread > orDefault(w.sc.Limits.ReceiveBuffer, 4<<20) {
		p.sess.Stats(&p.wire.stats)
		p.held = max(p.held, p.wire.stats.HeldBytes)
		if unread > w.unreadBound(p) {
			w.violated("11 memory", "%s has %d bytes unread, and held back at most %d", p, unread, p.held)
		}
	} else if w.sc.Limits.ReceiveBuffer > 0 {
		p.sess.Stats(&p.wire.stats)
		p.held = max(p.held, p.wire.stats.HeldBytes)
	}
}

// unreadBound is the most that may be unread: the limit, what was held back for order, up to its
// own limit, which does not count when it comes free, what was held and comes free at once, one more
// message, and the datagram that it came in, which may be full of short ones.
func (w *World) unreadBound(p *peer) int {
	free := orDefault(w.sc.Limits.HeldBytes, 28<<20)
	return orDefault(w.sc.Limits.ReceiveBuffer, 4<<20) + free + p.held + w.sc.biggestKept(p.sess.MTU()) + 16<<10
}

func orDefault(n, d int) int {
	if n == 0 {
		return d
	}
	return n
}

// sweep looks for what should have happened by now.
func (p *peer) sweep() {
	w := p.w
	if p.host.paused || p.gone {
		return
	}
	age := w.now.Sub(p.since) - p.grace()
	switch st := p.sess.State(); {
	case st == session.Handshaking && age > handshakeTime:
		w.violated("16 liveness", "%s has been %v since %v", p, st, p.since.Sub(startTime))
	case st == session.Closing && age > drainTime+farewellTime:
		w.violated("16 liveness", "%s has been %v since %v", p, st, p.since.Sub(startTime))
	case st == session.Closed && age > lingerTime:
		w.violated("16 liveness", "%s has been %v since %v", p, st, p.since.Sub(startTime))
	case st == session.Connected:
		if silence := w.now.Sub(p.sess.LastHeard()); silence > idleTime+threeTimeouts+p.grace() {
			w.violated("17 dead peer found", "%s heard nothing for %v", p, silence)
		}
		if p.abandoned != 0 && w.now.Sub(p.abandoned) > idleTime+threeTimeouts+p.grace() {
			w.violated("17 dead peer found", "%s does not know that its peer vanished at %v", p, p.abandoned.Sub(startTime))
		}
	}
	x := p.pair.excuse()
	if x == nil || p.out.outstanding == 0 || p.out.tainted || p.closing || p.over || x.mayDie() || x.deaf {
		return
	}
	o := p.pair.other(p)
	if o == nil || o.closing || o.over {
		return
	}
	if stuck := w.now.Sub(p.out.progressAt); stuck > w.sc.stuckAfter(p.pair.plan)+p.grace() {
		w.violated("16 liveness", "%s got nothing through for %v, %d reliable messages wait", p, stuck, p.out.outstanding)
	}
}

// excuse returns what excuses the connection, or nil if nobody planned it.
func (g *pairing) excuse() *excuse {
	if g.plan == nil {
		return nil
	}
	return &g.plan.excuse
}

// judge looks at why the connection ended. Who ends what without being asked needs an
// excuse.
func (p *peer) judge() {
	w, g := p.w, p.pair
	x, o := g.excuse(), g.other(p)
	otherOver := o == nil || o.gone || o.over || o.closing || g.vanished
	ok := false
	err := p.err
	switch {
	case errors.Is(err, session.ErrClosed), errors.Is(err, session.ErrCloseTimeout):
		ok = p.closing
	case errors.Is(err, session.ErrDisconnected):
		ok = otherOver
	case x == nil: // a stranger's, or of an attempt that was given up
		ok = !p.opened
	case errors.Is(err, session.ErrHandshakeTimeout):
		ok = x.mayNotConnect() || otherOver
		w.report.Refused++
	case errors.Is(err, session.ErrIdleTimeout), errors.Is(err, session.ErrStalled):
		ok = x.mayDie() || otherOver
		w.report.Died++
	case errors.Is(err, session.ErrIncomplete):
		ok = x.tight
		w.report.Died++
	case errors.Is(err, session.ErrReceiveOverflow):
		ok = x.deaf
		w.report.Died++
	}
	if !ok && !g.tainted() {
		invariant := "18 live sessions stay"
		if !p.opened {
			invariant = "16 liveness"
		}
		w.violated(invariant, "%s ended: %v", p, err)
	}
}

// finalCheck looks at a connection of which an end has gone: when both have, what was
// sent before a graceful close must have arrived.
func (g *pairing) finalCheck() {
	c, s := g.client, g.server
	if c == nil || s == nil || !c.gone || !s.gone || g.tainted() {
		return
	}
	g.graceful(c, s)
	g.graceful(s, c)
}

// graceful checks that everything that from sent before it closed has arrived, if its
// Close was told so and to did not close as well.
func (g *pairing) graceful(from, to *peer) {
	if !from.opened || !from.closing || from.aborted || !errors.Is(from.err, session.ErrClosed) {
		return
	}
	if to.closing || to.err == nil {
		return
	}
	if n := from.out.outstanding; n > 0 && from.out.atClose == len(from.out.sent) {
		g.w.violated("7 written before close arrives", "%s closed in good order, but %d of its messages did not arrive; the peer: %v", from, n, to.err)
	}
}

// describe says what is asked of the client.
func (x *excuse) describe() string {
	switch {
	case x.mayDie():
		return "may die"
	case x.mayNotConnect():
		return "may not connect"
	}
	return "must work"
}
