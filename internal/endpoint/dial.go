package endpoint

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/udp"
)

// Dial connects to a server: until ctx ends, or as long as the server takes the first
// step and Timing.Handshake allows for the second. A dial that fails closes a Solo
// endpoint. A connected socket has one peer, whatever to says.
//
// Errors: that of ctx, ErrFreshPort (for silence only with DialConfig.Client), ErrInUse, those of offline.Client.Result, the
// cause of the connection's end if it ended before it was complete, net.ErrClosed.
func (e *Endpoint) Dial(ctx context.Context, to udp.Peer, cfg DialConfig) (*Conn, error) {
	c, err := e.dial(ctx, to, cfg)
	if err != nil && e.cfg.Solo {
		e.shut(err)
	}
	return c, err
}

func (e *Endpoint) dial(ctx context.Context, to udp.Peer, cfg DialConfig) (*Conn, error) {
	if p, connected := e.sock.RemotePeer(); connected {
		to = p
	}
	if e.connectedTo(to.AddrPort) {
		return nil, ErrInUse
	}
	a, err := e.waits.add(to.AddrPort, true)
	if err != nil {
		return nil, err
	}
	defer e.waits.remove(to.AddrPort, a)
	e.leadFor(ctx, a)
	defer a.lead.end()
	n, err := e.negotiate(ctx, to, cfg, a)
	if err != nil {
		return nil, err
	}
	now := e.clock.Now()
	c := newConn(e, now, to, &way{ready: make(chan struct{})}, &session.Config{
		Side: session.Client, MTU: n.MTU, Version: n.Version, LocalGUID: e.cfg.GUID, PeerGUID: n.ServerGUID,
		ARQ: arq.Config{RoundTrip: n.RoundTrip}, Near: cfg.MaxMTU == 0 && e.near(to),
	})
	limit, silence := e.secondStep(&cfg, &n)
	over := c.isOver()
	e.table.post(c) // before anything is sent that could be answered
	c.turn(now, e.stepBudget, false, false)
	e.tx.flush(leadBatches)
	for next := min(limit, silence); ; {
		e.awaitOpen(ctx, a.lead, c, over, next)
		switch {
		case isClosed(c.way.ready):
			return c, nil
		case isClosed(over):
			return nil, c.Cause()
		case ctx.Err() != nil:
			c.Abort(ctx.Err())
			return nil, ctx.Err()
		case isClosed(e.done):
			c.kill(orClosed(e.Err()))
			return nil, orClosed(e.Err())
		}
		present := e.clock.Now()
		heard := c.lastHeard()
		spent, quiet := present.Sub(now), present.Sub(heard)
		if heard > now {
			silence = max(silence, forgottenHeard)
		}
		switch {
		case spent >= limit:
			c.Abort(session.ErrHandshakeTimeout) // of all ports together, of which the session knows one
			return nil, c.Cause()
		case quiet >= silence:
			cfg.Client.Forgotten(spent)
			c.Abort(ErrFreshPort)
			return nil, ErrFreshPort
		}
		next = min(silence-quiet, limit-spent)
	}
}

// awaitOpen waits until the connection is open or over, ctx or the endpoint has ended, or so
// much time has passed.
func (e *Endpoint) awaitOpen(ctx context.Context, lead *dialLead, c *Conn, over <-chan struct{}, most time.Duration) {
	if lead != nil {
		lead.read(e.clock.Now().Add(most), func() bool { return isClosed(c.way.ready) || isClosed(over) })
		return
	}
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-c.way.ready:
	case <-over:
	case <-ctx.Done():
	case <-e.done:
	case <-t.C:
	}
}

// secondStep returns how long the part of the handshake may take that makes a connection, and how long its
// server may be silent. One that has forgotten the client stays so: it was asked by many of one host at once
// (guard.HalfOpen), was restarted, or lost what told it of the client. Only from another port, and under another
// GUID, can the client be told from the one before. A server that was silent before is given twice the time, since it
// may be a slow one.
func (e *Endpoint) secondStep(cfg *DialConfig, n *offline.Negotiated) (limit, silence time.Duration) {
	if cfg.Client == nil || cfg.KnownGUID {
		return e.timing.Handshake, e.timing.Handshake
	}
	silence = forgottenTrips * n.RoundTrip
	if silence == 0 {
		silence = forgottenTook * n.Took
	}
	spent := cfg.Client.Spent()
	return max(e.timing.Handshake-spent, 0), max(silence, forgottenLeast, spent) + rand.N(forgottenSpread)
}

// negotiate does the part that comes before there is a connection.
func (e *Endpoint) negotiate(ctx context.Context, to udp.Peer, cfg DialConfig, a *attempt) (offline.Negotiated, error) {
	conf := offline.ClientConfig{GUID: e.cfg.GUID, Version: cfg.Version, MaxMTU: cfg.MaxMTU}
	if conf.MaxMTU == 0 {
		conf.MaxMTU = e.cfg.MaxMTU
	}
	if !udp.Synthetic(to.AddrPort.Addr()) {
		conf.ServerAddr = to.AddrPort
	}
	client := cfg.Client
	if client == nil {
		client = new(offline.Client)
	}
	if cfg.Again {
		client.Restart(e.clock.Now(), e.cfg.GUID)
	} else {
		client.Init(e.clock.Now(), &conf)
	}
	for {
		n, done, err := client.Result()
		switch {
		case err != nil:
			return n, err
		case done:
			return n, nil
		case client.NeedFreshPort():
			return n, ErrFreshPort
		}
		now := e.clock.Now()
		for {
			b := pool.Get(pool.ClassDatagram)
			pkt, probe := client.Transmit(now, b.B[:0])
			if pkt == nil {
				b.Release()
				break
			}
			b.N = len(pkt)
			mark := a
			if !probe {
				mark = nil
			}
			e.tx.push([]*pool.Buffer{b}, to, netip.Addr{}, mark)
		}
		e.tx.flush(leadBatches)
		pkt, err := e.await(ctx, a, client.Deadline())
		if err != nil {
			return n, err
		}
		now = e.clock.Now()
		if a.large.Swap(false) {
			client.ProbeTooLarge(now)
		}
		if pkt != nil {
			client.Receive(now, pkt)
		}
		client.Advance(now)
	}
}

// await waits for a packet, the deadline (no packet), or another reason to look (no
// packet either).
func (e *Endpoint) await(ctx context.Context, a *attempt, until monotime.Time) ([]byte, error) {
	if a.lead != nil {
		a.lead.read(until, func() bool { return len(a.packets) > 0 || a.large.Load() })
		select {
		case pkt := <-a.packets:
			return pkt, nil
		default:
		}
		if isClosed(e.done) {
			return nil, orClosed(e.Err())
		}
		return nil, ctx.Err()
	}
	e.role.resume()
	var due <-chan time.Time
	if until != monotime.Never {
		t := time.NewTimer(max(until.Sub(e.clock.Now()), 0))
		defer t.Stop()
		due = t.C
	}
	select {
	case pkt := <-a.packets:
		return pkt, nil
	case <-due:
	case <-a.wake:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.done:
		return nil, orClosed(e.Err())
	}
	return nil, nil
}
