package endpoint

import (
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
)

// pauses is what a connection knows of its senders who are ahead of it (arq.Engine.Ahead).
// They wait after their message was taken, so that nothing depends on it: when the peer
// does not go on they do, until the send buffer is full.
type pauses struct {
	gate gate
	n    int // who wait
	// vain is what was delivered when a pause brought nothing. Until more is, nobody pauses again.
	vain  int64
	timer *time.Timer // to use again; nil: none, or somebody uses it
	alarm *time.Timer // interrupts a sender who reads the socket; the role's
	rang  atomic.Bool // it did, or is about to
	// lingerAt is when what waits in a flow leaves at the latest.
	lingerAt monotime.Time
}

// pausing returns the connection's pauses, which it has from its first flow on. c.mu is held.
func (c *Conn) pausing() *pauses {
	if c.pauses == nil {
		c.pauses = &pauses{gate: newGate(), vain: -1}
	}
	return c.pauses
}

// pauseLimit is how long a sender pauses while nothing is acknowledged. Longer than what takes
// a peer on a short path and a busy machine, short enough that nobody minds it once. Arbitrary.
const pauseLimit = 4 * time.Millisecond

// handlers counts the goroutines that are in a handler of any endpoint. What a handler sends
// must not wait, to whatever connection: it may be what acknowledgements wait for.
var handlers atomic.Int32

// ahead counts the sender of m among those who pause, if it should. c.mu is held.
func (c *Conn) ahead(m *arq.Message) work {
	if !m.Reliability.IsReliable() || !c.sess.Ahead() || c.held > 0 || handlers.Load() > 0 {
		return 0
	}
	p := c.pausing()
	if p.vain == c.sess.Delivered() {
		return 0
	}
	p.n++
	return workAhead
}

// pause waits until the connection has caught up with the caller, who was counted, or nothing
// was acknowledged for pauseLimit. On a dialed connection it reads the acknowledgements itself,
// and sends what they make room for: then all of a transfer happens on one goroutine. Nothing
// of the user's is called meanwhile, who may hold a lock: so not on a listener, nor where
// there is a handler.
func (c *Conn) pause() {
	role := &c.ep.role
	var granted chan struct{}
	if c.mayLeadAhead() {
		switch role.request() {
		case roleTaken:
			c.leadAhead()
			c.unpause()
			return
		case roleAsked:
			granted = role.granted
		}
	} else {
		role.resume()
	}
	c.mu.Lock()
	p := c.pauses
	t := p.timer
	p.timer = nil
	c.mu.Unlock()
	if t == nil {
		t = time.NewTimer(pauseLimit)
	} else {
		t.Reset(pauseLimit)
	}
	seen, over := int64(-1), c.isOver()
	for waits := true; waits; {
		select {
		case <-granted:
			granted = nil
			c.leadAhead()
			waits = false
		case <-p.gate:
			waits = false
		case <-over:
			waits = false
		case <-t.C:
			waits = !c.inVain(&seen)
			t.Reset(pauseLimit)
		}
	}
	if granted != nil {
		role.withdraw()
	}
	t.Stop()
	c.mu.Lock()
	p.timer = t
	c.mu.Unlock()
	c.unpause()
}

func (c *Conn) mayLeadAhead() bool {
	if !c.ep.lead || !c.ep.cfg.Solo {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handler == nil
}

// unpause takes a sender from those who pause.
func (c *Conn) unpause() {
	c.mu.Lock()
	p := c.pauses
	p.n--
	more := p.n > 0
	c.mu.Unlock()
	if more {
		p.gate.open()
	}
}

// inVain reports whether nothing was acknowledged since seen, and takes that down.
func (c *Conn) inVain(seen *int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delivered := c.sess.Delivered()
	if delivered == *seen {
		c.pauses.vain = delivered
		return true
	}
	*seen = delivered
	return false
}

// leadAhead reads the socket, whose role the caller has, until it may go on.
func (c *Conn) leadAhead() {
	e, p := c.ep, c.pauses
	if p.alarm == nil {
		p.alarm = time.AfterFunc(pauseLimit, func() {
			p.rang.Store(true)
			e.role.kickLeader()
		})
	} else {
		p.alarm.Reset(pauseLimit)
	}
	seen := int64(-1)
	for {
		e.prepare()
		if p.rang.Swap(false) {
			if c.inVain(&seen) {
				break
			}
			p.alarm.Reset(pauseLimit)
		}
		c.mu.Lock()
		done := c.gone || c.closed || c.dead || c.handler != nil || c.sess.CaughtUp()
		c.mu.Unlock()
		if done || !e.readOnce() {
			break
		}
	}
	p.alarm.Stop()
	c.mu.Lock()
	others := c.read.Load().waiting() || c.handler != nil
	c.mu.Unlock()
	e.role.leave(others)
}
