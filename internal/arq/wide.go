package arq

import (
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Two processes of one machine have no network between them, and the way through the system takes up to 64 KiB
// at once: TCP sends no less there. What a datagram costs, in the system and in both engines, is nearly the same
// whatever its length. So two peers of this library that both see the other at a loopback address, and can
// receive it, go over to datagrams of WideMTU when a transfer is under way.
//
// There may be something between them all the same, a relay or a tunnel's agent, that has no room for such: so a
// datagram of that size that carries nothing goes first, and only its ACK widens the rest (RFC 8899). One that a relay
// cuts short is malformed and not acknowledged. Its loss says nothing about congestion.

const (
	// WideMTU is the size of a wide datagram, in the measure of an MTU: as many as the system takes as one message
	// are then eight, and each fits a buffer.
	WideMTU = 8148
	// wideWindow is the least congestion window in which datagrams are wide: eight of them.
	wideWindow = 64 << 10
	// wideLosses is how many wide datagrams may be lost, and none arrive, before there are no more. Arbitrary.
	wideLosses = 16
)

// breadth is what the engine may ask of the path.
type breadth uint8

const (
	far        breadth = iota // nothing: the peer may be on another machine
	near                      // nothing, but wide datagrams may come
	untried                   // whether it takes a wide datagram
	tried                     // one is under way, or has arrived
	retried                   // the first was lost
	triedAgain                // and the second is under way, or has arrived
)

// TakeWide tells the engine that the peer is on this machine, and that wide datagrams can be received.
func (e *Engine) TakeWide() { e.breadth = near }

// TakesWide reports whether that is so.
func (e *Engine) TakesWide() bool { return e.breadth != far }

// MayWiden tells the engine that the peer can receive them, too. It has no effect where this side cannot.
func (e *Engine) MayWiden() {
	if e.breadth == near {
		e.breadth = untried
	}
}

// MayAsk reports whether a transfer would ask the path.
func (e *Engine) MayAsk() bool { return e.breadth == untried || e.breadth == retried }

// wide reports whether datagrams that are begun now are wide.
func (e *Engine) wide() bool {
	return e.queue != nil && e.queue.wide && e.cc.Window() >= wideWindow
}

// CutMTU is the size that messages are cut for at present: that of a wide datagram, or the negotiated one. It may
// change between any two calls, and what was cut for either is taken at any time.
func (e *Engine) CutMTU() int {
	if e.wide() {
		return WideMTU
	}
	return e.MTU()
}

// roomOf is how long the datagram in b may become.
func (e *Engine) roomOf(b *pool.Buffer) int {
	if len(b.B) >= pool.ClassWide {
		return WideMTU - protocol.UDPOverhead
	}
	return e.maxPayload()
}

// sounding returns the datagram that asks whether the path takes wide ones, if that is to be known and the
// transfer under way hides what it costs.
func (e *Engine) sounding() *packet {
	if !e.MayAsk() || e.queue == nil || e.queue.wide || !e.Flowing() || e.loss.backoff > 0 {
		return nil
	}
	const size = WideMTU - protocol.UDPOverhead
	if e.inFlight+size > e.cc.Window() || e.cc.Window() < wideWindow {
		return nil
	}
	e.breadth++
	buf := pool.Get(pool.ClassWide)
	header := wire.DatagramHeaderSize + wire.FrameHeaderSize(protocol.Unreliable, false)
	wire.AppendFrameHeader(buf.B[:wire.DatagramHeaderSize], &wire.Frame{Reliability: protocol.Unreliable}, size-header)
	clear(buf.B[header:size]) // other connections' bytes were here
	buf.B[header] = byte(protocol.IDDetectLostConnections)
	buf.N = size
	p := e.newPacket(buf, protocol.PriorityImmediate)
	p.frames = 1
	p.messages = append(p.messages, &message{remaining: 1, unreliable: true, sounding: true})
	return p
}

// isSounding reports whether p is such a datagram.
func (p *packet) isSounding() bool {
	return p.reliable == 0 && len(p.messages) == 1 && p.messages[0].sounding
}

// sounded is told what became of it.
func (e *Engine) sounded(arrived bool) {
	switch {
	case arrived && e.queue != nil:
		e.queue.widen(true)
	case arrived: // there was a pause since
		e.breadth = untried
	case e.breadth == tried:
		e.breadth = retried
	default:
		e.breadth = near
	}
}

// restWide is for when the queue goes: the next transfer asks again.
func (e *Engine) restWide() {
	if e.queue != nil && e.queue.wide {
		e.breadth = untried
	}
}

// narrowed goes back to what was negotiated until the path was asked once more: datagrams that got no answer for two
// timeouts, or of which none arrives while others do, may be too long for a path that is not the one that was asked.
// What is in wide datagrams already stays: who cannot get it through is told by Limits of time, as where nothing gets through.
func (e *Engine) narrowed() {
	if e.queue != nil && e.queue.wide {
		e.queue.widen(false)
		e.breadth = retried
	}
}

// sawWide is told what became of a datagram.
func (e *Engine) sawWide(d *sentDatagram, lost bool) {
	q := e.queue
	if q == nil || !q.wide || int(d.size) <= e.maxPayload() {
		return
	}
	if !lost {
		q.wideLost = 0
	} else if q.wideLost++; q.wideLost == wideLosses {
		e.narrowed()
	}
}

// widen changes what is begun from here on. Spare buffers are of one size.
func (q *sendQueue) widen(on bool) {
	q.releaseSpares()
	q.wide, q.wideLost = on, 0
}

// Datagrams is how many of the usual ones n bytes are.
func Datagrams(n int) int { return 1 + (n-1)/pool.ClassDatagram }

// fit moves what leaves for the first time to a smaller buffer, if it is only a small part of a wide one: it may wait for its ACK for long.
func (p *packet) fit() {
	if len(p.buf.B) != pool.ClassWide || p.buf.N > pool.ClassRead || p.buf.Shared() {
		return
	}
	b := pool.Get(p.buf.N)
	b.N = copy(b.B, p.buf.Bytes())
	p.buf.Release()
	p.buf = b
}
