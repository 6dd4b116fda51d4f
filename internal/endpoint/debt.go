package endpoint

import "time"

// debt is the ACKs that the reader holds back while a transfer runs. Each costs both ends a system call and
// the sender a wake-up, and on a short path a batch is little and the next a moment away. So the
// ACK of a batch leaves with that of the next ones (arq.Engine.HoldAcks), unless none comes for debtWait. The reader
// must be able to look without a detour through the scheduler, and have one connection only.
type debt struct {
	to    *Conn // whose ACKs are held; nil: nobody's
	holds bool  // those of the next batch may be
	doubt int   // batches until ACKs are held again, after a wait in vain
}

const (
	// debtWait is how long the reader waits for the next batch before it acknowledges the last. Some batches of
	// a transfer, and no more than what the system needs to wake a thread; arbitrary.
	debtWait = 100 * time.Microsecond
	// debtBytes is how much a batch brings that is part of a transfer. Arbitrary.
	debtBytes = 8 << 10
	// debtDoubt is how many batches are acknowledged at once after such a wait was in vain: the sender may be
	// one that waits for each ACK. Arbitrary.
	debtDoubt = 64
)

// read is ReadBatch for a reader who may owe ACKs. Nothing at all came if the count is zero without an error.
func (d *debt) read(e *Endpoint) (int, error) {
	if d.to == nil {
		return e.sock.ReadBatch(e.reader.in)
	}
	n, err := e.rush.poller.Glance(e.reader.in, debtWait)
	if n == 0 {
		d.doubt = debtDoubt
		d.pay(e)
	}
	return n, err
}

// pay sends what is owed.
func (d *debt) pay(e *Endpoint) {
	c := d.to
	d.to, d.holds = nil, false
	now := e.clock.Now()
	c.mu.Lock()
	c.sess.HurryAcks()
	w := c.transmit(now, e.stepBudget, false)
	c.mu.Unlock()
	c.after(w)
	e.tx.flush(leadBatches)
}

// note takes down what the batch brought that was just processed: so many bytes for the connection c, nil if
// it was not one.
func (d *debt) note(e *Endpoint, c *Conn, bytes int) {
	d.to = nil
	if d.holds && c != nil {
		c.mu.Lock()
		if c.sess.AckOwed() {
			d.to = c
		}
		c.mu.Unlock()
	}
	d.doubt = max(d.doubt-1, 0)
	d.holds = d.doubt == 0 && c != nil && bytes >= debtBytes && e.alone() && e.rush.poller != nil && e.rush.poller.Wakeful()
}

// starts tells a connection, before the first datagram of a batch, whether its ACKs may be held. c.mu is held.
func (d *debt) starts(c *Conn) { c.sess.HoldAcks(d.holds) }
