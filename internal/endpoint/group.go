package endpoint

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"

	"github.com/raknet-go/raknet/internal/guard"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/udp"
)

// group is what endpoints on several sockets of one address share. The system keeps every
// peer on one of the sockets, so that the endpoints need nothing else of each other: each
// has its own reader, driver and table, and they use as many processors as there are
// of them. An endpoint alone is a group of one.
//
// The members begin and end together. The system chooses a peer's socket by their
// number, so that if one of them went away, the others would get each other's datagrams.
type group struct {
	clock   *monotime.Clock
	cookies siphash.Key
	members []*Endpoint
	accepts acceptQueue
	blocks  blocks
	hosts   hosts
	live    atomic.Int64 // connections of all members that are complete and not yet ended
}

// New starts an endpoint on s, which belongs to it from then on.
func New(s udp.Socket, cfg Config) (*Endpoint, error) { return NewGroup([]udp.Socket{s}, cfg) }

// NewGroup starts endpoints on sockets, of which the system gives each peer one for good,
// and returns the first of them. It speaks for all: its Accept, Conns, Stats, Block, SetPong,
// Shutdown and Close are about all connections. It dials through its own socket only. The
// functions of cfg are called by the readers of all sockets, so maybe at the same time. Of the
// bounds on half-open connections and of the budget of pongs each member has its share.
func NewGroup(socks []udp.Socket, cfg Config) (*Endpoint, error) {
	if len(socks) == 0 {
		return nil, errNoSocket
	}
	if cfg.AcceptBacklog == 0 {
		cfg.AcceptBacklog = defaultBacklog
	}
	if cfg.Budget == nil {
		cfg.Budget = ProcessBudget()
	}
	cfg.HalfOpen = share(cfg.HalfOpen, guard.DefaultHalfOpenTotal, len(socks))
	cfg.HalfOpenPerIP = share(cfg.HalfOpenPerIP, guard.DefaultHalfOpenPerIP, len(socks))
	g := &group{clock: monotime.NewClock(), cookies: randomKey()}
	g.accepts.init(cfg.AcceptBacklog, cfg.Handler != nil)
	g.blocks.exempt.Init(append(slices.Clone(cfg.Exempt), cfg.Proxies...)...)
	g.hosts.cap = cfg.MaxPerIP
	for _, s := range socks {
		if s == nil {
			return nil, errNoSocket
		}
		g.members = append(g.members, newEndpoint(g, s, cfg, len(socks)))
	}
	for _, e := range g.members {
		go e.background()
		go e.driver.run(e)
	}
	return g.members[0], nil
}

var errNoSocket = errors.New("endpoint without a socket")

// share returns one part of a bound that is divided into n, at least 1.
func share(bound, byDefault, n int) int {
	if n == 1 || bound < 0 {
		return bound
	}
	if bound == 0 {
		bound = byDefault
	}
	return max((bound+n-1)/n, 1)
}

// pongShare is the budget of pongs of one of n members. What may be saved up is two seconds'
// worth.
func pongShare(cfg *Config, n int) *guard.LimiterConfig {
	each, all := cfg.PongRate, cfg.PongRateTotal
	if each == 0 {
		each = guard.DefaultRate
	}
	if all == 0 {
		all = guard.DefaultGlobalRate
	}
	return &guard.LimiterConfig{
		Key:         randomKey(),
		Rate:        share(each, 0, n),
		Burst:       share(burst(each), 0, n),
		GlobalRate:  share(all, 0, n),
		GlobalBurst: share(burst(all), 0, n),
	}
}

func burst(rate int) int { return 2 * min(rate, 1<<29) }

// shut ends all members. Whatever ended one of them is the reason for all.
func (g *group) shut(err error) {
	for _, e := range g.members {
		e.shutAlone(err)
	}
}

// Shutdown ends the endpoint in good order: nobody is admitted or accepted any more,
// every connection is closed as by its own Close, and when all that was written has
// arrived, or ctx ends, the endpoint is closed. The error is that of ctx, if it was cut short.
func (e *Endpoint) Shutdown(ctx context.Context) error {
	e.accepts.close()
	for _, m := range e.members {
		m.drain()
	}
	var err error
	for _, m := range e.members {
		if err != nil {
			break
		}
		select {
		case <-m.drained:
		case <-m.done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	e.shut(net.ErrClosed)
	return err
}

// drain closes every connection, admits no more, and lets drained be closed when the
// last has ended.
func (e *Endpoint) drain() {
	e.admitting.Store(false)
	e.mu.Lock()
	if e.drained == nil {
		e.drained = make(chan struct{})
		if len(e.conns) == 0 {
			close(e.drained)
		}
	}
	e.mu.Unlock()
	for _, c := range e.list() {
		c.Close()
	}
}

// Stats returns the counters. The parts are read one after the other, so that sums
// may be off by what happened meanwhile.
func (e *Endpoint) Stats() Stats {
	var sum Stats
	for i, m := range e.members {
		s := m.stats()
		if i == 0 {
			sum = s
			continue
		}
		sum.add(&s)
	}
	sum.AcceptQueue = e.accepts.len()
	return sum
}

func (s *Stats) add(o *Stats) {
	s.Connections += o.Connections
	s.HalfOpen += o.HalfOpen
	for _, p := range [...][2]*uint64{
		{&s.DatagramsReceived, &o.DatagramsReceived}, {&s.BytesReceived, &o.BytesReceived},
		{&s.DatagramsSent, &o.DatagramsSent}, {&s.BytesSent, &o.BytesSent},
		{&s.SendErrors, &o.SendErrors}, {&s.ReceiveErrors, &o.ReceiveErrors},
		{&s.ReadBatches, &o.ReadBatches}, {&s.WriteBatches, &o.WriteBatches},
		{&s.ReceiveOverflows, &o.ReceiveOverflows},
		{&s.Pings, &o.Pings}, {&s.Pongs, &o.Pongs}, {&s.PongsSuppressed, &o.PongsSuppressed},
		{&s.RawAnswers, &o.RawAnswers}, {&s.Request1, &o.Request1}, {&s.Request2, &o.Request2}, {&s.BadCookies, &o.BadCookies},
		{&s.Accepted, &o.Accepted}, {&s.Rejected, &o.Rejected}, {&s.Evicted, &o.Evicted},
	} {
		*p[0] += *p[1]
	}
	for reason, n := range o.Dropped {
		s.Dropped[reason] += n
	}
}
