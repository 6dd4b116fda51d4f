package raknet

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/endpoint"
	"github.com/raknet-go/raknet/internal/udp"
)

// Conn is a connection to one peer. It keeps message boundaries. Every method may
// be called by any number of goroutines at once. A Conn comes from a [Dialer] or a
// [Listener] and is complete from the start; its zero value is of no use.
type Conn struct {
	ec     *endpoint.Conn
	remote atomic.Pointer[net.UDPAddr] // nil: nobody asked yet, or the carrier has addresses of its own
	events *[]TraceEvent               // scratch of the goroutine that calls Tracer.ConnEvents; nil: none yet
}

var _ net.Conn = (*Conn)(nil)

// newConn dresses an endpoint's connection.
func newConn(ec *endpoint.Conn) *Conn {
	return &Conn{ec: ec}
}

// peerAddr returns the address of a peer as the user knows it: what its carrier
// calls it, or a *net.UDPAddr.
func peerAddr(p udp.Peer) net.Addr {
	if p.Addr != nil {
		return p.Addr
	}
	return net.UDPAddrFromAddrPort(p.AddrPort)
}

// Read waits for a message and copies it into b. A message that b is too small for
// is lost, and the error is [ErrBufferTooSmall]; ReadPacket needs no guess of the
// size. When the peer has closed the connection and all its messages were read, the
// error is [io.EOF] itself, not wrapped, so that [io.Copy] and [io.ReadAll] end
// well.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.ec.Read(b)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return n, io.EOF
		}
		return n, c.opError("read", err)
	}
	return n, nil
}

// ReadPacket waits for a message and returns it in a slice that belongs to the
// caller for good. When the peer has closed the connection and all its messages
// were read, errors.Is finds both [io.EOF] and [net.ErrClosed] in the error.
func (c *Conn) ReadPacket() ([]byte, error) {
	b, err := c.ec.ReadPacket()
	if err != nil {
		return nil, c.opError("read", err)
	}
	return b, nil
}

// Receive is [Conn.ReadPacket] that also ends with the context, and tells how the
// message was sent. The read deadline holds for it too.
func (c *Conn) Receive(ctx context.Context) (Message, error) {
	m, err := c.ec.Receive(ctx)
	if err != nil {
		return Message{}, c.opError("read", ofContext(ctx, err))
	}
	return Message(m), nil
}

// Handle gives every message from now on, and those that wait to be read, to fn, in
// order and one at a time. Read, ReadPacket and Receive get nothing from then on.
// fn is called by the goroutine that serves the whole socket: it must return
// quickly and must not block, and the message's Data is valid only until it
// returns. Sending from fn is fine while the send buffer has room. A panic in fn
// ends the connection. A nil fn goes back to reading.
func (c *Conn) Handle(fn func(Message)) {
	if fn == nil {
		c.ec.Handle(nil)
		return
	}
	c.ec.Handle(func(m endpoint.Message) { fn(Message(m)) })
}

// Write sends b as one [ReliableOrdered] message on channel 0 and returns len(b), or 0
// and an error: a message is sent whole or not at all. It copies b. While the
// send buffer is full ([Limits].SendBuffer) it waits, until the write deadline.
//
// The first byte of b must not be one that RakNet reserves; see [ErrReservedID].
func (c *Conn) Write(b []byte) (int, error) {
	_, err := c.ec.Send(context.Background(), b, endpoint.SendOptions{Reliability: ReliableOrdered})
	if err != nil {
		return 0, c.opError("write", c.sized(err, len(b)))
	}
	return len(b), nil
}

// Send sends payload, which it copies, as one message in the mode, on the channel
// and with the priority of o. A message of a reliable mode waits while the send
// buffer is full ([Limits].SendBuffer), until the write deadline or the end of ctx; an
// unreliable one never waits, and is dropped when its time in the queue runs out.
//
// The receipt is nil unless the reliability is one of those that ask for one.
//
// A message larger than a datagram is cut into fragments, and goes reliable even if an
// unreliable mode was asked for: losing one fragment would lose it all.
func (c *Conn) Send(ctx context.Context, payload []byte, o SendOptions) (*Receipt, error) {
	r, err := c.ec.Send(ctx, payload, endpoint.SendOptions(o))
	if err != nil {
		return nil, c.opError("write", ofContext(ctx, c.sized(err, len(payload))))
	}
	if r == nil {
		return nil, nil
	}
	return &Receipt{r}, nil
}

// Close closes the connection. It returns at once, and what was written before is
// delivered in the background for up to [Timeouts].Close, then the peer is told. Unread
// messages are gone: reads and writes fail from now on, also those that wait. Closing
// again does nothing. To know that everything has arrived, send the last message
// with a receipt and wait for it first.
func (c *Conn) Close() error {
	_ = c.ec.Close() // it only says that the connection was closed before
	return nil
}

// LocalAddr returns the address of the socket on this side, a [*net.UDPAddr] on UDP.
func (c *Conn) LocalAddr() net.Addr { return c.ec.LocalAddr() }

// RemoteAddr returns the address of the peer, a [*net.UDPAddr] on UDP. Behind a proxy that is
// trusted it is the address that the proxy told; see [Conn.ProxyAddr].
func (c *Conn) RemoteAddr() net.Addr {
	if p := c.ec.Peer(); p.Addr != nil && !c.ec.Proxied() {
		return p.Addr
	}
	if c.remote.Load() == nil {
		c.remote.CompareAndSwap(nil, net.UDPAddrFromAddrPort(c.ec.Client()))
	}
	return c.remote.Load()
}

// SetDeadline sets the read and the write deadline.
func (c *Conn) SetDeadline(t time.Time) error { return c.opError("set", c.ec.SetDeadline(t)) }

// SetReadDeadline makes reads fail with [os.ErrDeadlineExceeded] from t on, also those
// that wait and when messages are there to read. The zero time takes the deadline away.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.opError("set", c.ec.SetReadDeadline(t)) }

// SetWriteDeadline makes Write and Send fail with [os.ErrDeadlineExceeded] from t on,
// also those that wait. The zero time takes the deadline away.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.opError("set", c.ec.SetWriteDeadline(t)) }

// Context returns a context that ends with the connection, when Close is called, the
// peer closes, or the link is lost. [context.Cause] tells which: a
// [*DisconnectError], [ErrIdleTimeout] or another error of this package.
func (c *Conn) Context() context.Context { return c.ec.Context() }

// Latency returns half of the round trip, an estimate of how long a message takes
// to arrive. See [Conn.RTT].
func (c *Conn) Latency() time.Duration { return c.ec.RTT() / 2 }

// RTT returns the smoothed round trip time. It includes the time for which the
// peer holds back its acknowledgements, up to 100 ms with some implementations.
func (c *Conn) RTT() time.Duration { return c.ec.RTT() }

// MTU returns the agreed size of the largest datagram, counting 28 bytes of IP and UDP
// headers. A message of up to MTU-60 bytes travels in one datagram. See
// [ListenConfig.MaxMTU] for when there may be larger ones.
func (c *Conn) MTU() int { return c.ec.MTU() }

// Dialed reports whether this side dialed; otherwise it accepted the connection.
func (c *Conn) Dialed() bool { return c.ec.Dialed() }

// GUID returns the number by which the peer calls itself. Nothing proves it.
func (c *Conn) GUID() int64 { return c.ec.GUID() }

// ProtocolVersion returns the version of the protocol that both sides agreed on.
func (c *Conn) ProtocolVersion() byte { return c.ec.Version() }

// Stats returns the connection's counters and gauges as they are now.
func (c *Conn) Stats() ConnStats { return connStats(c.ec.Stats()) }

// opError dresses an error of this connection.
func (c *Conn) opError(op string, err error) error {
	if err == nil {
		return nil
	}
	return opError(op, c.LocalAddr(), c.RemoteAddr(), callError(err))
}

// ofContext replaces the plain error of a context that ended by one that also
// carries its cause.
func ofContext(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return contextErr(ctx, nil)
	}
	return err
}
