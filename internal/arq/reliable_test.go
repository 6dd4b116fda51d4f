package arq

import (
	"math/rand/v2"
	"testing"
)

func TestReliableIndexesAreNewOnce(t *testing.T) {
	for _, first := range starts {
		var w reliableWindow
		w.init(first)
		for _, c := range []struct {
			n    int64
			want reliableVerdict
			base int64
		}{
			{0, reliableNew, 1},
			{0, reliableDuplicate, 1},
			{-1, reliableDuplicate, 1},
			{2, reliableNew, 1},
			{2, reliableDuplicate, 1},
			{1, reliableNew, 3}, // fills the hole
			{3 + reliableWindowSize - 1, reliableNew, 3},
			{3 + reliableWindowSize, reliableTooFar, 3},
			{3, reliableNew, 4},
			{3 + reliableWindowSize, reliableNew, 4},
			{-1 << 23, reliableDuplicate, 4},
		} {
			if got := w.probe(first + c.n); got != c.want {
				t.Fatalf("probe(%d+%d) = %d, want %d", first, c.n, got, c.want)
			}
			if got := w.insert(first + c.n); got != c.want || w.base != first+c.base {
				t.Fatalf("insert(%d+%d) = %d with base %d, want %d with %d", first, c.n, got, w.base-first, c.want, c.base)
			}
		}
	}
}

func TestReliableWindowAgreesWithAMap(t *testing.T) {
	eachSeed(t, 60, func(t *testing.T, rnd *rand.Rand) {
		first := starts[rnd.IntN(len(starts))]
		reach := []int64{3, 70, 1000, 5000, reliableWindowSize + 10}[rnd.IntN(5)]
		var w reliableWindow
		w.init(first)
		base, seen := first, map[int64]bool{}
		for step := range 20_000 {
			var n int64
			switch k := rnd.IntN(100); {
			case k < 60:
				n = base
			case k < 70:
				n = base - rnd.Int64N(1000)
			default:
				n = base + rnd.Int64N(reach)
			}
			n = expand24(wire24(n), w.base) // as from the wire
			want := reliableNew
			switch {
			case n < base || seen[n]:
				want = reliableDuplicate
			case n >= base+reliableWindowSize:
				want = reliableTooFar
			}
			if got := w.probe(n); got != want {
				t.Fatalf("step %d: probe(%d) with base %d is %d, want %d", step, n, base, got, want)
			}
			if got := w.insert(n); got != want {
				t.Fatalf("step %d: insert(%d) with base %d is %d, want %d", step, n, base, got, want)
			}
			if want == reliableNew {
				seen[n] = true
			}
			for seen[base] {
				delete(seen, base)
				base++
			}
			if w.base != base || w.ahead() != len(seen) {
				t.Fatalf("step %d: base %d with %d ahead, want %d with %d", step, w.base, w.ahead(), base, len(seen))
			}
		}
		if w.above != nil && len(w.above.bits)*64 > reliableWindowSize {
			t.Fatalf("the bitmap grew to %d words", len(w.above.bits))
		}
	})
}

func TestReliableWindowTakesAWholeWindowBackwards(t *testing.T) {
	var w reliableWindow
	w.init(7)
	for n := int64(7 + reliableWindowSize - 1); n > 7; n-- {
		if w.insert(n) != reliableNew {
			t.Fatal(n)
		}
	}
	if w.insert(7) != reliableNew || w.base != 7+reliableWindowSize || w.ahead() != 0 {
		t.Fatalf("base %d, %d ahead", w.base, w.ahead())
	}
	for i, word := range w.above.bits {
		if word != 0 {
			t.Fatalf("word %d is %#x", i, word)
		}
	}
}

func TestReliableWindowInOrderTakesNoMemory(t *testing.T) {
	var w reliableWindow
	allocs := testing.AllocsPerRun(1000, func() { w.insert(w.base) })
	if allocs > 0 || w.above != nil {
		t.Errorf("%v allocations, %v", allocs, w.above)
	}
}

func BenchmarkReliableInOrder(b *testing.B) {
	var w reliableWindow
	for b.Loop() {
		w.insert(w.base)
	}
}

// One in 100 frames is lost and comes 200 frames later.
func BenchmarkReliableLossy(b *testing.B) {
	var w reliableWindow
	n := int64(0)
	for b.Loop() {
		if n%100 != 0 {
			w.insert(n)
		}
		if late := n - 200; late%100 == 0 {
			w.insert(late)
		}
		n++
	}
}
