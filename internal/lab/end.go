package lab

import (
	"fmt"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
)

// end is one end of a connection.
type end struct {
	w     *world
	f     *flow
	cfg   session.Config
	sess  session.Conn
	out   *path
	other *end
	tick  time.Duration // it sends only at multiples of this; 0: whenever it wants
	armed monotime.Time
	dirty bool
	begun bool
}

// happen takes what an end is told.
func (e *end) happen(ev *event) {
	switch ev.kind {
	case evStart:
		e.begun = true
		e.sess.Init(e.w.now, &e.cfg)
	case evDatagram:
		e.sess.Receive(e.w.now, ev.buf, ev.buf.Bytes())
		ev.buf.Release()
	case evWake:
		if ev.at != e.armed {
			return
		}
		e.armed = 0
		e.sess.Advance(e.w.now)
	}
	e.touch()
}

// touch gives the end its turn, after everything else of this moment.
func (e *end) touch() {
	if !e.dirty {
		e.dirty = true
		e.w.dirty = append(e.w.dirty, e)
	}
}

// turn does what there is to do, in the order of the runtime: read, refill, send.
func (e *end) turn() {
	w := e.w
	e.collect()
	if e == e.f.sender {
		for _, s := range e.f.sources {
			s.fill()
		}
	}
	if e.tick > 0 {
		e.turnAtTick()
		return
	}
	e.transmit()
	e.arm(max(e.sess.Deadline(), w.now+1))
}

// turnAtTick lets a peer that sends in rhythm send if it is time.
func (e *end) turnAtTick() {
	since := e.w.now.Sub(begin)
	if since%e.tick == 0 {
		e.sess.Advance(e.w.now)
		e.transmit()
	}
	e.arm(begin.Add(since - since%e.tick + e.tick))
}

func (e *end) collect() {
	var ev session.Event
	for e.sess.Next(&ev) {
		switch ev.Kind {
		case session.EventConnected:
			if e == e.f.sender {
				for _, s := range e.f.sources {
					s.start()
				}
			}
		case session.EventClosed:
			panic(fmt.Sprintf("lab: %s, seed %d: the connection ended: %v", e.w.sc.Name, e.w.seed, ev.Err))
		}
	}
	var d arq.Delivery
	for e.sess.NextMessage(&d) {
		e.f.sink.take(&d)
		d.Release()
	}
}

func (e *end) transmit() {
	w := e.w
	for {
		b := e.sess.Transmit(w.now)
		if b == nil {
			return
		}
		arrivals, f, waited := e.out.send(w.now, b.Bytes())
		if e == e.f.sender && w.now < w.until {
			e.f.ledger.note(b.Bytes(), f, waited, w.measured())
		}
		for _, a := range arrivals {
			buf := pool.Get(pool.ClassRead)
			buf.N = copy(buf.B, a.Data)
			w.push(event{at: a.At, to: e.other, kind: evDatagram, buf: buf})
		}
		b.Release()
	}
}

// arm makes sure that the end has a turn at the given moment.
func (e *end) arm(at monotime.Time) {
	if at == monotime.Never || e.armed != 0 && e.armed <= at {
		return
	}
	e.armed = at
	e.w.push(event{at: at, to: e, kind: evWake})
}

func (e *end) close() { e.sess.Release() }
