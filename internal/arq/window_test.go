package arq

import (
	"math/rand/v2"
	"testing"
)

func TestDatagramNumbersAreNewOnce(t *testing.T) {
	for _, first := range starts {
		var w arrivals
		w.init(first)
		for _, c := range []struct {
			n    int64
			want arrival
			next int64
		}{
			{0, arrivalNew, 1},
			{0, arrivalDuplicate, 1},
			{2, arrivalNew, 3},
			{1, arrivalNew, 3}, // late, and as good as any
			{1, arrivalDuplicate, 3},
			{-1, arrivalDuplicate, 3}, // before the start: never new
			{-4000, arrivalDuplicate, 3},
			{-4095, arrivalTooOld, 3},
			{3 + arrivalSkip + 1, arrivalTooFar, 3},
			{3 + 100, arrivalNew, 104},
			{104 + arrivalSkip, arrivalNew, 105 + arrivalSkip}, // as far as the original goes
			{104, arrivalTooOld, 105 + arrivalSkip},
			{105 + arrivalSkip - arrivalWindow, arrivalNew, 105 + arrivalSkip}, // the lowest remembered
			{105 + arrivalSkip - arrivalWindow - 1, arrivalTooOld, 105 + arrivalSkip},
		} {
			if got := w.probe(first + c.n); got != c.want {
				t.Fatalf("probe(%d+%d) = %d, want %d", first, c.n, got, c.want)
			}
			if got := w.accept(first + c.n); got != c.want || w.next != first+c.next {
				t.Fatalf("accept(%d+%d) = %d with next %d, want %d with %d", first, c.n, got, w.next-first, c.want, c.next)
			}
		}
	}
}

func TestArrivalsAgreeWithAMap(t *testing.T) {
	eachSeed(t, 40, func(t *testing.T, rnd *rand.Rand) {
		first := starts[rnd.IntN(len(starts))]
		var w arrivals
		w.init(first)
		next, seen := first, map[int64]bool{}
		for step := range 20_000 {
			d := rnd.Int64N(3)
			switch rnd.IntN(40) {
			case 0, 1, 2, 3, 4, 5, 6, 7:
				d = -rnd.Int64N(5000)
			case 8, 9:
				d = rnd.Int64N(200)
			case 10:
				d = rnd.Int64N(6000)
			case 11:
				d = arrivalSkip - 2 + rnd.Int64N(5)
			}
			// As from the wire.
			n := expand24(wire24(next+d), w.next)
			want := arrivalNew
			switch {
			case n > next+arrivalSkip:
				want = arrivalTooFar
			case n < next-arrivalWindow:
				want = arrivalTooOld
			case seen[n] || n < first:
				want = arrivalDuplicate
			}
			if got := w.probe(n); got != want {
				t.Fatalf("step %d: probe(%d) with next %d is %d, want %d", step, n, next, got, want)
			}
			if got := w.accept(n); got != want {
				t.Fatalf("step %d: accept(%d) with next %d is %d, want %d", step, n, next, got, want)
			}
			if want == arrivalNew {
				seen[n] = true
				next = max(next, n+1)
			}
			if w.next != next {
				t.Fatalf("step %d: next %d, want %d", step, w.next, next)
			}
		}
	})
}

func TestArrivalsAtRestForgetOnlyWhatWasMissing(t *testing.T) {
	var w arrivals
	w.init(0)
	for n := range int64(100) {
		w.accept(n)
	}
	w.rest()
	if got := w.probe(50); got != arrivalDuplicate || w.seen != nil {
		t.Errorf("in order: %d, a bitmap of %d words", got, len(w.seen))
	}
	w.accept(101)
	w.rest()
	for n, want := range map[int64]arrival{50: arrivalTooOld, 100: arrivalTooOld, 101: arrivalTooOld, 102: arrivalNew} {
		if got := w.probe(n); got != want {
			t.Errorf("after a gap: probe(%d) = %d, want %d", n, got, want)
		}
	}
	w.accept(102)
	if got := w.probe(102); got != arrivalDuplicate || w.seen != nil {
		t.Errorf("from then on: %d, a bitmap of %d words", got, len(w.seen))
	}
	w.accept(200)
	w.accept(103)
	for n, want := range map[int64]arrival{101: arrivalTooOld, 103: arrivalDuplicate, 104: arrivalNew, 199: arrivalNew, 200: arrivalDuplicate} {
		if got := w.probe(n); got != want {
			t.Errorf("in a new gap: probe(%d) = %d, want %d", n, got, want)
		}
	}
}

func BenchmarkArrivalsInOrder(b *testing.B) {
	var w arrivals
	w.init(0)
	for b.Loop() {
		w.accept(w.next)
	}
}
