package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestCubicReturnsToItsPeakAndBeyond(t *testing.T) {
	c := NewCubic(testMTU)
	now, next := monotime.Time(1), int64(0)
	rtt := 50 * time.Millisecond
	round := func() {
		n := c.Window() / testMTU
		next += int64(n)
		now = now.Add(rtt)
		c.OnAck(now, AckSample{Bytes: c.Window(), RTT: rtt, SRTT: rtt, MinRTT: rtt, WindowLimited: true, Newest: next - 1, Next: next})
	}
	for range 4 {
		round()
	}
	peak := c.Window()
	if peak != 16*initialDatagrams*testMTU {
		t.Fatalf("window %d after four round trips of slow start", peak)
	}
	c.OnLoss(now, LossSample{Bytes: testMTU, Newest: next - 1, Next: next})
	cut := c.Window()
	if cut != int(cubicBeta*float64(peak)) {
		t.Fatalf("window %d after a loss, was %d", cut, peak)
	}
	c.OnLoss(now, LossSample{Bytes: testMTU, Newest: next - 2, Next: next})
	if c.Window() != cut {
		t.Fatal("one reduction a round trip")
	}
	back := 0
	for ; c.Window() < peak*98/100; back++ {
		if back > 400 {
			t.Fatalf("window %d after %d round trips, peak %d", c.Window(), back, peak)
		}
		round()
	}
	for range 200 {
		round()
	}
	if c.Window() <= peak {
		t.Errorf("window %d never probed beyond %d", c.Window(), peak)
	}
}

func TestCubicUndoesAFalseLossAndCollapsesInSilence(t *testing.T) {
	c := NewCubic(testMTU)
	before := c.Window()
	c.OnLoss(1, LossSample{Bytes: testMTU, Newest: 5, Next: 10})
	c.OnSpurious(1)
	if c.Window() != before {
		t.Errorf("window %d, was %d", c.Window(), before)
	}
	c.OnSpurious(1)
	c.OnLoss(1, LossSample{Bytes: testMTU, Newest: 15, Next: 20, Timeout: true})
	if c.Window() != testMTU || c.PacingRate() != 0 {
		t.Errorf("window %d in silence", c.Window())
	}
	t.Logf("# an application that does not fill the window does not grow it")
	w := c.Window()
	c.OnAck(2, AckSample{Bytes: 100, Newest: 21, Next: 22})
	if c.Window() != w {
		t.Errorf("window %d", c.Window())
	}
}
