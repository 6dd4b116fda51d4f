package arq

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAGapIsReportedOnceAndLateArrivalsAreNot(t *testing.T) {
	for _, first := range starts {
		var q nackQueue
		if q.pending() || q.append(nil, 1464) != nil {
			t.Fatal("a new queue reports something")
		}
		q.gap(first, first+5)
		q.arrived(first + 2)
		q.arrived(first + 9) // not missing
		q.gap(first+7, first+8)
		var got []int64
		for q.pending() {
			got = append(got, named(t, q.append(nil, 1464), 0xa0, 1464, first)...)
		}
		slices.Sort(got)
		if want := []int64{first, first + 1, first + 3, first + 4, first + 7}; !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if q.append(nil, 1464) != nil {
			t.Fatal("reported twice")
		}
	}
}

func TestALongGapIsReportedFromItsNearEnd(t *testing.T) {
	var q nackQueue
	q.gap(0, 5000)
	ns := named(t, q.append(nil, 1464), 0xa0, 1464, 5000)
	if len(ns) != nackGap || ns[0] != 4000 || ns[nackGap-1] != 4999 {
		t.Fatalf("%d numbers from %d", len(ns), ns[0])
	}
}

func TestWhatIsMissingIsWhatIsReported(t *testing.T) {
	eachSeed(t, 20, func(t *testing.T, rnd *rand.Rand) {
		next := starts[rnd.IntN(len(starts))]
		var w arrivals
		var q nackQueue
		w.init(next)
		reported, late := map[int64]bool{}, []int64{}
		for range 3000 {
			n := w.next
			switch k := rnd.IntN(10); {
			case k == 0:
				n += rnd.Int64N(30)
			case k == 1 && len(late) > 0:
				i := rnd.IntN(len(late))
				n = late[i]
				late = slices.Delete(late, i, i+1)
			}
			for m := w.next; m < n; m++ {
				late = append(late, m)
			}
			before := w.next
			switch w.accept(n) {
			case arrivalNew:
			case arrivalTooOld: // came back after 4096 others
				continue
			default:
				t.Fatal(n)
			}
			if n < before {
				q.arrived(n)
			} else {
				q.gap(before, n)
			}
			if rnd.IntN(5) > 0 {
				continue
			}
			var got []int64
			for maxSize := 17 + rnd.IntN(1448); q.pending(); {
				got = append(got, named(t, q.append(nil, maxSize), 0xa0, maxSize, w.next)...)
			}
			for _, m := range got {
				if reported[m] || !slices.Contains(late, m) {
					t.Fatalf("%d reported again, or though it came", m)
				}
				reported[m] = true
			}
			for _, m := range late {
				if !reported[m] {
					t.Fatalf("%d is missing and was not reported", m)
				}
			}
		}
	})
}

func BenchmarkNackArrivedNoneMissing(b *testing.B) {
	var q nackQueue
	n := int64(0)
	for b.Loop() {
		q.arrived(n)
		n++
	}
}
