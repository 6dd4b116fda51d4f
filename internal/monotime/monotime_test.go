package monotime

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestClockFollowsVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock()
		if got := c.Now(); got != 1 {
			t.Fatalf("a fresh clock reads %d, want 1", got)
		}
		time.Sleep(3 * time.Second)
		if got := c.Now().Sub(1); got != 3*time.Second {
			t.Fatalf("after 3 s it moved by %v", got)
		}
		if got, want := c.Wall(c.Now()), time.Now(); !got.Equal(want) {
			t.Fatalf("wall time %v, want %v", got, want)
		}
	})
}

func TestNeverStaysNever(t *testing.T) {
	if Never.Add(time.Hour) != Never {
		t.Fatal("Never moved")
	}
	if got := Time(2_500_000).Milli(); got != 2 {
		t.Fatalf("2.5 ms is %d whole ms", got)
	}
	if !Time(0).IsZero() || Time(1).IsZero() {
		t.Fatal("only 0 is unset")
	}
}
