package session

import (
	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

const (
	// maxControl is the longest control message looked at: a 0x10 with twenty IPv6
	// addresses has 628 bytes, and room remains for peers that write more
	// addresses. A longer one is dropped.
	maxControl = 2048
	// heldMessages and heldBytes bound what is held for the application before the
	// handshake completes. A correct peer fills them only while its 0x13 (or a
	// server's 0x10) is being resent, with two or three round trips of
	// messages in other modes or on other channels. Full, an unreliable
	// message is dropped, and a reliable one, which can no longer be refused
	// unacknowledged, ends the connection with ErrEarlyOverflow.
	heldMessages = 1024
	heldBytes    = 512 << 10
)

// collect takes what the engine has completed, in delivery order.
func (c *Conn) collect(now monotime.Time) {
	var d arq.Delivery
	for c.eng.NextRun(&d) {
		switch {
		case d.Run() == 0:
			c.deliver(now, &d)
		case c.state == Connected:
			c.busy = now
			c.inbox.push(&d)
			c.unreadChanged(now)
		default:
			for d.Run() > 0 {
				var m arq.Delivery
				d.Take(&m)
				c.deliver(now, &m)
			}
		}
	}
}

// deliver routes one message: control messages are consumed here whatever their
// form, so that none ever reaches an application; the rest is the application's.
func (c *Conn) deliver(now monotime.Time, d *arq.Delivery) {
	id := protocol.ID(d.First())
	switch {
	case c.state >= Closed:
		d.Release()
	case id.IsControl():
		c.controls++
		c.control(now, id, d)
		d.Release()
	case c.state == Handshaking && c.side == Client && id == protocol.IDConnectionAttemptFailed:
		d.Release()
		c.finish(now, ErrRefused, false)
	case c.state == Handshaking && !c.proving():
		c.hold(now, d)
	case c.state == Closing: // nobody reads any more
		d.Release()
	default:
		c.busy = now
		c.inbox.push(d)
		c.unreadChanged(now)
	}
}

// hold keeps a user message that came before the handshake was complete.
func (c *Conn) hold(now monotime.Time, d *arq.Delivery) {
	d.Tighten()
	if c.inbox.len() < heldMessages && c.inbox.bytes+d.Charge() <= heldBytes {
		c.inbox.push(d)
		return
	}
	lossy := !d.Reliability.IsReliable()
	d.Release()
	if !lossy {
		c.finish(now, ErrEarlyOverflow, true)
	}
}

// control consumes one control message. A malformed one is dropped: its datagram
// was acknowledged all the same, since a peer would only send it again.
func (c *Conn) control(now monotime.Time, id protocol.ID, d *arq.Delivery) {
	if d.Len() > maxControl {
		return
	}
	b, whole := d.Bytes()
	if !whole {
		b = d.AppendTo(nil)
	}
	switch id {
	case protocol.IDConnectedPing:
		c.pinged(now, b)
	case protocol.IDConnectedPong:
		c.ponged(now, b)
	case protocol.IDConnectionRequest:
		c.requested(now, b)
	case protocol.IDConnectionRequestAccepted:
		c.accepted(now, b)
	case protocol.IDNewIncomingConnection:
		c.incoming(now, b)
	case protocol.IDDisconnect:
		if c.besieged(now) {
			c.doubtful(now)
		} else {
			c.disconnected(now)
		}
	case protocol.IDInvalidPassword:
		if c.side == Client && c.state == Handshaking {
			c.finish(now, ErrInvalidPassword, false)
		}
	case protocol.IDDetectLostConnections:
		// Its acknowledgement is the answer; the original engine does no more.
		c.eng.HurryAcks()
	}
}

// unreadChanged tells the engine how much is unread, and starts or stops the clock
// on an application that does not read.
func (c *Conn) unreadChanged(now monotime.Time) {
	c.eng.SetUnread(c.inbox.bytes)
	switch full := c.inbox.bytes >= c.eng.ReceiveBuffer(); {
	case !full:
		c.timers.stop(timerStall)
	case c.timing.ReceiveStall > 0 && !c.timers.armed(timerStall):
		c.timers.set(timerStall, now.Add(c.timing.ReceiveStall))
	}
}
