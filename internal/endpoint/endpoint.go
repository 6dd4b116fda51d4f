package endpoint

import (
	"crypto/rand"
	"encoding/binary"
	"iter"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/guard"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/udp"
)

// Endpoint is one socket and the connections that share it. It can both accept and
// dial. All its exported methods are safe for concurrent use.
type Endpoint struct {
	*group
	cfg        Config
	sock       udp.Socket
	epoch      int64 // wall time of the clock's start, in milliseconds
	lead       bool  // a caller of Read may read the socket
	stepBudget int   // datagrams per turn
	sendBuffer int   // Limits.SendBuffer, or its default
	fragments  int   // Limits.MessageFragments, or its default
	timing     *session.Timing
	proxies    guard.Networks // set once

	// The reader's.
	reader  reader
	server  offline.Server
	pongs   guard.Limiter
	raws    guard.Limiter
	samples samples
	lastWay *way // to a peer without a proxy; see wayTo

	role      role
	table     table
	driver    driver
	rush      rush
	debt      debt
	tx        txFIFO
	waits     waits
	log       logger
	counters  counters
	pong      atomic.Pointer[[]byte]
	admitting atomic.Bool
	here      atomic.Int64 // len(conns)
	sentAt    atomic.Int64 // when a user's call last put something into the send queue
	sentBy    atomic.Pointer[Conn]
	done      chan struct{} // closed when the endpoint has ended

	mu      sync.Mutex // leaf
	conns   map[*Conn]struct{}
	ending  bool
	err     error
	drained chan struct{} // not nil: Shutdown waits for conns to be empty
}

// registration is whether a connection is in Endpoint.conns.
type registration uint8

const (
	notYet registration = iota
	listed
	struck
)

// newEndpoint makes one of the given number of members of g.
func newEndpoint(g *group, s udp.Socket, cfg Config, members int) *Endpoint {
	e := &Endpoint{group: g, cfg: cfg, sock: s, stepBudget: stepDatagrams, done: make(chan struct{}), conns: make(map[*Conn]struct{})}
	// Without deadlines a caller who reads could not be called away.
	e.lead = s.SetReadDeadline(time.Time{}) == nil
	if cfg.Solo {
		e.stepBudget = soloStepDatagrams
	}
	e.epoch = e.clock.EpochMilli()
	e.cfg.ARQ.Settle()
	e.timing = cfg.Timing.Settle()
	e.sendBuffer = e.cfg.ARQ.SendBuffer()
	if e.fragments = cfg.ARQ.Limits.MessageFragments; e.fragments <= 0 {
		e.fragments = defaultFragments
	}
	e.log.to = cfg.Log
	e.table.init(cfg.HalfOpenPerIP, cfg.HalfOpen)
	e.driver.init(e.clock, func() bool { return e.here.Load() >= manyConns })
	e.tx = txFIFO{sock: s, kick: e.driver.kick, k: &e.counters}
	e.role.init(e.interrupt, !cfg.Solo)
	e.rush.poller, _ = s.(udp.Poller)
	e.reader.in = make([]udp.Inbound, readFirst)
	e.reader.behind = monotime.Never
	e.reader.stale = true // a socket from elsewhere may have a deadline
	if cfg.Accepting {
		conf := offline.ServerConfig{GUID: cfg.GUID, Versions: cfg.Versions, MaxMTU: cfg.MaxMTU, Key: g.cookies, Cookie: e.cookies()}
		if cfg.NoCookies {
			conf.Cookies = offline.CookiesOff
		}
		e.server.Init(e.clock.Now(), &conf)
		e.pongs.Init(e.clock.Now(), pongShare(&cfg, members))
		e.raws.Init(e.clock.Now(), pongShare(&cfg, members))
		e.proxies.Init(cfg.Proxies...)
		e.admitting.Store(true)
	}
	return e
}

// randomNonce returns a number that nobody can guess.
func randomNonce() uint32 {
	var b [4]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint32(b[:])
}

func randomKey() (k siphash.Key) {
	rand.Read(k[:])
	return k
}

// GUID returns this side's identifier.
func (e *Endpoint) GUID() int64 { return e.cfg.GUID }

// LocalAddr returns the address of the socket.
func (e *Endpoint) LocalAddr() net.Addr { return e.sock.LocalAddr() }

// Done returns a channel that is closed when the endpoint has ended: closed by Close or
// Shutdown, or with its last connection (Config.Solo), or broken.
func (e *Endpoint) Done() <-chan struct{} { return e.done }

// Err returns why the endpoint has ended or is about to: net.ErrClosed, or the error
// that broke its socket, or that of a Solo endpoint's dial. Nil before.
func (e *Endpoint) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Conns gives the connections that are complete and have not ended, as they are at the
// start of the iteration, in no order.
func (e *Endpoint) Conns() iter.Seq[*Conn] {
	return func(yield func(*Conn) bool) {
		for _, m := range e.members {
			for _, c := range m.list() {
				if !yield(c) {
					return
				}
			}
		}
	}
}

func (e *Endpoint) list() []*Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]*Conn, 0, len(e.conns))
	for c := range e.conns {
		list = append(list, c)
	}
	return list
}

// register lists a connection that is complete, and reports whether there is room for it.
func (e *Endpoint) register(c *Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.listing != notYet {
		return true // it has ended meanwhile
	}
	c.listing = listed
	e.conns[c] = struct{}{}
	e.here.Store(int64(len(e.conns)))
	live := e.live.Add(1)
	room := !c.server || e.hosts.enter(c.Client().Addr()) || e.blocks.exempt.Has(c.Client().Addr())
	if e.ending || !room {
		return false
	}
	return !c.server || e.drained == nil && (e.cfg.MaxConnections <= 0 || int(live) <= e.cfg.MaxConnections)
}

// unregister strikes a connection that has ended off the list.
func (e *Endpoint) unregister(c *Conn) {
	e.mu.Lock()
	if c.listing == listed {
		delete(e.conns, c)
		e.here.Store(int64(len(e.conns)))
		e.live.Add(-1)
		if c.server {
			e.hosts.leave(c.Client().Addr())
		}
	}
	c.listing = struck
	var drained chan struct{}
	if len(e.conns) == 0 && e.drained != nil && !isClosed(e.drained) {
		drained = e.drained
		close(drained)
	}
	e.mu.Unlock()
}

// connectedTo reports whether there is a live connection to an address.
func (e *Endpoint) connectedTo(addr netip.AddrPort) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		if c.peer.AddrPort == addr {
			return true
		}
	}
	return false
}

// bury forgets a connection that is dead.
func (e *Endpoint) bury(c *Conn) {
	e.cfg.Budget.remove(c)
	e.table.post(c)
	e.driver.disarm(c)
	e.driver.sweepSoon()
	if e.cfg.Handler != nil {
		e.accepts.remove(c) // nobody need ever accept it
	}
	if e.cfg.Solo {
		e.shut(net.ErrClosed)
	}
}

// near reports whether a peer is seen on this machine, and what it sends may be wide. A user who chose an MTU keeps it.
func (e *Endpoint) near(p udp.Peer) bool {
	return e.cfg.MaxMTU == 0 && p.AddrPort.Addr().IsLoopback() && udp.Longest(e.sock) >= arq.WideMTU
}

// maxMessage is the longest message that can be sent at an MTU.
func (e *Endpoint) maxMessage(mtu int) int { return e.fragments * arq.MaxFrame(mtu) }

// FragmentLimit returns how many fragments a message may have, and what the user calls that bound.
func (c *Conn) FragmentLimit() (n int, name string) { return c.ep.fragments, c.ep.cfg.LimitName }

// Close ends the endpoint and all its connections at once; their peers are told. The
// socket is closed when it returns, and the goroutines end. Closing again does nothing.
func (e *Endpoint) Close() error {
	e.shut(net.ErrClosed)
	return nil
}

// fail ends an endpoint whose socket is broken.
func (e *Endpoint) fail(err error) {
	if !isClosed(e.done) {
		e.log.log(slog.LevelError, "socket failed", "error", err)
	}
	e.shut(err)
}

// shutAlone ends this member.
func (e *Endpoint) shutAlone(err error) {
	e.mu.Lock()
	if e.ending {
		e.mu.Unlock()
		return
	}
	e.ending, e.err = true, err
	e.mu.Unlock()
	e.admitting.Store(false)
	e.accepts.close()
	for _, c := range e.list() {
		c.abort(err)
		if e.tx.room() < txQueue/2 {
			e.tx.flush(txQueue / txBatch) // or the last would not get their farewell in
		}
	}
	e.tx.finish(farewell)
	close(e.done)
	e.sock.Close()
}

// panicked reports what a function of the user's threw.
func (e *Endpoint) panicked(what string, v any) {
	e.log.log(slog.LevelError, "panic in "+what, "panic", v, "stack", string(debug.Stack()))
}
