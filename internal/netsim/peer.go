package netsim

import (
	"fmt"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
)

// peer is one end of a connection and the application behind it.
type peer struct {
	w      *World
	host   *host
	remote int32
	side   session.Side
	sess   session.Conn
	pair   *pairing
	out    *flow // what this end's application sends
	app    app
	wire   wireCheck
	trace  *arq.TraceRing // nil: the world has no trace
	held   int            // most bytes held back for order

	armed  monotime.Time // when the earliest wake event comes; 0: none
	spins  int
	spinAt monotime.Time
	dirty  bool

	opened    bool // its application knows that it is connected
	over      bool // its application knows that it has ended
	gone      bool
	closing   bool // its application closed it
	aborted   bool
	moved     bool // its address changed under it
	damaged   bool // something came that was not what was sent
	abandoned monotime.Time
	err       error
	state     session.State
	since     monotime.Time // of state
}

func newClientPeer(c *client, n *offline.Negotiated) *peer {
	w := c.w
	g := w.pairOf(c.guid)
	p := &peer{w: w, host: &c.host, remote: w.server.host.addr, side: session.Client, pair: g}
	g.client, g.owner, g.plan, g.number = p, c, c.plan, c.dials
	p.init(&session.Config{MTU: n.MTU, Version: n.Version, LocalGUID: c.guid, PeerGUID: n.ServerGUID, EpochMilli: c.plan.EpochMilli})
	return p
}

func newServerPeer(w *World, from int32, out *offline.Outcome) *peer {
	g := w.pairOf(out.GUID)
	p := &peer{w: w, host: &w.server.host, remote: from, side: session.Server, pair: g}
	if g.server == nil || g.server.gone && !g.server.opened {
		g.server = p // the one before, if any, was evicted
	} else {
		p.pair = &pairing{w: w, server: p} // a second one for the same attempt
	}
	p.init(&session.Config{MTU: out.MTU, Version: out.Version, PeerGUID: out.GUID, EpochMilli: w.sc.EpochMilli, Unproven: !w.sc.Cookies})
	return p
}

func (p *peer) init(cfg *session.Config) {
	w := p.w
	cfg.Side = p.side
	cfg.PeerAddr = w.addrs[p.remote].addr
	cfg.ARQ = arq.Config{
		Limits: w.sc.Limits, FirstDatagram: w.sc.Start.Datagram, FirstReliable: w.sc.Start.Reliable,
		FirstOrder: w.sc.Start.Order, FirstSplit: w.sc.Start.Split,
	}
	if w.sc.Window > 0 {
		cfg.ARQ.Controller = arq.NewFixed(w.sc.Window)
	}
	if w.trace != nil {
		p.trace = arq.NewTraceRing(len(w.trace.lines))
		cfg.ARQ.Trace = p.trace
	}
	p.since = w.now
	p.wire.init(&w.sc, cfg.MTU)
	p.out = newFlow(p)
	p.app.init(p)
	w.peers = append(w.peers, p)
	p.sess.Init(w.now, cfg)
}

// String names the end.
func (p *peer) String() string {
	owner := "a stranger"
	if p.pair.owner != nil {
		owner = fmt.Sprintf("client %d (dial %d)", p.pair.owner.id, p.pair.number)
	}
	return fmt.Sprintf("%v end of %s", p.side, owner)
}

// isServer reports whether p is the server's end.
func (p *peer) isServer() bool { return p.side == session.Server }

// receive applies one datagram. Its turn comes later.
func (p *peer) receive(buf *pool.Buffer, damaged bool) {
	if damaged {
		p.damaged = true
		p.out.tainted = true
		if o := p.pair.other(p); o != nil {
			o.out.tainted = true
		}
	}
	v := p.sess.Receive(p.w.now, buf, buf.Bytes())
	if v.Violation() && !p.pair.tainted() {
		p.w.violated("honest datagrams", "%s takes %s for a violation (verdict %d)", p, describe(buf.Bytes()), v)
	}
	if v == arq.VerdictTooFar && !p.pair.tainted() {
		p.w.violated("honest datagrams", "%s finds %s too far", p, describe(buf.Bytes()))
	}
	p.noteRecords()
	p.host.touched(p)
}

// tainted reports whether either end received something damaged, or is no honest one.
func (g *pairing) tainted() bool {
	return g.client == nil || g.client.damaged || g.server != nil && g.server.damaged || g.plan != nil && g.plan.excuse.damaged
}

// wake is the deadline that was armed for the given moment.
func (p *peer) wake(at monotime.Time) {
	if p.gone || at != p.armed {
		return
	}
	p.armed = 0
	if p.host.paused {
		p.host.overdue = append(p.host.overdue, p)
		return
	}
	p.turn(true)
}

// turn does what the connection has to do now.
func (p *peer) turn(advance bool) {
	if p.gone {
		return
	}
	now := p.w.now
	if advance {
		p.sess.Advance(now)
	}
	p.noteRecords()
	p.collect()
	more := p.transmit()
	p.noteRecords()
	if p.sess.Pending() {
		p.collect()
	}
	p.check()
	if p.gone {
		return
	}
	if p.sess.State() == session.Dead {
		p.bury()
		return
	}
	at := p.sess.Deadline()
	switch {
	case more:
		at = min(at, now.Add(50*time.Microsecond)) // the pump's next turn
	case advance && at <= now:
		p.w.violated("deadline", "%s was served and is due again at once", p)
	}
	p.arm(max(at, now))
}

// arm makes sure that wake is called at the given moment or before. Like the runtime's
// driver it only ever pulls the moment closer.
func (p *peer) arm(at monotime.Time) {
	now := p.w.now
	if at == now {
		if p.spinAt != now {
			p.spinAt, p.spins = now, 0
		}
		if p.spins++; p.spins > 1000 {
			p.w.violated("deadline", "%s does not let time pass", p)
			return
		}
	}
	if at == monotime.Never || p.armed != 0 && p.armed <= at {
		return
	}
	p.armed = at
	p.w.push(event{at: at, kind: evWake, peer: p})
}

// transmit sends what may leave and reports whether there may be more.
func (p *peer) transmit() (more bool) {
	budget := p.w.sc.Budget
	for n := 0; budget == 0 || n < budget; n++ {
		b := p.sess.Transmit(p.w.now)
		if b == nil {
			return false
		}
		p.wire.sent(p, b.Bytes())
		if p.isServer() {
			p.w.server.owes(p.remote, b.N)
		}
		p.host.send(p.remote, b.Bytes())
		b.Release()
		if p.w.failure != nil {
			return false
		}
	}
	return true
}

// collect takes messages and events out of the session.
func (p *peer) collect() {
	if !p.app.deaf {
		p.read()
	}
	var ev session.Event
	for p.sess.Next(&ev) {
		switch ev.Kind {
		case session.EventConnected:
			p.connected()
		case session.EventReceipt:
			p.out.receipt(ev.ID, ev.Acked)
		case session.EventClosed:
			p.read()
			p.closed(ev.Err)
		}
	}
	if !p.app.deaf {
		p.read()
	}
}

// read takes every message there is.
func (p *peer) read() {
	var d arq.Delivery
	for p.sess.NextMessage(&d) {
		p.w.report.Deliveries++
		p.w.report.Bytes += uint64(d.Len())
		switch {
		case p.over:
			p.w.violated("6 nothing after the end", "%s gets a message after it learned of the end", p)
		case p.closing:
			p.w.violated("6 nothing after the end", "%s gets a message after it closed", p)
		case !p.opened && p.sess.State() < session.Connected:
			p.w.violated("6 both sides connected", "%s gets a message before it is connected", p)
		}
		if o := p.pair.other(p); o != nil {
			o.out.deliver(p, &d)
		}
		d.Release()
	}
}

func (p *peer) connected() {
	if p.opened || p.over {
		p.w.violated("6 both sides connected", "%s is connected twice, or after its end", p)
	}
	p.opened = true
	p.w.complete = p.w.now
	if p.w.trace != nil {
		p.w.note("%s is connected", p)
	}
	if p.isServer() {
		p.w.server.opened(p)
	}
	p.pair.complete(p)
	p.app.start()
}

// closed is told why the connection ended.
func (p *peer) closed(err error) {
	if p.w.trace != nil {
		p.w.note("%s has ended: %v", p, err)
	}
	if p.over {
		p.w.violated("end", "%s ends twice", p)
	}
	p.over, p.err = true, err
	if p.isServer() {
		p.w.server.live--
	}
	p.judge()
}

// finish ends the connection as its application.
func (p *peer) finish(abort bool) {
	if p.gone || p.over || p.closing {
		return
	}
	p.closing = true
	if p.w.trace != nil {
		p.w.note("%s closes, abort %v", p, abort)
	}
	if abort {
		p.aborted = true
		p.sess.Abort(p.w.now, nil)
	} else {
		p.out.closed()
		p.sess.Close(p.w.now)
	}
	if !p.host.paused {
		p.turn(false)
	}
}

// kill forgets the connection without a word.
func (p *peer) kill(why string) {
	if p.gone {
		return
	}
	if p.w.trace != nil {
		p.w.note("%s is %s", p, why)
	}
	if !p.over {
		p.over = true
		if p.isServer() {
			p.w.server.live--
		}
	}
	p.collectStats()
	p.sess.Release()
	p.leave()
}

// bury forgets a connection that is dead.
func (p *peer) bury() {
	if !p.over {
		p.w.violated("end", "%s is dead and never ended", p)
	}
	p.app.deaf = false
	p.collect()
	p.collectStats()
	p.sess.Release()
	p.leave()
}

func (p *peer) collectStats() {
	var s session.Stats
	p.sess.Stats(&s)
	p.w.report.Resent += s.FramesResent
	p.w.report.Unroomed += s.DatagramsRefused
}

func (p *peer) leave() {
	p.gone = true
	p.w.forget(p)
	if p.isServer() {
		p.w.server.gone(p)
	}
	p.pair.finalCheck()
	if p == p.pair.client && p.pair.owner.peer == p {
		p.pair.owner.ended = p.err
		p.pair.owner.next()
	}
}
