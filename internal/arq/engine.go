// Package arq is the frame-set engine of one peer: everything between whole
// messages and datagrams. It numbers, packs, splits, acknowledges, resends, orders
// and reassembles; it paces itself by a congestion controller and keeps every queue
// within a bound.
//
// The engine has no clock, no goroutine and no lock. Time comes in as an argument
// and never goes back, and equal inputs give equal outputs. The rule for callers:
// after any input take what NextDelivery and NextReceipt have, call Transmit until
// it returns nil or enough was sent, then read Deadline again; nothing else changes them.
package arq

import (
	"errors"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Errors of Send. Nothing has changed when one is returned.
var (
	ErrSendBufferFull  = errors.New("send buffer is full")
	ErrMessageTooLarge = errors.New("message needs more fragments than a peer takes")
	ErrEmpty           = errors.New("message is empty: RakNet cannot frame zero bytes")
	ErrChannel         = errors.New("ordering channel is not within 0 to 31")
	ErrReliability     = errors.New("unknown reliability")
	ErrPriority        = errors.New("unknown priority")
)

// Config is how an engine starts. Only MTU is required.
type Config struct {
	// MTU is the negotiated size; datagrams have at most MTU - 28 bytes of UDP payload.
	MTU    int
	Limits Limits
	// Controller makes the congestion controller; nil: NewModel.
	Controller func(mtu int) Controller
	// FirstDatagram, FirstReliable, FirstOrder and FirstSplit are where the counters
	// start, on both sides alike: 0, but for tests that cross the 24-bit wrap.
	FirstDatagram, FirstReliable, FirstOrder int64
	FirstSplit                               uint16
	// NoRepeats turns off the repetition of small messages on lossy paths.
	NoRepeats bool
	// Trace receives a record of everything that the engine does; nil: nothing is recorded.
	Trace *TraceRing
	// RoundTrip is what was learned of the round trip before the connection began; 0 if nothing.
	RoundTrip time.Duration

	settled *Limits // what Limits comes to, once for all engines; nil: each finds out
}

// Settle makes the engines that are started with c, or with copies of it, share one copy of
// the limits as they are now.
func (c *Config) Settle() { c.settled = c.Limits.withDefaults() }

// SendBuffer returns the bound of that name, after Settle.
func (c *Config) SendBuffer() int { return c.settled.SendBuffer }

// Message is what Send takes.
type Message struct {
	// Payload is the message's bytes, borrowed during the call; or Fragments, made by
	// Cut with the engine's CutMTU and the same Reliability, is. Send takes the fragments
	// if it succeeds.
	Payload     []byte
	Fragments   *Fragments
	Reliability protocol.Reliability
	Channel     uint8
	Priority    protocol.Priority
	// ReceiptID, if not 0, asks for a ReceiptEvent with this ID.
	ReceiptID uint64
	// Control exempts a message of the connection itself from the send buffer's bound.
	Control bool
}

// Verdict says what became of a received datagram.
type Verdict uint8

// The verdicts. Those behind VerdictLate count against the peer or for nothing.
const (
	VerdictAccepted  Verdict = iota // in the window: proof that the peer lives
	VerdictDuplicate                // in the window, but arrived before
	VerdictIgnored                  // an ACK or NACK that names nothing on record
	// VerdictLate: a number below the window and nothing new in it that is reliable.
	// Acknowledged, in case that it is the peer's, but half of all numbers lie there, so
	// that it proves nothing.
	VerdictLate
	VerdictRefused   // dropped unacknowledged: a bound of this side is reached
	VerdictTooFar    // dropped unacknowledged: its number or an index in it lies outside the window
	VerdictMalformed // dropped unacknowledged: no correct peer sends it
	VerdictUnsent    // an ACK or NACK of what was never sent
)

// Alive reports whether the datagram proves that the peer is there. One that is
// refused for want of room on this side does so, too.
func (v Verdict) Alive() bool { return v <= VerdictDuplicate || v == VerdictRefused }

// Violation reports whether no correct peer sends such a datagram.
func (v Verdict) Violation() bool { return v == VerdictMalformed || v == VerdictUnsent }

// outChannel counts what was sent on one ordering channel.
type outChannel struct {
	order int64 // of the next ordered message
	seq   int64 // of the next sequenced message; restarts after every ordered one
}

// Engine is the engine of one peer. Init makes it ready. It is not safe for
// concurrent use.
type Engine struct {
	limits *Limits
	cc     Controller

	// Sending.
	queue          *sendQueue    // nil: nothing was sent for a while
	zero           outChannel    // channel 0, which every connection uses
	other          *[]outChannel // from 1 up to the highest used so far; nil: not used yet
	nextReliable   int64
	reach          reach
	sendRoom       int32   // the bound on held where it grows: see sendBuffer
	oldest, newest *packet // unacknowledged packets by reliable index
	free           *packet
	sent           sentRing
	inFlight       int // bytes of datagrams out
	peakInFlight   int // since the last ACK
	held           int // bytes charged to the send buffer
	rtt            rttEstimator
	loss           lossState
	pacer          pacer
	departures     *departures // nil: any rate
	repeats        repeater
	delivered      int64
	deliveredAt    monotime.Time
	firstSentAt    monotime.Time
	limitedUntil   int64         // delivered count up to which samples are application-limited
	receipts       *receiptQueue // nil: nobody wanted one lately

	// Receiving.
	arrivals   arrivals
	inWindowAt monotime.Time // when a datagram number within the window came last
	acks       ackQueue
	nacks      nackQueue
	refused    *rangeSet // nil, or datagrams above the highest accepted that were refused
	reliable   reliableWindow
	reasm      *reassembler // nil: no message is in parts
	order      orderChannels
	ready      []Delivery
	readyHead  int
	unread     int
	freed      int // of unread: bytes that had been held for order, up to HeldBytes

	stats counters
	trace *tracer // nil: nobody wants to know

	// Side by side, which takes less room.
	splits    int32 // split messages begun and not wholly acknowledged
	freeCount int16 // packets in free
	mtu       uint16
	nextSplit uint16
	accepted  uint8 // datagrams so far, up to promptAcks
	abandoned bool
	stalled   bool // the oldest frame keeps all fresh ones back: see reach
	broken    bool
	ackRides  bool // the frame set just sent takes the pending ACK along
	breadth   breadth
}

// Init prepares e for a connection that starts now.
func (e *Engine) Init(now monotime.Time, c *Config) {
	*e = Engine{mtu: uint16(c.MTU), limits: c.settled, stats: counters{Troubles: &noTroubles}}
	e.zero.order = c.FirstOrder
	if e.limits == nil {
		e.limits = c.Limits.withDefaults()
	}
	controller := c.Controller
	if controller == nil {
		controller = NewModel
	}
	e.cc = controller(c.MTU)
	e.nextReliable, e.nextSplit = c.FirstReliable, c.FirstSplit
	e.sent.base, e.sent.next = c.FirstDatagram, c.FirstDatagram
	e.loss = lossState{exposed: c.FirstDatagram, newest: c.FirstDatagram - 1, lossAt: monotime.Never, timeoutAt: monotime.Never}
	e.deliveredAt, e.firstSentAt = now, now
	e.rtt.hint = c.RoundTrip
	e.repeats.off = c.NoRepeats
	e.departures = newDepartures(now, e.limits)
	e.pacer = pacer{tokens: paceBurst, filled: now, at: monotime.Never}
	e.initReceive(c)
	e.initTrace(now, c.Trace)
}

// Advance fires every timer that is due.
func (e *Engine) Advance(now monotime.Time) {
	if now >= e.loss.lossAt {
		e.detectLosses(now)
	}
	if now >= e.loss.timeoutAt {
		e.onTimeout(now)
	}
	if now >= e.reasm.deadline() {
		if e.reasm.expire(now) > 0 {
			e.broken = true
		}
	}
	if now >= e.nacks.deadline() {
		e.nackLate(now)
	}
	e.traceState(now)
}

// Deadline is when Advance or Transmit must be called next if nothing else happens.
func (e *Engine) Deadline() monotime.Time {
	if d := e.departures; d != nil && d.shut {
		return min(e.loss.lossAt, e.loss.timeoutAt, d.opens(), e.reasm.deadline(), e.nacks.deadline()) // nothing leaves before
	}
	return min(e.loss.lossAt, e.loss.timeoutAt, e.pacer.at, e.acks.deadline(), e.reasm.deadline(), e.nacks.deadline())
}

// SendHeld returns how many bytes are queued and unacknowledged together.
func (e *Engine) SendHeld() int { return e.held }

// SendSpace returns how many bytes Send will still take; a little more or less for
// frame headers.
func (e *Engine) SendSpace() int { return max(e.sendBuffer()-e.held, 0) }

// sendBuffer is the bound on what is queued and unacknowledged. Unless the user chose one it
// grows with the congestion window, which only acknowledgements open: a peer that gives
// none does not cost more, and one far away is kept busy. It shrinks in a pause only: who saw
// room for a message finds it.
func (e *Engine) sendBuffer() int {
	if !e.limits.growing {
		return e.limits.SendBuffer
	}
	e.sendRoom = int32(min(max(int(e.sendRoom), e.limits.SendBuffer, 2*e.cc.Window()), sendBufferMost))
	return int(e.sendRoom)
}

// Drained reports whether nothing reliable waits to be sent or acknowledged.
func (e *Engine) Drained() bool { return e.oldest == nil && e.queue.empty() }

// HurryAcks lets what waits to be acknowledged not wait any longer.
func (e *Engine) HurryAcks() { e.acks.urgent = e.acks.pending() }

// HoldAcks lets more come before it is acknowledged, on a path that loses nothing.
func (e *Engine) HoldAcks(how Hold) { e.acks.hold = how }

// AckOwed reports whether datagrams wait to be acknowledged.
func (e *Engine) AckOwed() bool { return e.acks.pending() }

// SetUnread tells the engine how many bytes of delivered messages the application
// has not taken; see Limits.ReceiveBuffer.
func (e *Engine) SetUnread(bytes int) {
	if bytes < e.unread {
		e.freed = min(e.freed, bytes)
	}
	e.unread = bytes
}

// Broken reports that a reliable message was begun, acknowledged in part and never
// completed by the peer for Limits.ReassemblyAge: what was promised cannot be kept,
// and the connection should end.
func (e *Engine) Broken() bool { return e.broken }

// Rest gives back memory that only traffic needs. It is for a moment in which little
// was sent for a while; what is in use stays.
func (e *Engine) Rest(now monotime.Time) {
	e.sent.trim(now.Add(-2 * e.rtt.rto()))
	e.sent.rest()
	e.free, e.freeCount = nil, 0
	e.queue.releaseSpares()
	if e.Drained() {
		e.restWide()
		e.queue, e.sendRoom = nil, 0
	}
	if e.reasm.len() == 0 {
		e.reasm = nil
	}
	e.repeats.recent = nil
	if !e.ReceiptsReady() {
		e.receipts = nil
	}
	if e.readyHead == len(e.ready) {
		e.ready, e.readyHead = nil, 0
	}
	e.acks.ease()
	if now.Sub(e.inWindowAt) < restPause {
		return
	}
	e.arrivals.rest()
	e.acks.rest()
	e.nacks.rest()
	e.reliable.rest()
	e.order.rest()
}

// MTU returns the negotiated size.
func (e *Engine) MTU() int { return int(e.mtu) }

// Stats fills s.
func (e *Engine) Stats(s *Stats) {
	*s = Stats{Counters: e.stats.all()}
	s.Stale = e.order.hold.stale
	s.ReassemblyBytes, s.HeldMessages, s.HeldBytes = e.reasm.holds(), e.order.hold.messages, e.order.hold.bytes
	s.RTT, s.RTTVar, s.MinRTT = e.rtt.srtt, e.rtt.rttvar, e.rtt.min
	s.CongestionWindow, s.BytesInFlight, s.SendQueueBytes = e.cc.Window(), e.inFlight, e.queue.waiting()
}

// Close returns every buffer. The engine is of no use afterwards, but its methods
// may still be called.
func (e *Engine) Close() {
	e.Abandon()
	e.closeReceive()
}

// maxPayload is the most that a datagram may have.
func (e *Engine) maxPayload() int { return int(e.mtu) - protocol.UDPOverhead }

// Send queues a message. It does not send: Transmit does.
func (e *Engine) Send(now monotime.Time, m *Message) error {
	size := len(m.Payload)
	if m.Fragments != nil {
		size = m.Fragments.size
	}
	switch {
	case size == 0:
		return ErrEmpty
	case !m.Reliability.Valid():
		return ErrReliability
	case m.Channel >= protocol.OrderingChannels:
		return ErrChannel
	case !m.Priority.Valid():
		return ErrPriority
	case size > e.limits.MessageFragments*MaxFrame(e.MTU()):
		return ErrMessageTooLarge
	}
	mode := m.Reliability.Wire()
	split := m.Fragments != nil || size > MaxFrame(e.CutMTU())
	if split || size > MaxFrame(e.MTU()) { // what would be split elsewhere is no less reliable in a wide datagram
		mode = m.Reliability.Split().Wire()
	}
	if !m.Control && e.held > 0 && e.held+size > e.limits.SendBuffer && e.held+size > e.sendBuffer() {
		return ErrSendBufferFull
	}
	if mode == protocol.ReliableOrdered && !split && m.ReceiptID == 0 {
		e.sendOrdered(m)
		return nil
	}
	f := wire.Frame{Reliability: mode, Channel: m.Channel}
	if mode.HasChannel() {
		e.number(&f)
	}
	if split {
		e.sendSplit(&f, m)
	} else {
		e.sendWhole(now, &f, m)
	}
	if !m.Control {
		e.stats.MessagesSent++
	}
	return nil
}

// number gives a message its indexes on its channel. A sequenced message carries the
// ordering index that the next ordered one will get and does not use it up.
func (e *Engine) number(f *wire.Frame) {
	c := e.channel(f.Channel)
	f.Order = wire24(c.order)
	if f.Reliability.IsSequenced() {
		f.Sequence = wire24(c.seq)
		c.seq++
	} else {
		c.order++
		c.seq = 0
	}
}

// channel returns what was sent on one.
func (e *Engine) channel(ch uint8) *outChannel {
	if ch == 0 {
		return &e.zero
	}
	if e.other == nil {
		e.other = new([]outChannel)
	}
	for int(ch) > len(*e.other) {
		*e.other = append(*e.other, outChannel{order: e.order.first})
	}
	return &(*e.other)[ch-1]
}

// flowOf returns the flow that a message waits in.
func flowOf(f *wire.Frame) uint8 {
	if f.Reliability.HasChannel() {
		return f.Channel
	}
	return noChannel
}

// sendWhole frames a message that needs no split, into the last packet queued at its
// priority if that has room, so that what waits together leaves together.
func (e *Engine) sendWhole(now monotime.Time, f *wire.Frame, m *Message) {
	size := wire.FrameHeaderSize(f.Reliability, false) + len(m.Payload)
	channel := flowOf(f)
	p := e.packetFor(m.Priority, channel, size)
	b := wire.AppendFrameHeader(p.buf.Bytes(), f, len(m.Payload))
	p.buf.N = len(append(b, m.Payload...))
	p.frames++
	e.charge(p, size)
	if f.Reliability.IsReliable() {
		p.reliable++
	} else {
		p.queuedAt = now
	}
	if m.ReceiptID != 0 {
		p.messages = append(p.messages, &message{receipt: m.ReceiptID, remaining: 1, unreliable: !f.Reliability.IsReliable()})
	}
}

// packetFor returns the queued packet that size bytes of frames are to join.
func (e *Engine) packetFor(pr protocol.Priority, channel uint8, size int) *packet {
	if e.queue == nil {
		e.queue = new(sendQueue)
	}
	p := e.queue.level[pr].flow(channel).tail
	if p == nil || p.buf.N+size > e.roomOf(p.buf) {
		buf := e.buffer(size, pr)
		buf.N = wire.DatagramHeaderSize
		p = e.newPacket(buf, pr)
		e.queue.pushFresh(p, channel)
	}
	return p
}

// sendSplit queues a message as fragments, a packet each.
func (e *Engine) sendSplit(f *wire.Frame, m *Message) {
	cut := m.Fragments
	if cut == nil {
		cut = Cut(m.Payload, e.CutMTU(), m.Reliability)
	}
	if cut.mtu != e.MTU() && cut.mtu != WideMTU || cut.mode != f.Reliability {
		panic("arq: fragments were cut for another MTU or mode")
	}
	f.Split, f.SplitCount, f.SplitID = true, uint32(len(cut.bufs)), e.nextSplit
	e.nextSplit++
	record := &message{receipt: m.ReceiptID, remaining: int32(len(cut.bufs)), split: true}
	header := wire.FrameHeaderSize(f.Reliability, true)
	if e.queue == nil {
		e.queue = new(sendQueue)
	}
	full := cut.bufs[0].N
	for i, buf := range cut.bufs {
		f.SplitIndex = uint32(i)
		wire.AppendFrameHeader(buf.B[:wire.DatagramHeaderSize], f, buf.N-wire.DatagramHeaderSize-header)
		p := e.newPacket(buf, m.Priority)
		p.frames, p.reliable = 1, 1
		p.tail = i > 0 && buf.N < full-full/8
		p.messages = append(p.messages, record)
		e.queue.pushFresh(p, flowOf(f))
		e.charge(p, buf.N-wire.DatagramHeaderSize)
	}
	cut.bufs = nil
}
