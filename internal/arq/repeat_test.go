package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// frames returns the reliable indexes of the frames of the next datagram.
func (l *lossTest) frames() (indexes []int64) {
	l.t.Helper()
	b := l.e.Transmit(l.now)
	if b == nil {
		l.t.Fatal("nothing leaves")
	}
	defer b.Release()
	_, rest, err := wire.ParseDatagramHeader(b.Bytes())
	if err != nil {
		l.t.Fatal(err)
	}
	it := wire.Frames(rest)
	for f := (wire.Frame{}); it.Next(&f); {
		indexes = append(indexes, expand24(f.Reliable, l.e.nextReliable))
	}
	return indexes
}

func equal(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// lossy makes the engine believe in a share of loss.
func (l *lossTest) lossy(share float64) { l.e.repeats.loss = share }

func TestSmallMessagesRideAgainWhereDatagramsAreLost(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		l := newLossTest(t, c)
		n := l.settleRTT(50 * time.Millisecond)
		r := l.e.nextReliable
		l.send(200)
		l.want("a clean path: once", n, r)
		l.ack(n, n)
		l.lossy(0.05)
		for i, want := range [][]int64{{r + 1}, {r + 2, r + 1}, {r + 3, r + 2, r + 1}, {r + 4, r + 3, r + 2}} {
			l.send(200)
			if got := l.frames(); !equal(got, want) {
				t.Fatalf("datagram %d carries %v, want %v", i, got, want)
			}
			l.pass(12 * time.Millisecond)
		}
		t.Logf("# an ACK of one datagram settles all that it carried")
		l.ack(n+3, n+4)
		if l.e.oldest != nil {
			t.Errorf("index %d still waits", l.e.oldest.firstReliable)
		}
		if l.e.stats.FramesRepeated != 5 || l.e.stats.FramesResent != 0 {
			t.Errorf("%d repeated, %d resent", l.e.stats.FramesRepeated, l.e.stats.FramesResent)
		}
	})
}

func TestWhatRodeAlongIsResentWhenAllItsDatagramsAreLost(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	r := l.e.nextReliable
	l.lossy(0.01)
	for range 4 {
		l.send(200)
		l.frames()
		l.pass(10 * time.Millisecond)
	}
	t.Logf("# datagrams 0 and 1 are lost: message 0 is lost with them, message 1 was in datagram 2 as well")
	l.pass(20 * time.Millisecond)
	l.ack(n+2, n+3)
	l.pass(40 * time.Millisecond)
	if got := l.frames(); !equal(got, []int64{r}) {
		t.Fatalf("resent %v, want %v", got, []int64{r})
	}
	l.want("and nothing else")
}

func TestWhatAnOutageSwallowedRidesInEachDatagramAfterIt(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		l := newLossTest(t, c)
		n := l.settleRTT(50 * time.Millisecond)
		r := l.e.nextReliable
		l.lossy(0.01)
		for range 5 {
			l.send(200)
			l.frames()
			l.pass(8 * time.Millisecond)
		}
		l.pass(60 * time.Millisecond)
		t.Logf("# first what left longest ago, and no message twice")
		l.send(200)
		if got, want := l.frames(), []int64{r + 5, r, r + 1, r + 2, r + 3, r + 4}; !equal(got, want) {
			t.Fatalf("carries %v, want %v", got, want)
		}
		t.Logf("# what left just before comes before what left before that")
		l.pass(16 * time.Millisecond)
		l.send(200)
		if got, want := l.frames(), []int64{r + 6, r + 5, r, r + 1, r + 2, r + 3}; !equal(got, want) {
			t.Fatalf("carries %v, want %v", got, want)
		}
		l.pass(50 * time.Millisecond)
		l.ack(n+5, n+6)
		if l.e.oldest != nil {
			t.Errorf("index %d still waits", l.e.oldest.firstReliable)
		}
	})
}

func TestWhatIsResentTogetherLeavesTogether(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	r := l.e.nextReliable
	for range 5 {
		l.send(300)
		l.frames()
	}
	l.pass(50 * time.Millisecond)
	l.ack(n+4, n+5)
	l.pass(20 * time.Millisecond)
	if got := l.frames(); !equal(got, []int64{r, r + 1, r + 2, r + 3}) {
		t.Fatalf("one datagram with %v", got)
	}
	l.want("and nothing else")
	if l.e.stats.FramesResent != 4 || l.e.stats.FramesRepeated != 0 {
		t.Errorf("%d resent, %d repeated", l.e.stats.FramesResent, l.e.stats.FramesRepeated)
	}
	t.Logf("# lost again, all of them are sent again")
	again := map[int64]bool{}
	for range 2 {
		l.pass(time.Second)
		for _, i := range l.frames() {
			again[i] = true
		}
	}
	if len(again) != 4 {
		t.Errorf("%v", again)
	}
}

func TestRepeatsKeepToTheirShare(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(4096)})
	l.settleRTT(50 * time.Millisecond)
	l.lossy(0.5)
	fresh := 0
	for range 2000 {
		l.send(100)
		l.frames()
		fresh++
		l.pass(time.Millisecond)
		l.lossy(0.5)
	}
	if got, most := int(l.e.stats.FramesRepeated), repeatShare*fresh+repeatBurst/100; got > most || got < fresh {
		t.Errorf("%d repeats of %d messages, at most %d", got, fresh, most)
	}
}

func TestWhatDoesNotRideAgain(t *testing.T) {
	for what, m := range map[string]Message{
		"an unordered one, which some peers deliver twice": {Payload: payload(0, 100), Reliability: protocol.Reliable},
		"an unreliable one":    {Payload: payload(0, 100), Reliability: protocol.Unreliable},
		"a sequenced one":      {Payload: payload(0, 100), Reliability: protocol.ReliableSequenced},
		"a large one":          {Payload: payload(0, 1000), Reliability: protocol.ReliableOrdered},
		"a fragment's message": {Payload: payload(0, 1500), Reliability: protocol.ReliableOrdered},
	} {
		l := newLossTest(t, Config{})
		l.settleRTT(50 * time.Millisecond)
		l.lossy(0.5)
		for range 2 {
			if err := l.e.Send(l.now, &m); err != nil {
				t.Fatal(err)
			}
			for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
				b.Release()
			}
		}
		if l.e.stats.FramesRepeated != 0 {
			t.Errorf("%s rode again", what)
		}
	}
	l := newLossTest(t, Config{NoRepeats: true})
	l.lossy(0.5)
	l.send(100)
	l.frames()
	l.send(100)
	if got := l.frames(); len(got) != 1 {
		t.Errorf("%d frames though repeats are off", len(got))
	}
}

func TestATransferDoesNotRepeat(t *testing.T) {
	l := newLossTest(t, Config{})
	l.settleRTT(50 * time.Millisecond)
	l.lossy(0.1)
	for range 400 {
		l.send(100)
	}
	for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
		b.Release()
	}
	if l.e.stats.FramesRepeated != 0 {
		t.Errorf("%d frames of a transfer rode again", l.e.stats.FramesRepeated)
	}
}

func TestRepeatsFollowTheLoss(t *testing.T) {
	for _, tc := range []struct {
		every, level int
	}{{0, 0}, {100, 1}, {20, 2}, {5, 3}} {
		var r repeater
		for i := range 2000 {
			r.sawVerdict(tc.every > 0 && i%tc.every == tc.every/2)
		}
		if got := r.level(); got != tc.level {
			t.Errorf("one in %d lost: level %d, want %d", tc.every, got, tc.level)
		}
	}
	var r repeater
	r.sawVerdict(true)
	if r.level() != 1 {
		t.Error("the first loss counts")
	}
	if r.sawSpurious(); r.level() != 0 {
		t.Error("a loss that was none does not")
	}
}
