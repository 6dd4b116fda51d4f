package endpoint

import (
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
)

// debt is the ACKs that the reader holds back while a transfer runs. Each costs both ends a system call and
// the sender a wake-up, and on a short path a batch is little and the next a moment away. So the
// ACK of a batch leaves with that of the next ones (arq.Engine.HoldAcks), unless none comes soon: for
// debtWait, where the reader can look without a detour through the scheduler, else by a timer of the connection's, with
// less at stake. The reader must have one connection only.
type debt struct {
	to    *Conn         // whose ACKs are held by a reader who looks; nil: nobody's
	how   arq.Hold      // those of the next batch are held
	owed  bool          // some were held by time when the last batch had been processed
	doubt int           // batches until ACKs are held again, after a wait in vain
	row   int           // batches that came one soon after the other
	at    monotime.Time // when the last one came
}

const (
	// debtWait is how long the reader waits for the next batch before it acknowledges the last. Some batches of
	// a transfer, and no more than what the system needs to wake a thread; arbitrary.
	debtWait = 100 * time.Microsecond
	// debtBytes is how much a batch brings that is part of a transfer. Where each is but a datagram, debtRow of
	// them are, each at most debtGap after the one before. All arbitrary.
	debtBytes = 8 << 10
	debtRow   = 16
	debtGap   = 200 * time.Microsecond
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
	d.to, d.how = nil, arq.HoldNot
	now := e.clock.Now()
	c.mu.Lock()
	c.sess.HurryAcks()
	w := c.transmit(now, e.stepBudget, false)
	c.mu.Unlock()
	c.after(w)
	e.tx.flush(leadBatches)
}

// starts tells a connection, before the first datagram of a batch, whether its ACKs may be held: those of the
// first in a batch may. c.mu is held.
func (d *debt) starts(c *Conn, first bool) {
	how := arq.HoldNot
	if first {
		how = d.how
	}
	c.sess.HoldAcks(how)
}

// note takes down what the batch brought that was just processed: so many bytes, the first of them for the
// connection c, nil if they were for none, and whether all were.
func (d *debt) note(e *Endpoint, now monotime.Time, c *Conn, all bool, bytes int) {
	gap, how := now.Sub(d.at), d.how
	d.at = now
	if d.owed && gap > debtGap {
		d.doubt = debtDoubt // who sends seems to have waited for it
	}
	if d.to != nil && d.to != c {
		d.pay(e) // its sender must not wait because somebody else's batch came
	}
	d.to, d.owed = nil, false
	if how != arq.HoldNot && c != nil {
		c.mu.Lock()
		owed := c.sess.AckOwed()
		c.mu.Unlock()
		if d.owed = owed && how == arq.HoldByTime; owed && how == arq.HoldByLooking {
			if d.to = c; !all {
				d.pay(e)
			}
		}
	}
	if !all {
		c = nil
	}
	d.doubt = max(d.doubt-1, 0)
	if d.row = min(d.row+1, debtRow); gap > debtGap || c == nil {
		d.row = 0
	}
	d.how = arq.HoldNot
	if d.doubt > 0 || c == nil || !e.alone() {
		return
	}
	switch {
	case e.rush.poller == nil:
		if d.row == debtRow {
			d.how = arq.HoldByTime
		}
	case bytes >= debtBytes && e.rush.poller.Wakeful():
		d.how = arq.HoldByLooking
	}
}
