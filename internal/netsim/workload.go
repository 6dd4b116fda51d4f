package netsim

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/protocol"
)

// Workload is what an application sends.
type Workload struct {
	Messages int
	After    time.Duration // from the complete connection to the first burst
	Burst    int           // messages at a time, at most
	Every    time.Duration // between bursts, on average
	Modes    []protocol.Reliability
	Channels int     // of the 32, the first so many
	Size     int     // bytes of a message, at most
	Big      float64 // share of messages that have up to BigSize bytes instead
	BigSize  int
	Receipts bool // ask for a receipt with every message
}

// bytes is about how much all of it is.
func (l *Workload) bytes() int {
	return l.Messages*(l.Size/2+40) + int(float64(l.Messages)*l.Big*float64(l.BigSize)/2) + l.BigSize
}

// app is the application at one end: it sends its workload and reads what comes.
type app struct {
	p       *peer
	load    *Workload
	rng     *rand.Rand
	sent    int
	pending bool // message is to be sent next
	message outgoing
	started bool
	deaf    bool // does not read
}

// outgoing is a message before it is sent.
type outgoing struct {
	mode     protocol.Reliability
	channel  uint8
	priority protocol.Priority
	size     int
	cut      bool // cut by the application, if it is large
}

const (
	// headerSize is how long the part of a message is that says which it is. Shorter
	// messages exist in the ordered mode alone, where the order says so.
	headerSize = 13
	// retryAfter is how long an application waits for room in the send buffer.
	retryAfter = 20 * time.Millisecond
	// messageID starts every message of an application.
	messageID = 0xfe
)

var noLoad Workload

func (a *app) init(p *peer) {
	a.p, a.load = p, &noLoad
	a.rng = rand.New(rand.NewPCG(p.w.sc.Seed, uint64(p.out.id)))
}

// start begins sending, when the connection is complete.
func (a *app) start() {
	g := a.p.pair
	if g.plan == nil {
		return
	}
	a.load = &g.plan.ToServer
	if a.p.isServer() {
		a.load = &g.plan.ToClient
	}
	a.started = true
	a.p.w.push(event{at: a.p.w.now.Add(a.load.After), kind: evApp, peer: a.p})
}

// finished reports whether everything was sent.
func (a *app) finished() bool { return a.started && a.sent >= a.load.Messages }

// act is the application's turn: it sends a burst.
func (p *peer) act() {
	a, w := &p.app, p.w
	if p.gone || p.over || p.closing {
		return
	}
	if p.host.paused {
		w.push(event{at: p.host.awakened, kind: evApp, peer: p})
		return
	}
	again := time.Duration(0)
	for n := 1 + a.rng.IntN(max(a.load.Burst, 1)); n > 0 && a.sent < a.load.Messages && again == 0; n-- {
		if !a.pending {
			a.compose()
		}
		switch err := p.send(&a.message); {
		case err == nil:
			a.sent++
			a.pending = false
		case errors.Is(err, session.ErrSendBufferFull):
			again = retryAfter
		case errors.Is(err, session.ErrClosed):
			return
		default:
			w.violated("send", "%s cannot send %+v: %v", p, a.message, err)
			return
		}
	}
	if a.sent < a.load.Messages {
		if again == 0 {
			again = time.Duration(1 + a.rng.Int64N(2*int64(a.load.Every)+1))
		}
		w.push(event{at: w.now.Add(again), kind: evApp, peer: p})
	}
	p.pair.progress()
	p.turn(false)
}

// compose makes up the next message.
func (a *app) compose() {
	r, l := a.rng, a.load
	m := outgoing{mode: l.Modes[r.IntN(len(l.Modes))], priority: protocol.Priority(r.IntN(int(protocol.Priorities))), cut: r.IntN(2) == 0}
	m.channel = uint8(r.IntN(max(l.Channels, 1)))
	m.size = headerSize + r.IntN(max(l.Size-headerSize, 1))
	switch {
	case r.Float64() < l.Big:
		m.size = headerSize + r.IntN(l.BigSize)
	case m.mode.IsOrdered() && r.IntN(8) == 0:
		m.size = 1 + r.IntN(headerSize)
	}
	a.message, a.pending = m, true
}

// send hands a message to the session and notes it.
func (p *peer) send(o *outgoing) error {
	w := p.w
	number := len(p.out.sent)
	w.scratch = p.out.payload(w.scratch[:0], number, o.mode, o.channel, o.size)
	m := arq.Message{Payload: w.scratch, Reliability: o.mode, Channel: o.channel, Priority: o.priority}
	if p.app.load.Receipts || o.mode.WithReceipt() {
		m.ReceiptID = uint64(number) + 1
	}
	mtu := p.sess.MTU()
	split := o.size > arq.MaxFrame(mtu)
	if split && o.cut {
		m.Fragments = arq.Cut(m.Payload, mtu, m.Reliability)
		m.Payload = nil
	}
	err := p.sess.Send(w.now, &m)
	if err != nil {
		if m.Fragments != nil {
			m.Fragments.Release()
		}
		return err
	}
	mode := o.mode.Wire()
	if split {
		mode = o.mode.Split().Wire()
	}
	p.out.note(mode, o.channel, o.size)
	return nil
}

// pad is what messages are cut from.
var pad = sync.OnceValue(func() []byte {
	const size = 1 << 20
	r := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, 0, size)
	for len(b) < size {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b
})

// body returns the bytes of a message behind its header.
func (f *flow) body(number, n int) []byte {
	all := pad()
	at := (number*7919 + int(f.id)*104729) % (len(all) - n)
	return all[at : at+n]
}

// payload writes message number of the flow.
func (f *flow) payload(dst []byte, number int, mode protocol.Reliability, channel uint8, size int) []byte {
	dst = append(dst, messageID)
	if size < headerSize {
		return append(dst, f.body(number, size-1)...)
	}
	dst = binary.BigEndian.AppendUint16(dst, f.id)
	dst = append(dst, byte(mode), channel)
	dst = binary.BigEndian.AppendUint32(dst, uint32(number))
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	return append(dst, f.body(number, size-headerSize)...)
}
