package interop

import (
	"sync/atomic"
	"testing"
	"time"
)

// A LocalConn is a connection of a peer that runs in this process.
type LocalConn interface {
	// Receive returns the next message, or an error once the connection has ended.
	Receive() ([]byte, error)
	Send(b []byte, reliability, channel byte) error
	Close() error
}

// LocalLink makes a Link of a connection in this process. Its methods hand the work to a goroutine that does it in order.
type LocalLink struct {
	events chan Event
	work   chan func()
	over   chan struct{} // closed when the test has ended
	kill   func()
	conn   LocalConn // set by Attach, before Connected is reported
	echo   atomic.Pointer[[2]byte]
}

// workBacklog is how much work may wait in a LocalLink: the echoes of a conversation are the most of it. Beyond, the reader waits.
const workBacklog = 1 << 12

// NewLocalLink makes a link without a connection. kill is what Kill does.
func NewLocalLink(t testing.TB, kill func()) *LocalLink {
	l := &LocalLink{events: NewEvents(), work: make(chan func(), workBacklog), over: make(chan struct{}), kill: kill}
	go func() {
		for {
			select {
			case f := <-l.work:
				f()
			case <-l.over:
				return
			}
		}
	}()
	t.Cleanup(func() { close(l.over) })
	return l
}

// Report adds an event.
func (l *LocalLink) Report(e Event) {
	select {
	case l.events <- e:
	case <-l.over:
	}
}

// Attach gives the link its connection, reports Connected and then whatever arrives, until the connection has ended.
func (l *LocalLink) Attach(c LocalConn) {
	l.conn = c
	l.Report(Event{Kind: Connected})
	for {
		b, err := c.Receive()
		if err != nil {
			l.Report(Event{Kind: Disconnected, Text: err.Error()})
			return
		}
		l.Report(MessageEvent(b))
		if how := l.echo.Load(); how != nil {
			l.do(func() { l.send(b, how[0], how[1]) })
		}
	}
}

func (l *LocalLink) do(f func()) {
	select {
	case l.work <- f:
	case <-l.over:
	}
}

func (l *LocalLink) send(b []byte, reliability, channel byte) {
	if err := l.conn.Send(b, reliability, channel); err != nil {
		l.Report(Event{Kind: Broken, Text: "send: " + err.Error()})
	}
}

// Send sends a series of messages.
func (l *LocalLink) Send(b Burst) {
	one := func(i int) { l.send(Fill(b.Seed+uint32(i), b.Size), b.Reliability, b.Channel) }
	if b.Every == 0 {
		l.do(func() {
			for i := range b.Count {
				one(i)
			}
		})
		return
	}
	go func() {
		tick := time.NewTicker(b.Every)
		defer tick.Stop()
		for i := range b.Count {
			select {
			case <-tick.C:
				one(i)
			case <-l.over:
				return
			}
		}
	}()
}

// Echo makes the link send back what arrives.
func (l *LocalLink) Echo(reliability, channel byte) { l.echo.Store(&[2]byte{reliability, channel}) }

// Close ends the connection in order.
func (l *LocalLink) Close() { l.do(func() { l.conn.Close() }) }

// Kill makes the peer vanish.
func (l *LocalLink) Kill() { l.kill() }

// Events is where the link reports.
func (l *LocalLink) Events() <-chan Event { return l.events }
