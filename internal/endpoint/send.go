package endpoint

import (
	"context"
	"os"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/protocol"
)

// Write sends p as one reliable ordered message on channel 0. An empty p is no message,
// and no error.
func (c *Conn) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if _, err := c.Send(context.Background(), p, SendOptions{Reliability: protocol.ReliableOrdered}); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Send sends one message; payload may be reused when it returns. A reliable message
// waits while the send buffer is full, until ctx ends or the write deadline passes. An
// unreliable one never waits: it is dropped instead, and counted. The Receipt is nil
// unless the reliability asks for one.
//
// Errors: the cause of the connection's end, os.ErrDeadlineExceeded, that of ctx,
// ErrReceipts, and those of session.Conn.Send.
func (c *Conn) Send(ctx context.Context, payload []byte, o SendOptions) (*Receipt, error) {
	if c.write.Load().late() {
		return nil, os.ErrDeadlineExceeded
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Reliability == protocol.ReliableOrdered && len(payload) <= joinMost && c.join(payload, o.Channel, o.Priority) {
		return nil, nil
	}
	m := arq.Message{Payload: payload, Reliability: o.Reliability, Channel: o.Channel, Priority: o.Priority}
	if len(payload) > arq.MaxFrame(c.MTU()) {
		if len(payload) > c.ep.maxMessage(c.MTU()) {
			return nil, session.ErrMessageTooLarge
		}
		// The copy is made without the lock, so that nobody waits for it.
		c.mu.Lock()
		mtu := c.sess.CutMTU()
		c.mu.Unlock()
		if len(payload) > arq.MaxFrame(mtu) {
			m.Fragments = arq.Cut(payload, mtu, o.Reliability)
		}
	}
	var r *Receipt
	if o.Reliability.WithReceipt() {
		r = newReceipt()
	}
	wait := o.Reliability.IsReliable()
	c.mu.Lock()
	w, err := c.submit(&m, r, wait && c.write.Load().waiting())
	c.mu.Unlock()
	if err == session.ErrSendBufferFull && wait {
		w, err = c.submitInTurn(ctx, &m, r)
	}
	c.after(w &^ (workSent | workAhead))
	if w&workSent != 0 {
		c.ep.sent(c)
		if w&workAhead != 0 {
			c.pause()
		}
		return r, nil
	}
	if m.Fragments != nil {
		m.Fragments.Release()
	}
	switch err {
	case session.ErrSendBufferFull: // an unreliable message
		if r != nil {
			r.settle(ErrReceiptLost)
		}
		return r, nil
	case errGone:
		err = c.Cause()
	}
	return nil, err
}

// join adds a message to a datagram that waits to leave, if there is one with room for it: whoever
// sends that has nothing more to do for it.
func (c *Conn) join(payload []byte, channel uint8, p protocol.Priority) bool {
	c.mu.Lock()
	joined := !c.write.Load().waiting() && !c.gone && c.sess.Join(payload, channel, p)
	c.mu.Unlock()
	return joined
}

// joinMost is the longest message for which that is looked at: of longer ones hardly two fit a datagram, but for wide ones.
const joinMost = 2000

// submit gives a message to the session and, unless others are about to, sends what
// may leave. With behind set it only waits in line. c.mu is held.
func (c *Conn) submit(m *arq.Message, r *Receipt, behind bool) (work, error) {
	switch {
	case c.gone:
		return 0, errGone
	case behind:
		return 0, session.ErrSendBufferFull
	case r != nil && c.seldom().receipts.full():
		return 0, ErrReceipts
	case r != nil:
		m.ReceiptID = c.seldom().receipts.next()
	}
	joins := c.joins(m)
	now := c.sess.Now()
	if !joins {
		now = c.ep.clock.Now()
	}
	if err := c.sess.Send(now, m); err != nil {
		if err == session.ErrSendBufferFull && !m.Reliability.IsReliable() {
			c.makeRare().dropped++
		}
		return 0, err
	}
	if r != nil {
		c.addReceipt(r)
	}
	switch {
	case c.held > 0 || c.pumping:
		return workSent | c.ahead(m), nil // whoever it is looks again before resting
	case joins:
		return workSent | c.ahead(m) | c.flow(now), nil
	case !c.answered && c.lastSent != 0 && now.Sub(c.lastSent) < burstGap:
		c.pumping = true
		return workSent | c.ahead(m) | workPump, nil
	}
	c.answered, c.lastSent = false, now
	return workSent | c.ahead(m) | c.transmit(now, c.ep.stepBudget, false), nil
}

// joins reports whether a message joins others that are leaving or about to. Then it needs no
// clock, which costs as much as all else that happens to a small one. c.mu is held.
func (c *Conn) joins(m *arq.Message) bool {
	return m.Reliability.IsReliable() && m.Priority != protocol.PriorityImmediate &&
		(c.held > 0 || c.pumping || c.sess.Flowing())
}

// flow lets a message wait for company, or sends it with what has come together. c.mu is held.
func (c *Conn) flow(now monotime.Time) work {
	if c.sess.Plenty() {
		return c.transmit(c.ep.clock.Now(), pumpDatagrams, true) &^ workMore // the next message, or an ACK, sends the rest
	}
	if p := c.pausing(); p.lingerAt <= now { // the driver, when it came at that moment, told the session the time
		now = c.ep.clock.Now()
		p.lingerAt = now.Add(linger)
		c.ep.driver.arm(now, c, p.lingerAt)
	}
	return 0
}

// submitInTurn is submit for a message that the send buffer has no room for yet. Of
// those who wait, one at a time looks for space, so that a large message is not
// overtaken for ever by small ones.
func (c *Conn) submitInTurn(ctx context.Context, m *arq.Message, r *Receipt) (work, error) {
	line, over := c.writers(), c.isOver()
	c.mu.Lock()
	line.n++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		line.n--
		c.mu.Unlock()
	}()
	c.ep.role.resume() // acknowledgements make the space
	deadline := line.deadline.wait()
	select {
	case line.turns <- struct{}{}:
	case <-over:
		return 0, errGone
	case <-deadline:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-line.turns }()
	for {
		deadline = line.deadline.wait()
		if isClosed(deadline) {
			return 0, os.ErrDeadlineExceeded
		}
		c.mu.Lock()
		w, err := c.submit(m, r, false)
		line.want = min(m.Size(), c.ep.sendBuffer)
		c.mu.Unlock()
		if err != session.ErrSendBufferFull {
			return w, err
		}
		select {
		case <-line.gate:
		case <-over:
		case <-deadline:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
