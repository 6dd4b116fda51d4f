package raknet

import (
	"context"
	"log/slog"
	"net"
	"runtime/debug"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/endpoint"
)

// Tracer is told of what happens to the connections of a [Dialer] or [ListenConfig]. Any
// field may be nil; a nil Tracer costs nothing. The functions may be called by several
// goroutines at once and may be called late, but those that name a connection come in
// order for that connection: opened, then its events, then closed. A panic in one
// of them is written to the ErrorLog and harms nothing else. A log and counters are
// elsewhere: see ErrorLog, [Conn.Stats] and [Listener.Stats].
type Tracer struct {
	// DialAttempt is called before each attempt of a dial: once for every address of
	// the host that is tried, and again for every start from a fresh local port.
	DialAttempt func(remote net.Addr)
	// ConnOpened is called when a connection has completed its handshake, by the
	// goroutine that serves the socket: it must return quickly.
	ConnOpened func(*Conn)
	// ConnClosed is called, by a goroutine of its own, when a connection has ended and
	// why, as context.Cause of [Conn.Context] tells. With ConnEvents set it is called
	// after the last event, which comes when nothing is left to be done: after a Close
	// when everything has been delivered and the peer was told, a few seconds later.
	ConnClosed func(*Conn, error)
	// ConnEvents is told what a connection does to bring its datagrams through, from the
	// first datagram of the connection on: see [TraceEvent]. It is called with some
	// events at a time, which it must not keep the slice of, and never twice at once for
	// one connection. The goroutine that calls it is the connection's own, so it may
	// take its time, to write a file for instance. The connection does not wait for
	// it: of a few thousand events that were not taken in time the oldest are dropped, and an
	// event of kind [TraceGap] says how many. After a panic it is not called again for that
	// connection. Nil: nothing is recorded.
	ConnEvents func(*Conn, []TraceEvent)
	// RequestRefused is called when ListenConfig.Admit has refused a request, by the
	// goroutine that serves the socket: it must return quickly.
	RequestRefused func(*ConnRequest, error)
}

// traceChunk is how many events ConnEvents is given at once, at most: a slice for so many
// is kept for each connection that had so many to tell.
const traceChunk = 128

// opened tells of a new connection, and of its end when that comes.
func (t *Tracer) opened(c *Conn) {
	if t == nil {
		return
	}
	if t.ConnOpened != nil {
		c.ec.Guard("tracer", func() { t.ConnOpened(c) })
	}
	if t.ConnClosed != nil && t.ConnEvents == nil {
		context.AfterFunc(c.Context(), func() { t.closed(c) })
	}
}

func (t *Tracer) closed(c *Conn) {
	if t.ConnClosed != nil {
		c.ec.Guard("tracer", func() { t.ConnClosed(c, c.ec.Cause()) })
	}
}

// trace sets up an endpoint to tell t of events, if t wants to know.
func (t *Tracer) trace(cfg *endpoint.Config) {
	if t == nil || t.ConnEvents == nil {
		return
	}
	cfg.Trace = func(ec *endpoint.Conn, records []arq.TraceRecord) {
		c := ec.User().(*Conn)
		for len(records) > 0 {
			n := min(len(records), traceChunk)
			if c.events == nil {
				c.events = new([]TraceEvent)
			}
			events := (*c.events)[:0]
			for i := range records[:n] {
				events = append(events, traceEvent(ec, &records[i]))
			}
			records = records[n:]
			t.ConnEvents(c, events)
			*c.events = events
		}
	}
	cfg.TraceEnd = func(ec *endpoint.Conn) { t.closed(ec.User().(*Conn)) }
}

// dialing tells of an attempt, maybe on a goroutine where nobody would catch a panic.
func (t *Tracer) dialing(remote net.Addr, log *slog.Logger) {
	if t == nil || t.DialAttempt == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil && log != nil {
			log.Error("panic in tracer", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	t.DialAttempt(remote)
}

func (t *Tracer) refused(r *ConnRequest, err error) {
	if t != nil && t.RequestRefused != nil {
		t.RequestRefused(r, err)
	}
}
