package session

import (
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Side says which part in the handshake a connection plays. Nothing else differs.
type Side uint8

const (
	// Client sends the connection request (0x09) and is connected at 0x10.
	Client Side = iota
	// Server answers it with 0x10 and is connected at 0x13.
	Server
)

// String names the side.
func (s Side) String() string {
	if s == Server {
		return "server"
	}
	return "client"
}

// State is how far a connection's life has come. It only moves forward.
type State uint8

const (
	// Handshaking: Send gives ErrNotConnected. User messages that come early are held.
	Handshaking State = iota
	// Connected: messages flow.
	Connected
	// Closing: Close was called. Send gives ErrClosed, nothing more is delivered,
	// and what was written is on its way, with the disconnect after it.
	Closing
	// Closed: over; only repeated datagrams are still acknowledged (Timing.Linger), and a
	// peer that goes on sending is told again.
	// EventClosed is ready or was taken.
	Closed
	// Dead: nothing is left to do; the connection may be forgotten once events and
	// messages were taken. Every buffer but those of unread messages was released.
	Dead
)

// String names the state.
func (s State) String() string {
	switch s {
	case Handshaking:
		return "handshaking"
	case Connected:
		return "connected"
	case Closing:
		return "closing"
	case Closed:
		return "closed"
	case Dead:
		return "dead"
	}
	return "unknown"
}

// Config describes a connection. Init copies what it needs.
type Config struct {
	Side Side
	// MTU is the negotiated size with its 28 bytes of overhead, Version the
	// negotiated protocol version (it picks 10 or 20 internal addresses).
	MTU     int
	Version byte
	// LocalGUID goes into a client's request. PeerGUID is only remembered: a
	// connection request that names another GUID is not held against anybody.
	LocalGUID, PeerGUID int64
	// PeerAddr is the address that the handshake tells the peer it was seen at.
	// The zero value is written as unassigned.
	PeerAddr netip.AddrPort
	// EpochMilli plus the present time in milliseconds is what goes into the time
	// stamps of control messages.
	EpochMilli int64
	// Unproven says that a server's client may not be where its datagrams come from: no
	// cookie was asked for. Until it echoes a time that it cannot guess, no more is sent than
	// about three times what was received. Nonce is what makes times so: a random number.
	Unproven bool
	Nonce    uint32
	// Near says that the peer is seen at an address of this machine, and that datagrams of arq.WideMTU can be received.
	Near bool
	// ARQ configures the engine. Init sets its MTU to the MTU above.
	ARQ arq.Config
	// Timing holds the durations; its zero value means all defaults.
	Timing Timing
	// Settled is what Timing.Settle returned, for many connections to share; Timing is then
	// not looked at.
	Settled *Timing
}

// Conn is one connection. Call Init before anything else. Not safe for concurrent
// use. No method blocks.
type Conn struct {
	eng    arq.Engine
	timing *Timing
	timers timers

	inbox  inbox
	now    monotime.Time // latest seen
	busy   monotime.Time // when the application last sent or was sent something; unset: it never was
	epoch  int64         // EpochMilli
	peerID int64

	handshake *handshake // nil: it is over, and nothing of it is asked for again
	keepalive keepalive
	strikes   bucket
	credit    *credit // nil: no bound
	end       *ending // nil: it has not come

	controls     uint64 // control messages that arrived: not the application's
	nonce        uint32 // 0: the peer's address is proven, or nobody cares
	newest       uint32 // where the peer's numbers are, see strange.go
	stranger     uint32 // the number of the last datagram that may be somebody else's, and in the upper byte when one must be
	strangeAt    uint16 // when that came
	mtu          uint16
	side         Side
	state        State
	version      byte
	kin          uint8 // how long the peer bears silence, in units of kinUnit, kinForever for ever; 0: it is another implementation
	doubt        doubt // whether a disconnect waits to be believed
	connectedDue bool  // EventConnected was not taken yet
	closedDue    bool  // EventClosed was not taken yet
	said         said
}

// Init makes c a fresh connection at time now. A client queues its connection
// request at once; a server waits for one. c must not be in use.
func (c *Conn) Init(now monotime.Time, cfg *Config) {
	*c = Conn{
		timing: cfg.Settled, now: now, epoch: cfg.EpochMilli, peerID: cfg.PeerGUID,
		handshake: &handshake{guid: cfg.LocalGUID, peer: cfg.PeerAddr},
		side:      cfg.Side, version: cfg.Version, mtu: uint16(cfg.MTU),
	}
	if c.timing == nil {
		c.timing = cfg.Timing.Settle()
	}
	engine := cfg.ARQ
	engine.MTU = cfg.MTU
	c.eng.Init(now, &engine)
	if cfg.Near {
		c.eng.TakeWide()
	}
	c.newest = uint32(engine.FirstDatagram-1) & wire.Mask24
	c.timers.clear()
	c.timers.requested = monotime.Never
	c.keepalive.init(now)
	if cfg.Unproven && cfg.Side == Server {
		c.credit = newCredit()
		c.nonce = cfg.Nonce
	}
	c.startHandshake(now)
}

// Receive applies one datagram (or bare ACK or NACK) from the peer. data is borrowed
// for the call; b is the buffer that it lies in, so that payloads can outlive the
// call by reference, or nil to have them copied. A datagram that is not a
// connected one (bit 7 of the first byte clear, or empty) has no effect. The verdict
// is the engine's; violations that only the peer can have sent count against the connection's
// strike budget, over which it ends with ErrViolations.
func (c *Conn) Receive(now monotime.Time, b *pool.Buffer, data []byte) arq.Verdict {
	now = c.tick(now)
	if c.state == Dead || len(data) == 0 || data[0]&0x80 == 0 {
		return arq.VerdictIgnored
	}
	c.credit.earn(len(data))
	place := c.place(now, data)
	if place == elsewhere {
		return c.eng.Refuse(now, data)
	}
	delivered := c.eng.Delivered()
	v := c.eng.Receive(now, b, data)
	c.collect(now)
	if c.state >= Closed {
		if v == arq.VerdictRefused {
			c.tellAgain(now)
		}
		return v
	}
	switch {
	case v.Alive():
		c.heard(now)
		if v != arq.VerdictRefused { // which leaves nothing behind
			c.follow(now, data, place)
		}
		if c.doubt != noDoubt && v != arq.VerdictDuplicate && (place != nowhere || c.eng.Delivered() > delivered) {
			c.reassure(now)
		}
	case v == arq.VerdictMalformed && place == here && !c.besieged(now):
		// Not so an ACK of what was never sent, though it is a violation as well: whoever
		// forges our address makes an honest peer send those, and they cost little.
		if !c.strikes.take(now, strikeInterval, strikeBurst) {
			c.finish(now, ErrViolations, true)
			return v
		}
	}
	c.hasten()
	c.closeStep(now)
	return v
}

// Advance does what is due at or before now. Call it at Deadline, or whenever.
func (c *Conn) Advance(now monotime.Time) {
	now = c.tick(now)
	if c.state == Dead {
		return
	}
	c.forgiveStall(now)
	c.eng.Advance(now)
	c.collect(now)
	c.hasten()
	if c.eng.Broken() && c.state < Closed {
		c.finish(now, ErrIncomplete, true)
	}
	c.fire(now)
	c.closeStep(now)
	if c.busy.IsZero() || now.Sub(c.busy) >= restAfter {
		c.eng.Rest(now)
		c.inbox.trim()
		c.timers.rest()
	}
}

// restAfter is how long the application must have been quiet before memory that only traffic
// needs is given back. It has to be less than Timing.Ping, since an idle connection is not
// looked at but for its pings. Arbitrary.
const restAfter = time.Second

// Send queues a message. The payload is borrowed for the call; fragments are taken
// if it succeeds. Errors: ErrNotConnected, ErrClosed, ErrEmpty, ErrReliability,
// ErrChannel, ErrPriority, ErrControlID, ErrMessageTooLarge, ErrSendBufferFull; all
// compare by identity, and none harms the connection.
func (c *Conn) Send(now monotime.Time, m *arq.Message) error {
	now = c.tick(now)
	if err := c.vet(m); err != nil {
		return err
	}
	c.busy, c.said = now, saidSomething
	return c.eng.Send(now, m)
}

// vet returns why the application may not send m, or nil.
func (c *Conn) vet(m *arq.Message) error {
	switch {
	case c.state == Handshaking:
		return ErrNotConnected
	case c.state != Connected:
		return ErrClosed
	case m.Size() == 0:
		return ErrEmpty
	case !m.Reliability.Valid():
		return ErrReliability
	case m.Channel >= protocol.OrderingChannels:
		return ErrChannel
	case !m.Priority.Valid():
		return ErrPriority
	case protocol.ID(m.First()).IsControl():
		return ErrControlID
	}
	return nil
}

// sendControl queues a message of the connection itself. These are exempt from the
// send buffer's bound; each caller bounds its own.
func (c *Conn) sendControl(now monotime.Time, payload []byte, r protocol.Reliability, p protocol.Priority) {
	// Cannot fail: not empty, valid mode, channel 0, few fragments.
	_ = c.eng.Send(now, &arq.Message{Payload: payload, Reliability: r, Priority: p, Control: true})
}

// Transmit returns the next datagram that may leave now, as Bytes of the buffer, or
// nil. The caller releases it after the socket took it. During a close the last
// datagram may complete it, so that Next has one more event (see Pending).
func (c *Conn) Transmit(now monotime.Time) *pool.Buffer {
	now = c.tick(now)
	if c.state == Dead || c.credit.overdrawn() {
		return nil
	}
	b := c.eng.Transmit(now)
	if b == nil && c.state == Closing {
		// The last unreliable message may just have left, which nobody acknowledges.
		c.closeStep(now)
		b = c.eng.Transmit(now)
	}
	if b != nil {
		c.credit.spend(b.N)
	}
	if b != nil && wire.Classify(b.Bytes()) == wire.KindFrameSet {
		c.keepalive.lastSent = now
	}
	return b
}

// Deadline returns when Advance must be called, or Never. It is not in the past
// unless something is due.
func (c *Conn) Deadline() monotime.Time {
	if c.state == Dead {
		return monotime.Never
	}
	d := c.deadline()
	c.timers.requested = d
	if c.credit != nil {
		c.timers.requested = max(d, c.now) // what waited for credit was due before
	}
	return d
}

// Next takes the next event. Events keep their order: connected, receipts, closed.
func (c *Conn) Next(ev *Event) bool {
	if c.connectedDue {
		c.connectedDue = false
		*ev = Event{Kind: EventConnected}
		return true
	}
	var r arq.ReceiptEvent
	if c.eng.NextReceipt(&r) {
		*ev = Event{Kind: EventReceipt, ID: r.ID, Acked: r.Acked}
		return true
	}
	if c.closedDue {
		c.closedDue = false
		*ev = Event{Kind: EventClosed, Err: c.Err()}
		return true
	}
	return false
}

// NextMessage takes the next message for the application, in delivery order. The
// caller releases it. Nothing is given before the connection is connected; what had
// arrived before the peer's disconnect stays available after it. Close and Abort
// drop what is unread.
func (c *Conn) NextMessage(d *arq.Delivery) bool {
	if c.state == Handshaking || !c.inbox.pop(d) {
		return false
	}
	c.unreadChanged(c.now)
	return true
}

// Read copies the next message to p and returns its length, if it came together with others and fits; false
// means that NextMessage knows more. It is NextMessage for messages of which there are many.
func (c *Conn) Read(p []byte) (int, bool) {
	if c.state == Handshaking {
		return 0, false
	}
	n, last, ok := c.inbox.read(p)
	if last || ok && c.eng.Full() { // every message may be the one that makes room
		c.unreadChanged(c.now)
	}
	return n, ok
}

// Loose returns the size of the receive buffers that unread messages are small parts of, which
// Unread says nothing of.
func (c *Conn) Loose() int { return int(c.inbox.loose) }

// Unread returns the bytes that unread messages count for against Limits.ReceiveBuffer.
func (c *Conn) Unread() int { return c.inbox.bytes }

// Pending reports whether Next or NextMessage has something to give.
func (c *Conn) Pending() bool {
	return c.connectedDue || c.closedDue || c.eng.ReceiptsReady() || c.MessagePending()
}

// MessagePending reports whether NextMessage has something to give.
func (c *Conn) MessagePending() bool { return c.state != Handshaking && c.inbox.len() > 0 }

// Release drops unread messages and every other buffer, and leaves c Dead without
// further events. For connections that are forgotten.
func (c *Conn) Release() {
	c.inbox.clear()
	c.die()
	c.connectedDue, c.closedDue = false, false
}

// State returns how far the connection's life has come.
func (c *Conn) State() State { return c.state }

// Err returns why the connection ended, or nil while it has not.
func (c *Conn) Err() error {
	if c.end == nil {
		return nil
	}
	return c.end.cause
}

// SendHeld returns how many bytes wait to be sent or acknowledged.
func (c *Conn) SendHeld() int { return c.eng.SendHeld() }

// SendSpace returns how many bytes Send would still take.
func (c *Conn) SendSpace() int { return c.eng.SendSpace() }

// Drained reports whether everything reliable that was sent is acknowledged.
func (c *Conn) Drained() bool { return c.eng.Drained() }

// RTT returns the smoothed round trip, which includes the time that the peer
// holds back its ACKs. Zero before the first sample.
func (c *Conn) RTT() time.Duration { return c.eng.RTT() }

// CutMTU is the size that messages are cut for at present: see arq.Engine.CutMTU.
func (c *Conn) CutMTU() int { return c.eng.CutMTU() }

// MTU returns the negotiated MTU.
func (c *Conn) MTU() int { return int(c.mtu) }

// Side returns the side that Init was given.
func (c *Conn) Side() Side { return c.side }

// Version returns the negotiated protocol version.
func (c *Conn) Version() byte { return c.version }

// PeerGUID returns the peer's GUID as the offline phase told it.
func (c *Conn) PeerGUID() int64 { return c.peerID }

// LastHeard returns when the last believable datagram came: an in-window one or an
// ACK of something sent. The start of the connection before any.
func (c *Conn) LastHeard() monotime.Time { return c.keepalive.lastHeard }

// tick keeps time from going back.
func (c *Conn) tick(now monotime.Time) monotime.Time {
	if now < c.now {
		return c.now
	}
	c.now = now
	return now
}

// millis is the time stamp that control messages of this moment carry.
func (c *Conn) millis(now monotime.Time) int64 { return now.Milli() + c.epoch }
