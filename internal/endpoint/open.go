package endpoint

import (
	"github.com/raknet-go/raknet/internal/monotime"
)

// open makes a connection whose handshake is complete known to the world. Called once,
// by the goroutine that took the event.
func (c *Conn) open() {
	e := c.ep
	if e.cfg.Wrap != nil {
		c.SetUser(e.cfg.Wrap(c))
	}
	now := e.clock.Now()
	c.mu.Lock()
	c.opened = true
	if h := e.cfg.Handler; h != nil && c.handler == nil {
		c.handler = func(m Message) { h(c, m) }
	}
	w := c.traced()
	c.mu.Unlock()
	c.after(w)
	room := e.register(c)
	if c.server {
		e.table.post(c)
		e.counters.accepted.Add(1)
		if room {
			room = e.offer(now, c)
		}
	}
	if !room {
		c.abort(ErrNoRoom)
	}
	if c.way.ready != nil {
		close(c.way.ready)
	}
}

// offer queues an accepted connection for Accept and reports whether it may live on.
func (e *Endpoint) offer(now monotime.Time, c *Conn) bool {
	if e.cfg.Handler != nil {
		e.accepts.push(c)
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !e.accepts.push(c) {
		return false
	}
	c.acceptBy = now.Add(acceptPatience)
	return true
}

// expire ends a connection that nobody accepted. c.mu is held.
func (c *Conn) expire(now monotime.Time) {
	if c.acceptBy == 0 || now < c.acceptBy {
		return
	}
	c.acceptBy = 0
	if c.ep.accepts.remove(c) {
		c.sess.Abort(now, ErrUnaccepted)
	}
}
