package endpoint

import (
	"math"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
)

// tracing is the way of a connection's records from its engine, which makes them under
// the connection's lock, to Config.Trace, which may take its time. The only queue is the
// ring of the engine, in which the newest records displace the oldest. A goroutine
// takes what is there, tells it, and ends when nothing is left: an idle connection
// has none, and one whose user is slow keeps nobody else waiting.
type tracing struct {
	ring    *arq.TraceRing // under Conn.mu
	telling bool           // under Conn.mu: the goroutine exists; after the end for good
	failed  bool           // under Conn.mu: the user's function panicked
	taken   *arq.TraceRing // the goroutine's
}

func newTracing() *tracing {
	return &tracing{ring: arq.NewTraceRing(traceRecords), taken: arq.NewTraceRing(traceRecords)}
}

// traced reports whether there is something to tell that nobody is telling. What was
// recorded before the connection was open waits until it is. c.mu is held.
func (c *Conn) traced() work {
	t := c.seldom().tracing
	if t == nil || t.telling || !c.opened {
		return 0
	}
	if !c.dead && (t.failed || t.ring.Len() == 0) {
		return 0
	}
	t.telling = true
	return workTrace
}

// tellTrace is the goroutine.
func (c *Conn) tellTrace() {
	t := c.rare.tracing // from the start, so that no lock is needed
	for {
		c.mu.Lock()
		t.ring.MoveTo(t.taken)
		failed, dead := t.failed, c.dead
		if !dead && (failed || t.taken.Len() == 0) {
			t.telling = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if !failed && !c.tell(t.taken) {
			c.mu.Lock()
			t.failed = true
			c.mu.Unlock()
		}
		if dead { // and nothing is recorded any more
			c.tellEnd()
			return
		}
	}
}

// tell gives records to the user's function and reports whether it returned.
func (c *Conn) tell(r *arq.TraceRing) bool {
	return c.Guard("tracer", func() {
		older, newer := r.Records()
		if n := r.Overwritten(); n > 0 {
			c.ep.cfg.Trace(c, []arq.TraceRecord{{
				At: older[0].At, Kind: arq.TraceGap, Number: -1, Count: int32(min(n, math.MaxInt32)),
			}})
		}
		for _, part := range [][]arq.TraceRecord{older, newer} {
			if len(part) > 0 {
				c.ep.cfg.Trace(c, part)
			}
		}
	})
}

func (c *Conn) tellEnd() {
	if end := c.ep.cfg.TraceEnd; end != nil {
		c.Guard("tracer", func() { end(c) })
	}
}

// Guard calls a function of the user's and reports whether it returned. A panic in it
// is logged.
func (c *Conn) Guard(what string, f func()) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			c.ep.panicked(what, v)
		}
	}()
	f()
	return true
}

// Wall returns the wall time of a moment in a record.
func (c *Conn) Wall(t monotime.Time) time.Time { return c.ep.clock.Wall(t) }
