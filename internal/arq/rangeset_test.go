package arq

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRangeSetMergesAndSplits(t *testing.T) {
	var s rangeSet
	s.init(10)
	for _, step := range []struct {
		add    bool
		lo, hi int64
		want   string
	}{
		{true, 5, 6, "[{5 6}]"},
		{true, 6, 7, "[{5 7}]"}, // the usual case: the next number
		{true, 9, 10, "[{5 7} {9 10}]"},
		{true, 3, 4, "[{3 4} {5 7} {9 10}]"},
		{true, 4, 5, "[{3 7} {9 10}]"},    // fills a hole
		{true, 4, 6, "[{3 7} {9 10}]"},    // nothing new
		{true, 1, 20, "[{1 20}]"},         // swallows all
		{false, 1, 3, "[{3 20}]"},         // a bite from the left
		{false, 18, 30, "[{3 18}]"},       // and from the right
		{false, 8, 10, "[{3 8} {10 18}]"}, // and from the middle
		{false, 8, 10, "[{3 8} {10 18}]"},
		{false, 5, 12, "[{3 5} {12 18}]"},
		{false, 7, 7, "[{3 5} {12 18}]"}, // an empty range is nothing
		{true, 7, 6, "[{3 5} {12 18}]"},
		{false, 0, 100, "[]"},
	} {
		if step.add {
			s.add(step.lo, step.hi)
		} else {
			s.remove(step.lo, step.hi)
		}
		if got := fmt.Sprint(s.spans); got != step.want {
			t.Fatalf("add %v [%d,%d): %s, want %s", step.add, step.lo, step.hi, got, step.want)
		}
	}
}

func TestAFullRangeSetDropsItsLowestSpan(t *testing.T) {
	var s rangeSet
	s.init(3)
	for n := int64(0); n < 10; n += 2 {
		s.add(n, n+1)
	}
	if got := fmt.Sprint(s.spans); got != "[{4 5} {6 7} {8 9}]" {
		t.Fatal(got)
	}
	s.add(0, 1) // lower than everything there is: it is the one to go
	if got := fmt.Sprint(s.spans); got != "[{4 5} {6 7} {8 9}]" {
		t.Fatal(got)
	}
	s.add(5, 6) // merging needs no room
	s.add(10, 20)
	s.remove(12, 14) // splitting does
	if got := fmt.Sprint(s.spans); got != "[{8 9} {10 12} {14 20}]" {
		t.Fatal(got)
	}
}

func TestRangeSetAgreesWithAMap(t *testing.T) {
	eachSeed(t, 30, func(t *testing.T, rnd *rand.Rand) {
		var s rangeSet
		s.init(1000)
		model := map[int64]bool{}
		base := starts[rnd.IntN(len(starts))]
		for step := range 2000 {
			lo := base + rnd.Int64N(200)
			hi := lo + rnd.Int64N(1+rnd.Int64N(20))
			in := rnd.IntN(3) > 0
			if in {
				s.add(lo, hi)
			} else {
				s.remove(lo, hi)
			}
			for n := lo; n < hi; n++ {
				model[n] = in
			}
			for n := base - 1; n < base+222; n++ {
				if s.contains(n) != model[n] {
					t.Fatalf("step %d: contains(%d) = %v after [%d,%d): %v", step, n, s.contains(n), lo, hi, s.spans)
				}
			}
			for i, r := range s.spans {
				if r.lo >= r.hi || i > 0 && s.spans[i-1].hi >= r.lo {
					t.Fatalf("step %d: not sorted, disjoint and apart: %v", step, s.spans)
				}
			}
		}
	})
}

func TestABoundedRangeSetIsTheTopOfAnUnboundedOne(t *testing.T) {
	eachSeed(t, 10, func(t *testing.T, rnd *rand.Rand) {
		var bounded, all rangeSet
		bounded.init(8)
		all.init(1 << 20)
		n := int64(0)
		for range 500 {
			n += 1 + rnd.Int64N(3)
			bounded.add(n, n+1)
			all.add(n, n+1)
			if want := all.spans[max(0, all.len()-8):]; !slices.Equal(bounded.spans, want) {
				t.Fatalf("%v, want %v", bounded.spans, want)
			}
		}
	})
}

func TestRangeSetReusesItsMemory(t *testing.T) {
	var s rangeSet
	s.init(64)
	n := int64(0)
	allocs := testing.AllocsPerRun(100, func() {
		for range 100 {
			n += 2
			s.add(n, n+1)
		}
		s.removeFirst(s.len() / 2)
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkRangeSetAddNext(b *testing.B) {
	var s rangeSet
	s.init(256)
	n := int64(0)
	for b.Loop() {
		s.add(n, n+1)
		n++
	}
}
