package endpoint

import (
	"context"
	"os"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/pool"
)

// Read waits for a message and copies it into p. If it does not fit it is lost, and the
// error is ErrBufferTooSmall. Messages that came before the peer ended the connection
// are given first, then the cause.
func (c *Conn) Read(p []byte) (int, error) {
	if n, ok := c.readOn(p); ok {
		return n, nil
	}
	var d arq.Delivery
	if err := c.next(context.Background(), &d); err != nil {
		return 0, err
	}
	size, n := d.Len(), 0
	if size <= len(p) {
		n = d.CopyTo(p)
	}
	d.Release()
	if n < size {
		return 0, ErrBufferTooSmall
	}
	return n, nil
}

// readOn reads the next message where there are several, and nobody else waits for one.
func (c *Conn) readOn(p []byte) (n int, ok bool) {
	c.mu.Lock()
	if r := c.read.Load(); !c.closed && c.handler == nil && !r.waiting() && !r.late() {
		n, ok = c.sess.Read(p)
	}
	c.mu.Unlock()
	return n, ok
}

// ReadPacket waits for a message and returns it in a slice that belongs to the caller.
func (c *Conn) ReadPacket() ([]byte, error) {
	m, err := c.Receive(context.Background())
	return m.Data, err
}

// Receive waits for a message, until ctx ends or the read deadline passes.
func (c *Conn) Receive(ctx context.Context) (Message, error) {
	var d arq.Delivery
	if err := c.next(ctx, &d); err != nil {
		return Message{}, err
	}
	m := Message{Reliability: d.Reliability, Channel: d.Channel}
	m.Data = d.AppendTo(make([]byte, 0, d.Len()))
	d.Release()
	return m, nil
}

// next waits for a message.
func (c *Conn) next(ctx context.Context, d *arq.Delivery) error {
	waited := false
	for {
		err, done := c.take(ctx, d, waited)
		if done {
			if err == errGone {
				err = c.Cause()
			}
			return err
		}
		c.waitToRead(ctx)
		waited = true
	}
}

// take gives the next message or the reason why there will be none, or reports that
// the caller has to wait, and counts it among the waiting.
func (c *Conn) take(ctx context.Context, d *arq.Delivery, waited bool) (err error, done bool) {
	stop := ctx.Err()
	c.mu.Lock()
	r := c.read.Load()
	if waited {
		r.n--
	}
	switch {
	case c.closed:
		err = errGone
	case r.late(): // asked under the lock: who counts as waiting when it passes is woken
		err = os.ErrDeadlineExceeded
	case stop != nil:
		err = stop
	case c.handler == nil && c.sess.NextMessage(d):
	case c.gone:
		err = errGone
	default:
		c.readers().n++
		c.mu.Unlock()
		return nil, false
	}
	more := r.waiting() && (c.closed || c.gone || c.sess.MessagePending() || r.late())
	c.mu.Unlock()
	if more {
		r.gate.open() // for the next who waits
	}
	return err, true
}

// waitToRead waits until it makes sense to look again. Where it can it does not wait
// for the reader to find something, but reads the socket itself: a hand-off between
// goroutines costs more than everything else that happens to a small message.
func (c *Conn) waitToRead(ctx context.Context) {
	role := &c.ep.role
	var granted chan struct{}
	if lead, wait := c.mayLead(ctx); lead {
		switch role.request() {
		case roleTaken:
			c.lead()
			return
		case roleAsked:
			granted = role.granted
		}
	} else if wait {
		role.resume()
	}
	// What ends the wait opens the gate: a goroutine takes a tenth of a KiB more for every
	// channel that it waits at, and so does the channel.
	r := c.readers()
	if granted == nil && ctx.Done() == nil {
		<-r.gate
		return
	}
	select {
	case <-granted:
		c.lead()
		return
	case <-r.gate:
	case <-ctx.Done():
	}
	if granted != nil {
		role.withdraw()
	}
}

// mayLead reports whether a caller of Read may read the socket itself, and if not
// whether the background needs to know that somebody waits for it.
func (c *Conn) mayLead(ctx context.Context) (lead, wait bool) {
	if !c.ep.lead {
		return false, false
	}
	if !c.ep.alone() {
		return false, true
	}
	c.mu.Lock()
	lead = c.handler == nil && ctx.Done() == nil
	c.mu.Unlock()
	return lead, !lead
}

// alone reports whether there is a single connection on the socket: one that was
// dialed, or the only one of a listener. With several, a caller would read mostly for
// others, and hand the role over whenever its own message came.
func (e *Endpoint) alone() bool { return e.cfg.Solo || e.here.Load() == 1 }

// lead reads the socket until there is something for this connection's readers, or
// its deadline has passed, or it is over, or the socket has other connections.
func (c *Conn) lead() {
	e, r := c.ep, c.readers()
	c.mu.Lock()
	r.n-- // nobody need wake this one
	c.mu.Unlock()
	for {
		e.prepare()
		if c.readable() || !e.alone() || !e.readOnce() {
			break
		}
	}
	c.mu.Lock()
	others := r.n > 0 || c.handler != nil || !e.alone()
	r.n++
	c.mu.Unlock()
	e.role.leave(others)
}

// readable reports whether take would return.
func (c *Conn) readable() bool {
	if c.read.Load().late() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone || c.handler != nil || c.sess.MessagePending()
}

// Handle gives every message from now on, and those that wait, to fn: at once, in the
// order of delivery, never two at a time, called by the goroutine that applied the
// datagram, which serves the other connections as well. So fn must not block; it may
// send, which waits only when the send buffer is full. Message.Data is valid during
// the call. A panic of fn ends the connection with ErrHandlerPanic. Nil goes back to reading.
func (c *Conn) Handle(fn func(Message)) {
	c.mu.Lock()
	c.handler = fn
	c.held++
	c.mu.Unlock()
	c.ep.role.kickLeader()
	c.deliver()
	now := c.ep.clock.Now()
	c.mu.Lock()
	c.held--
	w := c.events() | c.transmit(now, c.ep.stepBudget, false)
	c.mu.Unlock()
	c.after(w)
	c.ep.tx.flush(leadBatches)
}

// deliver hands the waiting messages to the handler, unless somebody is at it.
func (c *Conn) deliver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calling {
		return
	}
	c.calling = true
	handlers.Add(1)
	defer handlers.Add(-1)
	var d arq.Delivery
	for c.opened && !c.closed && c.handler != nil && c.sess.NextMessage(&d) {
		fn := c.handler
		c.mu.Unlock()
		c.call(fn, &d)
		c.mu.Lock()
	}
	c.calling = false
}

func (c *Conn) call(fn func(Message), d *arq.Delivery) {
	data, whole := d.Bytes()
	var buf *pool.Buffer
	if !whole {
		buf = pool.Get(d.Len())
		data = d.AppendTo(buf.B[:0])
	}
	defer func() {
		if buf != nil {
			buf.Release()
		}
		d.Release()
		if v := recover(); v != nil {
			c.ep.panicked("message handler", v)
			c.Abort(ErrHandlerPanic)
		}
	}()
	fn(Message{Data: data, Reliability: d.Reliability, Channel: d.Channel})
}
