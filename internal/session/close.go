package session

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

// Close ends the connection in good order. Sends fail and nothing more is delivered
// from now on. What was written before goes out and is acknowledged (up to
// Timing.Drain), then the disconnect notification leaves and is resent until it is
// acknowledged (up to Timing.Farewell); with that the connection is Dead. The drain comes first because a receiver
// orders the notification only against its own channel, and what is still missing
// on others, or in other modes, would be lost; where nothing was written it is left out. EventClosed then says ErrClosed, or
// ErrCloseTimeout if the drain was cut short, or ErrDisconnected if the peer left
// meanwhile: without an answer of the peer's, repeated datagrams are answered for Timing.Linger more. Before the
// handshake is complete Close is Abort with ErrClosed. Closing twice does nothing.
func (c *Conn) Close(now monotime.Time) {
	now = c.tick(now)
	switch c.state {
	case Handshaking:
		c.finish(now, ErrClosed, true)
	case Connected:
		c.state = Closing
		c.inbox.clear()
		c.unreadChanged(now)
		c.timers.set(timerClose, now.Add(max(c.timing.Drain, 0)))
		c.closeStep(now)
		if c.state == Closing && c.timing.Drain < 0 {
			c.closeExpired(now)
		}
	}
}

// Abort ends the connection at once for the given reason (nil means ErrClosed): what
// is queued, unacknowledged or unread is dropped and one disconnect notification is
// queued, unordered, so that nothing holds it back. Does nothing once the connection is closed.
func (c *Conn) Abort(now monotime.Time, cause error) {
	now = c.tick(now)
	if c.state >= Closed {
		return
	}
	if cause == nil {
		cause = ErrClosed
	}
	c.inbox.clear()
	c.finish(now, cause, true)
}

// said is what the peer was told.
type said uint8

const (
	saidNothing   said = iota // by the application
	saidSomething             // by the application
	saidBye                   // Closing: the 0x15 is queued
)

// closeStep moves a graceful close on, as far as acknowledgements allow.
func (c *Conn) closeStep(now monotime.Time) {
	// Where nothing was written there is nothing to wait for: what else is under way is the connection's own, on
	// the notification's channel and before it.
	wait := c.said != saidNothing || c.timing.Farewell < 0
	switch {
	case c.state != Closing || wait && !c.eng.Drained():
	case c.said == saidBye:
		c.finish(now, ErrClosed, false)
		c.die() // the peer knows, and has nothing more to say
	case c.timing.Farewell < 0:
		c.finish(now, ErrClosed, true)
	default:
		c.said = saidBye
		c.sendControl(now, []byte{byte(protocol.IDDisconnect)}, protocol.ReliableOrdered, protocol.PriorityLow)
		c.timers.set(timerClose, now.Add(c.timing.Farewell))
	}
}

// closeExpired handles timerClose: whatever the close was waiting for did not come.
func (c *Conn) closeExpired(now monotime.Time) {
	switch {
	case c.state == Closed:
		c.die()
	case c.said == saidBye: // all data arrived; only the answer to the 0x15 is missing
		c.finish(now, ErrClosed, true)
	default:
		c.finish(now, ErrCloseTimeout, true)
	}
}

// disconnected handles the peer's 0x15. Messages before it on its channel were
// delivered; whatever comes after is dropped.
func (c *Conn) disconnected(now monotime.Time) {
	if c.proving() {
		c.connect(now) // it has nothing to prove any more, and what it said is to be read
	}
	cause := ErrDisconnected
	if c.state == Closing && c.said == saidBye {
		cause = ErrClosed // both sides closed at once, and ours had arrived in full
	}
	c.finish(now, cause, false)
}

// ending is how a connection ended.
type ending struct {
	cause  error
	toldAt monotime.Time // when the peer was last told
}

// finish enters Closed. notify queues one disconnect notification, unreliable: no
// answer is waited for.
func (c *Conn) finish(now monotime.Time, cause error, notify bool) {
	if c.state == Handshaking {
		c.inbox.clear() // held for a handshake that never completed
	}
	c.state, c.closedDue, c.end = Closed, true, &ending{cause, now}
	c.timers.clear()
	c.eng.SetUnread(0)
	c.eng.Abandon()
	if notify {
		c.sendControl(now, []byte{byte(protocol.IDDisconnect)}, protocol.Unreliable, protocol.PriorityImmediate)
	}
	c.timers.set(timerClose, now.Add(max(c.timing.Linger, 0)))
}

// tellAgain answers data that came after the end with another disconnect notification: the
// first one must have been lost. What came is not acknowledged, since nobody reads it.
func (c *Conn) tellAgain(now monotime.Time) {
	if c.end.cause == ErrDisconnected || now.Sub(c.end.toldAt) < tellEvery {
		return
	}
	c.end.toldAt = now
	c.sendControl(now, []byte{byte(protocol.IDDisconnect)}, protocol.Unreliable, protocol.PriorityImmediate)
}

// tellEvery is the least time between two such answers. Arbitrary: about a round trip.
const tellEvery = 100 * time.Millisecond

// die enters Dead and gives every engine buffer back.
func (c *Conn) die() {
	if c.state == Dead {
		return
	}
	c.state = Dead
	c.timers.clear()
	c.eng.Close()
}
