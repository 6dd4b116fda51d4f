package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/protocol"
)

func TestASenderIsAheadOnlyWhereThePathIsShort(t *testing.T) {
	for _, delay := range []time.Duration{100 * time.Microsecond, 5 * time.Millisecond} {
		w := newPair(t, 1, Config{MTU: 1492}, path{delay: delay})
		e := w.end[0]
		short := delay < time.Millisecond
		bulk(t, w, 1000, 20, time.Second)
		w.runUntil(time.Second, e.Drained)
		feed := func(bytes int) {
			for n := 0; n < bytes; n += 1000 {
				if err := w.send(0, Message{Payload: payload(0, 1000), Reliability: protocol.ReliableOrdered}); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.onGot = nil
		feed(aheadBytes - aheadBytes/8)
		if e.Ahead() {
			t.Errorf("%v: ahead by %d bytes", delay, e.held)
		}
		feed(aheadBytes / 4)
		if e.Ahead() != short || e.CaughtUp() == short {
			t.Errorf("%v: %d bytes queued and unacknowledged: ahead %v, caught up %v", delay, e.held, e.Ahead(), e.CaughtUp())
		}
		if e.inFlight < flowBytes && short || e.Flowing() != short {
			t.Errorf("%v: %d bytes in flight: flowing %v", delay, e.inFlight, e.Flowing())
		}
		if e.Plenty() && short { // on the long one the pacer is what nothing passes
			t.Errorf("%v: the window is full, so nothing may leave", delay)
		}
		before := e.Delivered()
		w.runUntil(time.Second, e.Drained)
		if !e.CaughtUp() || e.Ahead() || e.Flowing() || e.Plenty() {
			t.Errorf("%v: nothing is left, but ahead %v, flowing %v, plenty %v", delay, e.Ahead(), e.Flowing(), e.Plenty())
		}
		if e.Delivered()-before < aheadBytes {
			t.Errorf("%v: %d bytes delivered", delay, e.Delivered()-before)
		}
	}
}

func TestPlentyIsWhatASystemCallIsWorth(t *testing.T) {
	w := newPair(t, 1, Config{MTU: 1492, Controller: NewFixed(512)}, path{delay: 100 * time.Microsecond})
	e := w.end[0]
	m := Message{Payload: payload(0, 1000), Reliability: protocol.ReliableOrdered}
	n := 0
	for !e.Plenty() {
		if err := e.Send(w.now, &m); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n < plentyBytes/1100 || n > plentyBytes/1000 {
		t.Errorf("%d messages of 1000 bytes are plenty", n)
	}
	w.flush(0)
	if e.Plenty() {
		t.Error("what left waits no more")
	}
}
