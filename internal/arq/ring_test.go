package arq

import (
	"math/rand/v2"
	"testing"
)

func TestRingNumbersWhatItHolds(t *testing.T) {
	eachSeed(t, 20, func(t *testing.T, rnd *rand.Rand) {
		first := starts[rnd.IntN(len(starts))]
		var r ring[int64]
		const limit = 300
		r.init(first, limit)
		lo, hi := first, first
		for range 5000 {
			if rnd.IntN(100) < 52 {
				p := r.push()
				if (p == nil) != (hi-lo == limit) {
					t.Fatalf("push with %d held gave %v", hi-lo, p)
				}
				if p != nil {
					if *p != 0 {
						t.Fatalf("a new place holds %d", *p)
					}
					*p = hi
					hi++
				}
			} else {
				r.pop()
				lo = min(lo+1, hi)
			}
			if r.lo != lo || r.hi != hi || r.len() != int(hi-lo) {
				t.Fatalf("[%d,%d), want [%d,%d)", r.lo, r.hi, lo, hi)
			}
			for n := lo - 2; n < hi+2; n++ {
				p := r.at(n)
				if inside := n >= lo && n < hi; (p != nil) != inside || inside && *p != n {
					t.Fatalf("at(%d) in [%d,%d) is %v", n, lo, hi, p)
				}
			}
		}
	})
}

func TestRingGivesBackTheMemoryOfABurstLater(t *testing.T) {
	var r ring[int]
	r.init(0, 1<<20)
	fill := func(n int) {
		for range n {
			r.push()
		}
		for range n {
			r.pop()
		}
	}
	fill(1000)
	for range 10 {
		fill(300) // waves of the same order keep it
	}
	if len(r.buf) != 1024 {
		t.Fatalf("%d places after the waves", len(r.buf))
	}
	for range slackRounds {
		fill(10)
	}
	if len(r.buf) > ringMin {
		t.Fatalf("%d places after the calm", len(r.buf))
	}
	fill(10)
	if allocs := testing.AllocsPerRun(1000, func() { fill(10) }); allocs > 0 {
		t.Errorf("%v allocations in steady state", allocs)
	}
}

func BenchmarkRingPushPop(b *testing.B) {
	var r ring[[4]int64]
	r.init(0, 1024)
	for range 100 {
		r.push()
	}
	for b.Loop() {
		r.push()[0] = r.hi
		r.pop()
	}
}
