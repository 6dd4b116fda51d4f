package endpoint

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/udp"
)

// Conn is one connection of an Endpoint. All its exported methods are safe for
// concurrent use.
type Conn struct {
	ep    *Endpoint
	peer  udp.Peer
	way   *way
	dirty bool // the reader's: has received in this batch

	server  bool         // admitted here, not dialed
	listing registration // under Endpoint.mu
	taken   uint8        // the reader's: how many datagrams of this batch, while it is behind

	// The driver's, under its lock.
	place int32 // in the heap, from 1; 0: not there

	read  atomic.Pointer[waiters]
	write atomic.Pointer[writers]

	mu   sync.Mutex // guards all below, and with it what goes into the send queue in which order
	sess session.Conn

	opened   bool  // the handshake is complete and the world knows
	closed   bool  // Close or Abort was called here
	ended    bool  // the session has ended
	dead     bool  // nothing is left of the session but unread messages
	gone     bool  // closed or ended; over is closed, or about to be
	pumping  bool  // there is a pump, and it looks for more to send before it ends
	calling  bool  // some goroutine is handing messages to the handler
	answered bool  // something was received since lastSent
	held     int32 // goroutines that will transmit for everybody in a moment
	account  int32 // place in the list of the Budget, from 1; 0: not there. Under its lock

	advanced monotime.Time // when the session's timers were last looked at
	lastSent monotime.Time // when a message last left from its sender's goroutine
	acceptBy monotime.Time // unset: not waiting for Accept
	handler  func(Message)
	rare     *rare   // nil: there was no need yet
	pauses   *pauses // nil: there was no flow yet

	user atomic.Pointer[any]
}

// way is what a connection knows of its way to the peer. Connections share one that is the same.
type way struct {
	local  netip.Addr      // of this machine, as the peer addressed it
	behind *netip.AddrPort // whose datagrams the proxy at Conn.peer brings; nil: the peer's own
	ready  chan struct{}   // dialed: closed when the connection is open; else nil
}

// rare is what most connections on which little happens do not need. Under Conn.mu.
type rare struct {
	over     chan struct{} // closed when the connection was closed here or has ended; nil: nobody has asked
	ending   *ending       // nil: it is not gone
	receipts *receipts     // nil: nobody wanted one yet
	ctx      *connContext  // nil: nobody asked yet
	tracing  *tracing      // nil: nobody wants to know; made with the connection
	dropped  uint64        // unreliable messages that found the send buffer full
}

// noRare is what a connection has that has none. Nobody writes there.
var noRare rare

// seldom returns what the connection has of it, to be read. c.mu is held.
func (c *Conn) seldom() *rare {
	if c.rare == nil {
		return &noRare
	}
	return c.rare
}

// makeRare returns it to be written. c.mu is held.
func (c *Conn) makeRare() *rare {
	if c.rare == nil {
		c.rare = new(rare)
	}
	return c.rare
}

// ending is why a connection is gone.
type ending struct {
	cause  error // as the session or the caller said
	once   sync.Once
	public error // as Config.Cause maps it
}

// connContext is what Context returned.
type connContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// waiters are the blocked callers of one direction, made when the first is about to wait or
// has set a deadline.
type waiters struct {
	deadline deadline
	gate     gate
	n        int32 // how many; under Conn.mu
}

// writers are the waiters of a full send buffer.
type writers struct {
	waiters
	turns gate // holds the token of the one blocked sender who is next
	want  int  // the space that the next of them needs; under Conn.mu
}

// readers returns the waiters for messages.
func (c *Conn) readers() *waiters {
	if w := c.read.Load(); w != nil {
		return w
	}
	c.read.CompareAndSwap(nil, &waiters{gate: newGate()})
	return c.read.Load()
}

func (c *Conn) writers() *writers {
	if w := c.write.Load(); w != nil {
		return w
	}
	c.write.CompareAndSwap(nil, &writers{waiters: waiters{gate: newGate()}, turns: newGate()})
	return c.write.Load()
}

// waiting reports whether anybody waits. Conn.mu is held.
func (w *waiters) waiting() bool { return w != nil && w.n > 0 }

// late reports whether the deadline has passed.
func (w *waiters) late() bool { return w != nil && w.deadline.passed() }

func (w *writers) waiting() bool { return w != nil && w.n > 0 }
func (w *writers) late() bool    { return w != nil && w.deadline.passed() }

// isOver returns a channel that is closed when the connection was closed here or has ended.
func (c *Conn) isOver() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seldom().over == nil {
		if c.gone {
			return alwaysClosed
		}
		c.makeRare().over = make(chan struct{})
	}
	return c.rare.over
}

var alwaysClosed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// newConn makes a connection in its handshake. It is in no table yet.
func newConn(e *Endpoint, now monotime.Time, peer udp.Peer, w *way, cfg *session.Config) *Conn {
	c := &Conn{ep: e, peer: peer, way: w, server: cfg.Side == session.Server}
	cfg.EpochMilli = e.epoch
	known := cfg.ARQ.RoundTrip
	cfg.ARQ = e.cfg.ARQ
	cfg.ARQ.RoundTrip = known
	if e.cfg.Trace != nil {
		c.rare = &rare{tracing: newTracing()}
		cfg.ARQ.Trace = c.rare.tracing.ring
	}
	cfg.Settled = e.timing
	if client := c.Client(); !udp.Synthetic(client.Addr()) {
		cfg.PeerAddr = client
	}
	c.sess.Init(now, cfg)
	e.cfg.Budget.add(c)
	return c
}

// Context returns a context that is cancelled when the connection is closed here or
// has ended, with the reason as its cause.
func (c *Conn) Context() context.Context {
	c.mu.Lock()
	r := c.makeRare()
	if r.ctx == nil {
		r.ctx = new(connContext)
		r.ctx.Context, r.ctx.cancel = context.WithCancelCause(context.Background())
	}
	ctx, gone := r.ctx.Context, c.gone
	c.mu.Unlock()
	if gone {
		c.cancelContext()
	}
	return ctx
}

// cancelContext may run functions of the user's contexts: not for shared goroutines.
func (c *Conn) cancelContext() {
	c.mu.Lock()
	ctx, gone := c.seldom().ctx, c.gone
	c.mu.Unlock()
	if ctx != nil && gone {
		ctx.cancel(c.Cause())
	}
}

// Cause returns why the connection was closed or has ended, as Config.Cause maps it;
// nil while it lives.
func (c *Conn) Cause() error {
	c.mu.Lock()
	end := c.seldom().ending
	c.mu.Unlock()
	if end == nil {
		return nil
	}
	end.once.Do(func() {
		end.public = end.cause
		if f := c.ep.cfg.Cause; f != nil {
			end.public = f(end.cause)
		}
	})
	return end.public
}

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets the moment from which on Read, ReadPacket and Receive fail with
// os.ErrDeadlineExceeded, also those that wait, and whether or not there is
// something to read. The zero Time is no deadline.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.setDeadline(t, c.read.Load() != nil, c.readers)
}

// SetWriteDeadline sets the moment from which on Write and Send fail with
// os.ErrDeadlineExceeded, also those that wait for space. The zero Time is no deadline.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadline(t, c.write.Load() != nil, func() *waiters { return &c.writers().waiters })
}

func (c *Conn) setDeadline(t time.Time, any bool, of func() *waiters) error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return net.ErrClosed
	}
	if !any && t.IsZero() {
		return nil // there was none
	}
	w := of()
	passed := func() {
		w.gate.open()
		c.ep.role.kickLeader()
	}
	w.deadline.set(t, passed)
	if w.late() {
		w.gate.open()
	}
	c.ep.role.kickLeader()
	return nil
}

// Stats returns the connection's counters and gauges.
func (c *Conn) Stats() ConnStats {
	var s ConnStats
	c.mu.Lock()
	c.sess.Stats(&s.Stats)
	s.ReceiveQueueBytes, s.ReceiveQueueMessages = s.UnreadBytes, s.UnreadMessages
	s.UnreliableDropped = c.seldom().dropped
	c.mu.Unlock()
	return s
}

// RTT returns the smoothed round trip, zero before the first sample.
func (c *Conn) RTT() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sess.RTT()
}

// MTU returns the negotiated MTU, which counts 28 bytes of IP and UDP.
func (c *Conn) MTU() int { return c.sess.MTU() }

// Dialed reports whether this side dialed, and did not accept, the connection.
func (c *Conn) Dialed() bool { return !c.server }

// GUID returns the peer's GUID, as it gave it.
func (c *Conn) GUID() int64 { return c.sess.PeerGUID() }

// Version returns the negotiated protocol version.
func (c *Conn) Version() byte { return c.sess.Version() }

// Peer returns the peer's address.
func (c *Conn) Peer() udp.Peer { return c.peer }

// LocalAddr returns the address of the endpoint's socket.
func (c *Conn) LocalAddr() net.Addr { return c.ep.LocalAddr() }

// Endpoint returns the endpoint that the connection belongs to.
func (c *Conn) Endpoint() *Endpoint { return c.ep }

// User returns what Config.Wrap returned for the connection, or SetUser was given since.
func (c *Conn) User() any {
	if v := c.user.Load(); v != nil {
		return *v
	}
	return nil
}

// SetUser attaches a value of the caller's to the connection.
func (c *Conn) SetUser(v any) { c.user.Store(&v) }
