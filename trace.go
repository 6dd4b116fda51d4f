package raknet

import (
	"context"
	"net"
)

// Tracer is told of what happens to the connections of a [Dialer] or [ListenConfig]. Any
// field may be nil; a nil Tracer costs nothing. The functions may be called by several
// goroutines at once and may be called late, but those that name a connection come in
// order for that connection: opened, then closed. A log and counters are elsewhere:
// see ErrorLog, [Conn.Stats] and [Listener.Stats].
type Tracer struct {
	// DialAttempt is called before each attempt of a dial: once for every address of
	// the host that is tried, and again for every start from a fresh local port.
	DialAttempt func(remote net.Addr)
	// ConnOpened is called when a connection has completed its handshake, by the
	// goroutine that serves the socket: it must return quickly.
	ConnOpened func(*Conn)
	// ConnClosed is called, by a goroutine of its own, when a connection has ended and
	// why, as context.Cause of [Conn.Context] tells.
	ConnClosed func(*Conn, error)
	// RequestRefused is called when ListenConfig.Admit has refused a request, by the
	// goroutine that serves the socket: it must return quickly.
	RequestRefused func(*ConnRequest, error)
}

// opened tells of a new connection, and of its end when that comes.
func (t *Tracer) opened(c *Conn) {
	if t == nil {
		return
	}
	if t.ConnOpened != nil {
		t.ConnOpened(c)
	}
	if t.ConnClosed != nil {
		ctx := c.Context()
		context.AfterFunc(ctx, func() { t.ConnClosed(c, context.Cause(ctx)) })
	}
}

func (t *Tracer) dialing(remote net.Addr) {
	if t != nil && t.DialAttempt != nil {
		t.DialAttempt(remote)
	}
}

func (t *Tracer) refused(r *ConnRequest, err error) {
	if t != nil && t.RequestRefused != nil {
		t.RequestRefused(r, err)
	}
}
