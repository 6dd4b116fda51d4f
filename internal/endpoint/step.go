package endpoint

import (
	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
)

// work is what a turn under a connection's lock leaves to be done without it.
type work uint16

const (
	workOpen   work = 1 << iota // the handshake is complete
	workOver                    // closed here or ended: wake everybody
	workEnd                     // the session has ended
	workBury                    // the session is dead
	workRead                    // a reader may find something
	workWrite                   // the blocked sender may find space
	workPump                    // a pump has to go on sending
	workSettle                  // receipts to tell about
	workCancel                  // with workOver: somebody has the Context
	workMore                    // to the pump, or who does its work: there may be more to send
	workSent                    // to a sender: the send queue is to be flushed
	workTrace                   // the tracer is to be told something
	workAhead                   // to a sender: it should pause
	workResume                  // a sender who paused may go on
)

// turn does what a connection has to do now: what happened to it, messages to its
// handler, at most budget datagrams into the send queue, the next deadline. The caller
// flushes the queue when it has served everybody it has to. With carry set what the budget leaves
// is the caller's to go on with, and turn reports whether there is anything; else it is a pump's.
func (c *Conn) turn(now monotime.Time, budget int, advance, carry bool) (more bool) {
	c.mu.Lock()
	if advance {
		c.advance(now)
		c.expire(now)
	}
	w := c.events()
	if w&workOpen != 0 || c.handler != nil && c.opened && c.sess.MessagePending() {
		// What the handler sends waits for the transmit below, so that the answers
		// to a batch leave as one.
		c.held++
		c.mu.Unlock()
		c.after(w)
		c.deliver()
		c.mu.Lock()
		c.held--
		w = c.events()
	}
	w |= c.transmit(now, budget, carry && !c.pumping)
	c.mu.Unlock()
	c.after(w &^ workMore)
	return w&workMore != 0
}

// advance fires the session's timers. c.mu is held.
func (c *Conn) advance(now monotime.Time) {
	c.sess.Advance(now)
	c.advanced = now
}

// events takes what happened out of the session. c.mu is held.
func (c *Conn) events() (w work) {
	var ev session.Event
	for c.sess.Next(&ev) {
		switch ev.Kind {
		case session.EventConnected:
			w |= workOpen
		case session.EventReceipt:
			c.seldom().receipts.settle(ev.ID, ev.Acked)
		case session.EventClosed:
			w |= c.end(ev.Err)
		}
	}
	if c.seldom().receipts.anySettled() {
		w |= workSettle
	}
	w |= c.mourn()
	return w | c.traced()
}

// transmit moves up to budget datagrams from the session to the send queue and arms
// the driver. c.mu is held.
func (c *Conn) transmit(now monotime.Time, budget int, pump bool) (w work) {
	if c.dead {
		return 0
	}
	e := c.ep
	var bufs [pumpDatagrams]*pool.Buffer
	room := e.tx.room()
	if pump {
		room -= txQueue - pumpQueue
	}
	n, spent, limit := 0, 0, max(min(budget, room), 0)
	for spent < limit {
		b := c.sess.Transmit(now)
		if b == nil {
			break
		}
		bufs[n] = b
		n++
		spent += arq.Datagrams(b.N) // a wide one is several
	}
	if n > 0 {
		e.tx.push(bufs[:n], c.peer, c.way.local, nil)
	}
	// Sending, too, brings events about: an unreliable message that grew too old in the
	// queue is reported lost.
	if w |= c.events(); c.dead {
		return w
	}
	soonest, latest := now, monotime.Never
	switch more := spent >= limit; {
	case !more:
		if n == 0 && c.advanced == now {
			// Nothing is left to do now. A deadline that says otherwise would be the
			// session's mistake, and must not make the driver spin.
			soonest = now.Add(txRetry)
		}
		c.pumping = c.pumping && !pump
	case limit < budget: // the send queue is full
		c.pumping = c.pumping && !pump
		soonest, latest = now.Add(txRetry), now.Add(txRetry)
	case pump:
		w |= workMore
	case !c.opened:
		latest = now // no pump yet: the driver goes on
	case !c.pumping:
		c.pumping = true
		w |= workPump
	}
	if !c.pumping {
		at := min(c.sess.Deadline(), latest)
		if c.acceptBy != 0 {
			at = min(at, c.acceptBy)
		}
		e.driver.arm(now, c, max(at, soonest))
	}
	if c.read.Load().waiting() && c.sess.MessagePending() {
		w |= workRead
	}
	if c.pauses != nil && c.pauses.n > 0 && c.sess.CaughtUp() {
		w |= workResume
	}
	if line := c.write.Load(); line.waiting() && c.sess.SendSpace() >= line.want {
		w |= workWrite
	}
	return w
}

// after does what is left of a turn. No lock is held.
func (c *Conn) after(w work) {
	if w == 0 {
		return
	}
	if w&workOpen != 0 {
		c.open()
	}
	if w&workRead != 0 {
		c.read.Load().gate.open()
	}
	if w&workWrite != 0 {
		c.write.Load().gate.open()
	}
	if w&workResume != 0 {
		c.pauses.gate.open()
	}
	if w&workOver != 0 {
		c.mu.Lock()
		over := c.seldom().over
		c.mu.Unlock()
		if over != nil {
			close(over)
		}
		if r := c.read.Load(); r != nil {
			r.gate.open()
		}
		if w&workCancel != 0 {
			go c.cancelContext() // which may run code of the user's
		}
		c.ep.role.kickLeader()
	}
	if w&workSettle != 0 {
		c.tellReceipts()
	}
	if w&workEnd != 0 {
		c.ep.unregister(c)
		if c.server && w&workOpen == 0 {
			c.forgetUnopened()
		}
	}
	if w&workBury != 0 {
		c.ep.bury(c)
	}
	if w&workTrace != 0 {
		go c.tellTrace()
	}
	if w&workPump != 0 {
		go c.pump()
		c.ep.role.resume() // acknowledgements are about to matter
	}
}
