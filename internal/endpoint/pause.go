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
// was acknowledged for pauseLimit.
func (c *Conn) pause() {
	c.ep.role.resume() // acknowledgements are what it waits for
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
		case <-p.gate:
			waits = false
		case <-over:
			waits = false
		case <-t.C:
			c.mu.Lock()
			delivered := c.sess.Delivered()
			if waits = delivered != seen; !waits {
				p.vain = delivered
			}
			c.mu.Unlock()
			seen = delivered
			t.Reset(pauseLimit)
		}
	}
	t.Stop()
	c.mu.Lock()
	p.timer = t
	p.n--
	more := p.n > 0
	c.mu.Unlock()
	if more {
		p.gate.open()
	}
}
