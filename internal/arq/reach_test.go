package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
)

func ackOf(ranges ...[2]uint32) []byte {
	a := wire.StartRanges(nil, wire.ACKID, 1400)
	for _, r := range ranges {
		a.Add(r[0], r[1])
	}
	return a.Finish()
}

func TestAPeerThatSaysItsAcksAgainGetsFurtherAhead(t *testing.T) {
	for _, start := range []int64{0, 1<<24 - 40} {
		var r reach
		for n := start; n < start+2+echoProof; n++ {
			if r.inFlight(true) != reliableInFlight {
				t.Fatalf("believed after %d ACKs", n-start)
			}
			lo := max(n-4, start)
			var ranges [][2]uint32
			if lo>>24 == n>>24 {
				ranges = [][2]uint32{{wire24(lo), wire24(n)}}
			} else {
				ranges = [][2]uint32{{wire24(lo), 0xffffff}, {0, wire24(n)}}
			}
			r.learn(ackOf(ranges...), n, n+1, false)
		}
		if r.inFlight(true) != wideInFlight {
			t.Errorf("from %d: not believed", start)
		}
		r.learn(ackOf([2]uint32{5, 5}), start+100, start+101, false)
		if r.inFlight(true) != wideInFlight {
			t.Error("what a peer is does not change")
		}
	}
}

func TestAnOrdinaryPeerStaysWithinTheBound(t *testing.T) {
	var once, twice, some reach
	for n := int64(0); n < 1000; n++ {
		once.learn(ackOf([2]uint32{wire24(n), wire24(n)}), n, n+1, false)
		t1 := max(n-1, 0)
		twice.learn(ackOf([2]uint32{wire24(t1), wire24(n)}), n, n+1, false)
		lo := n
		if n%3 != 0 { // two of three, as on a path that doubles that many
			lo = max(n-2, 0)
		}
		some.learn(ackOf([2]uint32{wire24(lo), wire24(n)}), n, n+1, false)
	}
	for what, r := range map[string]*reach{"each once": &once, "each twice, as on a path that doubles": &twice, "some three times": &some} {
		if r.inFlight(true) != reliableInFlight {
			t.Errorf("%s: believed", what)
		}
	}
}

func TestWhatEverybodyWaitsForIsSentTwice(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(1 << 14)})
	n := l.settleRTT(50 * time.Millisecond)
	r := l.e.nextReliable
	for i := range reliableInFlight {
		l.send(20)
		if b := l.e.Transmit(l.now); b == nil {
			t.Fatalf("message %d does not leave", i)
		} else {
			b.Release()
		}
	}
	l.send(20)
	if b := l.e.Transmit(l.now); b != nil {
		t.Fatal("beyond the bound")
	}
	l.pass(50 * time.Millisecond)
	t.Logf("# the first is lost")
	l.ack(n+1, n+reliableInFlight)
	l.pass(20 * time.Millisecond)
	for _, what := range []string{"again", "and once more, since nothing else can leave"} {
		got := l.frames()
		if len(got) == 0 || got[0] != r {
			t.Fatalf("%s: %v", what, got)
		}
	}
	l.want("and that is enough")
	l.ack(n+reliableInFlight+1, n+reliableInFlight+2)
	if b := l.e.Transmit(l.now); b == nil {
		t.Error("the last one waits still")
	} else {
		b.Release()
	}
}
