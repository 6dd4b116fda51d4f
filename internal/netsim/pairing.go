package netsim

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// pairing is the two ends of one connection. The server's is missing until it exists; the
// client's is missing when a stranger asked for it, or an attempt that was given up.
type pairing struct {
	w        *World
	client   *peer
	server   *peer
	owner    *client
	plan     *ClientPlan
	number   int // of the client's dials
	opened   monotime.Time
	planning bool // the end is scheduled
	ending   bool // somebody was told to close
	vanished bool
}

// pairOf returns the pairing of a client's attempt.
func (w *World) pairOf(guid int64) *pairing {
	p := w.byGUID[guid]
	if p == nil {
		p = &pairing{w: w}
		w.byGUID[guid] = p
	}
	return p
}

// other returns the other end, which may be missing.
func (g *pairing) other(p *peer) *peer {
	if p == g.client {
		return g.server
	}
	return g.client
}

// complete is told when an end is connected.
func (g *pairing) complete(p *peer) {
	w := g.w
	if p != g.client {
		if g.client == nil && !w.sc.anyDamage() {
			w.violated("6 both sides connected", "%s is connected without a client", p)
		}
		return
	}
	w.report.Sessions++
	g.opened = w.now
	if at := g.plan.End.At; at > 0 {
		w.push(event{at: w.now.Add(at), kind: evPlan, peer: p})
	}
	if g.plan.excuse.damaged {
		// A damaged request may have named another client, so that nobody knows when all is delivered.
		w.push(event{at: w.now.Add(time.Minute), kind: evPlan, peer: p})
	}
}

// progress is told when something was sent or delivered: the planned end may have come.
func (g *pairing) progress() {
	if g.plan == nil || g.planning || g.ending || g.server == nil || g.plan.End.At > 0 {
		return
	}
	c, s := g.client, g.server
	finished := c.app.finished() && s.app.finished()
	switch g.plan.End.When {
	case EndWhenSent:
		finished = g.side(g.plan.End.Server).app.finished()
	default:
		finished = finished && (g.tainted() || c.out.outstanding == 0 && s.out.outstanding == 0)
	}
	if !finished {
		return
	}
	if g.plan.End.When == EndWhenSent {
		g.end()
		return
	}
	g.planning = true
	g.w.push(event{at: g.w.now.Add(g.plan.End.Idle), kind: evPlan, peer: c})
}

// planned is the moment of the planned end.
func (g *pairing) planned() {
	if !g.ending {
		g.end()
	}
}

func (g *pairing) side(server bool) *peer {
	if server {
		return g.server
	}
	return g.client
}

// end brings about the planned end of the connection.
func (g *pairing) end() {
	e := g.plan.End
	first := g.side(e.Server)
	if first == nil || first.gone {
		first = g.client
	}
	if asleep := g.asleep(); asleep != nil {
		g.planning = true
		g.w.push(event{at: asleep.awakened, kind: evPlan, peer: first})
		return
	}
	g.ending = true
	switch e.How {
	case HowVanish:
		if g.client != nil && !g.client.gone {
			g.owner.vanish()
		}
		return
	case HowAbort:
		first.finish(true)
	case HowBoth:
		if o := g.other(first); o != nil {
			o.finish(false)
		}
		first.finish(false)
	default:
		first.finish(false)
	}
}

// asleep returns a host whose process is stopped, so that its application cannot act, or nil.
func (g *pairing) asleep() *host {
	for _, p := range [...]*peer{g.client, g.server} {
		if p != nil && p.host.paused {
			return p.host
		}
	}
	return nil
}
