package endpoint

import (
	"context"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// dialLead is a dial, or a ping, that reads the socket itself. On an endpoint with a single
// connection nobody else has a use for it yet, and a hand-off from the background reader for each
// of the four answers of a handshake would cost more than all else that a client does.
type dialLead struct {
	e     *Endpoint
	ctx   context.Context
	stop  func() bool // forgets ctx
	alarm *time.Timer // calls the dial away from the socket
	at    monotime.Time
}

// leadFor lets an attempt read the socket until its lead ends, if nobody else does.
func (e *Endpoint) leadFor(ctx context.Context, a *attempt) {
	if !e.lead || !e.cfg.Solo || !e.role.take() {
		return
	}
	a.lead = &dialLead{e: e, ctx: ctx, at: monotime.Never, stop: context.AfterFunc(ctx, e.role.kickLeader)}
}

// read reads the socket until done says so, a moment has come, or the context or the endpoint has ended.
func (l *dialLead) read(until monotime.Time, done func() bool) {
	e := l.e
	for {
		e.prepare()
		now := e.clock.Now()
		if done() || now >= until || l.ctx.Err() != nil || isClosed(e.done) {
			return
		}
		l.wakeBy(now, until)
		if !e.readOnce() {
			return
		}
	}
}

// wakeBy sets the alarm. It only ever pulls it closer: most answers come long before it, and it
// is then left as it is for the next.
func (l *dialLead) wakeBy(now, until monotime.Time) {
	switch {
	case until == monotime.Never || l.at > now && l.at <= until:
		return
	case l.alarm == nil:
		l.alarm = time.AfterFunc(until.Sub(now), l.e.role.kickLeader)
	default:
		l.alarm.Reset(until.Sub(now))
	}
	l.at = until
}

// end leaves the socket to the next who reads. Nothing to end is fine.
func (l *dialLead) end() {
	if l == nil {
		return
	}
	l.stop()
	if l.alarm != nil {
		l.alarm.Stop()
	}
	l.e.role.leave(false)
}
