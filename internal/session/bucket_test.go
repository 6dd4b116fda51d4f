package session

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestBucketGivesABurstThenARate(t *testing.T) {
	var b bucket
	now := monotime.Time(time.Hour)
	takes := func() (n int) {
		for b.take(now, 50*time.Millisecond, 5) {
			n++
		}
		return n
	}
	for _, c := range []struct {
		wait time.Duration
		want int
	}{
		{0, 5}, {49 * time.Millisecond, 0}, {time.Millisecond, 1}, {100 * time.Millisecond, 2}, {time.Hour, 5},
	} {
		now = now.Add(c.wait)
		if got := takes(); got != c.want {
			t.Errorf("after %v: %d, want %d", c.wait, got, c.want)
		}
	}
	if ready := b.ready(50*time.Millisecond, 5); ready != now.Add(50*time.Millisecond) {
		t.Errorf("ready in %v", ready.Sub(now))
	}
}
