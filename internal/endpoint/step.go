package endpoint

import (
	"net"

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
	workMore                    // to the pump: there may be more to send
	workSent                    // to a sender: the send queue is to be flushed
)

// turn does what a connection has to do now: what happened to it, messages to its
// handler, at most budget datagrams into the send queue, the next deadline. The caller
// flushes the queue when it has served everybody it has to.
func (c *Conn) turn(now monotime.Time, budget int, advance bool) {
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
	w |= c.transmit(now, budget, false)
	c.mu.Unlock()
	c.after(w)
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
			c.settle(ev.ID, ev.Acked)
		case session.EventClosed:
			w |= c.end(ev.Err)
		}
	}
	if len(c.settled) > 0 {
		w |= workSettle
	}
	return w | c.mourn()
}

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
	for id, r := range c.receipts {
		delete(c.receipts, id)
		c.settled = append(c.settled, settled{r: r, ended: true})
	}
	return workEnd | c.leave(err)
}

// leave notes the first reason for which the connection is no more. c.mu is held.
func (c *Conn) leave(err error) work {
	if c.gone {
		return 0
	}
	c.gone, c.cause = true, err
	if c.cancel != nil {
		return workOver | workCancel
	}
	return workOver
}

// transmit moves up to budget datagrams from the session to the send queue and arms
// the driver. c.mu is held.
func (c *Conn) transmit(now monotime.Time, budget int, pump bool) (w work) {
	if c.dead {
		c.pumping = false
		return 0
	}
	e := c.ep
	var bufs [pumpDatagrams]*pool.Buffer
	n, limit := 0, min(budget, e.tx.room())
	for n < limit {
		b := c.sess.Transmit(now)
		if b == nil {
			break
		}
		bufs[n] = b
		n++
	}
	if n > 0 {
		e.tx.push(bufs[:n], c.peer, c.local, nil)
	}
	// Sending, too, brings events about: an unreliable message that grew too old in the
	// queue is reported lost.
	if w |= c.events(); w&^workSettle != 0 {
		c.pumping = false
		return w
	}
	soonest, latest := now, monotime.Never
	switch more := n >= limit; {
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
	if c.read.n > 0 && c.sess.MessagePending() {
		w |= workRead
	}
	if c.write.n > 0 && c.sess.SendSpace() >= c.write.want {
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
		c.read.gate.open()
	}
	if w&workWrite != 0 {
		c.write.gate.open()
	}
	if w&workOver != 0 {
		close(c.over)
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
	if w&workPump != 0 {
		go c.pump()
		c.ep.role.resume() // acknowledgements are about to matter
	}
}

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
	c.mu.Unlock()
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
	if c.ready != nil {
		close(c.ready)
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
	if len(c.settled) > 0 {
		w |= workSettle
	}
	if !c.dead { // else unread messages may be left, and stay readable
		c.dead = true
		w |= workBury
		c.sess.Release()
	}
	c.mu.Unlock()
	c.after(w)
}

// forgetUnopened buries an admitted connection that ended before it was complete:
// nobody's data depends on it lingering, and its place is wanted.
func (c *Conn) forgetUnopened() {
	c.mu.Lock()
	opened, cause := c.opened, c.cause
	c.mu.Unlock()
	if !opened {
		c.kill(cause)
	}
}

func (c *Conn) tellReceipts() {
	c.mu.Lock()
	list := c.settled
	c.settled = nil
	c.mu.Unlock()
	for _, s := range list {
		switch {
		case s.ended:
			s.r.settle(c.Cause())
		case s.lost:
			s.r.settle(ErrReceiptLost)
		default:
			s.r.settle(nil)
		}
	}
}
