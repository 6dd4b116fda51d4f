package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestACeilingFallsWithALossAndComesBack(t *testing.T) {
	var c ceiling
	now := monotime.Time(1)
	c.grow(now, testMTU, true)
	c.lift()
	if c.bytes != 0 {
		t.Fatal("none without a loss")
	}
	peak := 1000 * testMTU
	c.cut(now, testMTU, peak, 0)
	low := c.bytes
	if low != int(cubicBeta*float64(peak)) {
		t.Fatalf("%d of %d", low, peak)
	}
	seconds := 0.0
	for c.bytes < peak && seconds < 60 {
		now, seconds = now.Add(100*time.Millisecond), seconds+0.1
		c.grow(now, testMTU, true)
	}
	if seconds < 8 || seconds > 10 { // the cube root of 1000 * 0.3 / 0.4 is 9.1
		t.Errorf("back after %.1f s", seconds)
	}
	t.Logf("# flat around the peak, then ever steeper, then gone")
	for range 600 {
		now = now.Add(100 * time.Millisecond)
		c.grow(now, testMTU, true)
	}
	if c.bytes != 0 {
		t.Errorf("still %d a minute later", c.bytes)
	}
}

func TestASmallCeilingGrowsAsReno(t *testing.T) {
	var c ceiling
	now := monotime.Time(1)
	c.cut(now, testMTU, 10*testMTU, 0)
	for range 10 {
		now = now.Add(10 * time.Millisecond)
		c.grow(now, testMTU, true)
	}
	want := float64(7+10*3*(1-cubicBeta)/(1+cubicBeta)) * testMTU
	if got := float64(c.bytes); got < want-2 || got > want+2 {
		t.Errorf("%d after ten round trips, want %.0f", c.bytes, want)
	}
}

func TestACeilingIsNotBelowTheLeast(t *testing.T) {
	var c ceiling
	c.cut(1, testMTU, 1000, 5000)
	if c.bytes != 5000 {
		t.Errorf("%d", c.bytes)
	}
}

func TestAFalseAlarmRestoresTheCeiling(t *testing.T) {
	var c ceiling
	c.restore()
	c.cut(1, testMTU, 1000*testMTU, 0)
	before := c.bytes
	c.cut(2, testMTU, 500*testMTU, 0)
	if c.restore(); c.bytes != before {
		t.Errorf("%d, was %d", c.bytes, before)
	}
	if c.restore(); c.bytes != before {
		t.Errorf("%d: one cut is remembered, not all", c.bytes)
	}
}

func TestALiftIsQuick(t *testing.T) {
	var c ceiling
	c.cut(1, testMTU, 1000*testMTU, 0)
	for range 4 {
		c.lift()
	}
	if c.bytes < 1000*testMTU {
		t.Errorf("%d after four lifts", c.bytes)
	}
}
