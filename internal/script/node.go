package script

import (
	"fmt"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
)

// node is one connection and the driver around it.
type node struct {
	w    *world
	side side
	port uint16 // the client's
	conn session.Conn
	wake monotime.Time
	held bool // queue was used: nothing leaves before flush
}

func newNode(w *world, s side, port uint16, cfg *session.Config) *node {
	n := &node{w: w, side: s, port: port}
	known := cfg.ARQ.RoundTrip
	cfg.EpochMilli, cfg.ARQ, cfg.Timing = epoch, w.cfg.arq, w.cfg.timing
	cfg.ARQ.RoundTrip = known
	n.conn.Init(w.now, cfg)
	return n
}

func (n *node) user() *user { return &n.w.users[n.side] }

// receive takes one datagram, and reports what became of it if that is not the usual.
func (n *node) receive(data []byte) {
	b := pool.Get(pool.ClassRead)
	b.N = copy(b.B, data)
	verdict := n.conn.Receive(n.w.now, b, b.Bytes())
	for i := range b.B[:b.N] {
		if !b.Shared() {
			b.B[i] = 0xee // nobody may look at it any more
		}
	}
	b.Release()
	switch verdict {
	case arq.VerdictDuplicate:
		n.say("has this datagram already")
	case arq.VerdictLate:
		n.say("cannot tell whether it had this before: acknowledged, but it proves nothing")
	case arq.VerdictRefused:
		n.say("refuses it unacknowledged: a bound of its own is reached")
	case arq.VerdictTooFar:
		n.say("drops it unacknowledged: outside the window")
	case arq.VerdictMalformed:
		n.say("drops it unacknowledged: malformed, a strike")
	case arq.VerdictUnsent:
		n.say("was told about a datagram that it never sent, a strike")
	}
}

// settle takes out what the connection has, does what is due, and sets the next deadline.
func (n *node) settle() {
	w := n.w
	n.take()
	if n.conn.Deadline() <= w.now {
		n.conn.Advance(w.now)
		n.take()
	}
	n.wake = n.conn.Deadline()
	if n.wake <= w.now && !n.held {
		w.fault = fmt.Errorf("%v: the deadline is not after now, with nothing to transmit", n.side)
	}
}

func (n *node) take() {
	n.hear()
	if n.held {
		return
	}
	for b := n.conn.Transmit(n.w.now); b != nil; b = n.conn.Transmit(n.w.now) {
		if b.N > n.conn.MTU()-28 {
			n.w.fault = fmt.Errorf("%v sent %d bytes at an MTU of %d", n.side, b.N, n.conn.MTU())
		}
		n.w.launch(n.side, n.port, append([]byte(nil), b.Bytes()...))
		b.Release()
	}
	n.hear() // a close may complete when the last message leaves
}

func (n *node) say(format string, args ...any) { n.w.say(n.side.String(), format, args...) }

// hear takes events and messages.
func (n *node) hear() {
	u := n.user()
	var ev session.Event
	for n.conn.Next(&ev) {
		switch ev.Kind {
		case session.EventConnected:
			n.say("connected")
		case session.EventReceipt:
			fate := "lost"
			if ev.Acked {
				fate = "acked"
			}
			n.say("receipt %d: %s", ev.ID, fate)
			u.receipts = append(u.receipts, fmt.Sprintf("%d=%s", ev.ID, fate))
		case session.EventClosed:
			if !u.deaf {
				n.read(-1) // what had arrived stays readable, and an application reads it first
			}
			n.say("closed: %v", ev.Err)
			u.closed = ev.Err.Error()
		}
	}
	if !u.deaf {
		n.read(-1)
	}
	u.state = n.conn.State().String()
}

// read takes up to limit messages, all if that is negative.
func (n *node) read(limit int) {
	var d arq.Delivery
	for ; limit != 0 && n.conn.NextMessage(&d); limit-- {
		text := showPayload(d.AppendTo(nil), true)
		channel := ""
		if d.Reliability.HasChannel() {
			channel = fmt.Sprintf(" ch=%d", d.Channel)
		}
		n.say("got %s%s %s", modeName(d.Reliability), channel, text)
		d.Release()
		u := n.user()
		u.got = append(u.got, text)
	}
}
