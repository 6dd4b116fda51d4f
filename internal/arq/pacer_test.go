package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestALargeWindowIsSpreadOverTheRoundTrip(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(400)})
	l.settleRTT(100 * time.Millisecond)
	for range 400 {
		l.send(1400)
	}
	leave := func() (n int) {
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			b.Release()
			n++
		}
		return n
	}
	burst := leave()
	if burst < 30 || burst > 46 {
		t.Errorf("%d datagrams left at once", burst)
	}
	start, total := l.now, burst
	for total < 390 {
		d := l.e.Deadline()
		if d == monotime.Never || d <= l.now {
			t.Fatalf("%d left, and the deadline is %v at %v", total, d, l.now)
		}
		l.now = d
		l.e.Advance(l.now)
		step := leave()
		if step > 20 {
			t.Fatalf("a burst of %d", step)
		}
		total += step
	}
	if took := l.now.Sub(start); took < 35*time.Millisecond || took > 60*time.Millisecond {
		t.Errorf("the window took %v of a round trip of 100 ms to leave", took)
	}
}

func TestALoneMessageNeverWaits(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(100 * time.Millisecond)
	for i := range int64(9) {
		l.send(1400)
		l.want("at once", n+i, n+i)
		l.now = l.now.Add(time.Millisecond)
	}
}

func TestAShortPathIsNotPaced(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(300)})
	l.settleRTT(200 * time.Microsecond)
	for range 300 {
		l.send(1400)
	}
	left := 0
	for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
		b.Release()
		left++
	}
	if left < 290 {
		t.Errorf("%d datagrams left at once", left)
	}
}
