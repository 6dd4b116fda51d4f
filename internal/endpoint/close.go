package endpoint

import (
	"net"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/session"
)

// mourn notes that the session is dead, once. c.mu is held.
func (c *Conn) mourn() work {
	if c.dead || c.sess.State() != session.Dead {
		return 0
	}
	c.dead = true
	return workBury
}

// end notes that the session has ended. c.mu is held.
func (c *Conn) end(err error) work {
	c.ended = true
	c.seldom().receipts.end()
	return workEnd | c.leave(err)
}

// leave notes the first reason for which the connection is no more. c.mu is held.
func (c *Conn) leave(err error) work {
	if c.gone {
		return 0
	}
	c.gone, c.makeRare().ending = true, &ending{cause: err}
	if c.rare.ctx != nil {
		return workOver | workCancel
	}
	return workOver
}

// Close ends the connection. It returns at once: what was written before is delivered
// first, for as long as Timing.Drain, then the peer is told. Reads and writes fail from now on,
// and what is unread is dropped. The second Close returns net.ErrClosed.
func (c *Conn) Close() error {
	err := c.shut(func(now monotime.Time) { c.sess.Close(now) }, nil)
	c.ep.tx.flush(leadBatches)
	c.ep.role.resume() // what was written is to be acknowledged
	return err
}

// Abort ends the connection without waiting for what was written: the peer is told at
// once. Cause becomes the cause of the connection's end, nil means net.ErrClosed.
func (c *Conn) Abort(cause error) {
	c.abort(cause)
	c.ep.tx.flush(leadBatches)
}

// abort is Abort without the flush.
func (c *Conn) abort(cause error) {
	c.shut(func(now monotime.Time) { c.sess.Abort(now, orClosed(cause)) }, cause)
}

func (c *Conn) shut(how func(now monotime.Time), cause error) error {
	e := c.ep
	now := e.clock.Now()
	c.mu.Lock()
	again := c.closed
	c.closed, c.acceptBy = true, 0
	w := c.leave(orClosed(cause))
	how(now)
	var d arq.Delivery
	for c.sess.NextMessage(&d) { // of a connection that had ended before
		d.Release()
	}
	w |= c.events()
	w |= c.transmit(now, e.stepBudget, false)
	c.mu.Unlock()
	c.after(w)
	if again {
		return net.ErrClosed
	}
	return nil
}

// kill ends the connection without a word to the peer, whatever state it is in.
func (c *Conn) kill(cause error) {
	c.mu.Lock()
	var w work
	w |= c.leave(cause)
	if !c.ended {
		w |= c.end(cause)
	}
	if c.seldom().receipts.anySettled() {
		w |= workSettle
	}
	if !c.dead { // else unread messages may be left, and stay readable
		c.dead = true
		w |= workBury
		c.sess.Release()
	}
	w |= c.traced()
	c.mu.Unlock()
	c.after(w)
}

// lastHeard returns when the last believable datagram came, or the connection was made.
func (c *Conn) lastHeard() monotime.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sess.LastHeard()
}

// forgetUnopened buries an admitted connection that ended before it was complete:
// nobody's data depends on it lingering, and its place is wanted.
func (c *Conn) forgetUnopened() {
	c.mu.Lock()
	opened, end := c.opened, c.seldom().ending
	c.mu.Unlock()
	if !opened {
		c.kill(end.cause)
	}
}
