// Package histogram counts times, for the programs that measure.
package histogram

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Histogram counts times in buckets that are a thirty-second of their value wide, so that
// recording costs next to nothing and the parts of several processes can be added. Any
// number of goroutines may record and read. The zero value is empty.
type Histogram struct{ counts [size]atomic.Uint32 }

const (
	perPower = 5              // 32 buckets for each power of two
	size     = 36 << perPower // up to a minute; what is longer counts as that
)

func bucket(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < 1<<perPower {
		return int(v)
	}
	shift := bits.Len64(v) - perPower - 1
	return min((shift+1)<<perPower+int(v>>shift)&(1<<perPower-1), size-1)
}

// middle returns the time in the middle of a bucket.
func middle(b int) time.Duration {
	if b < 1<<perPower {
		return time.Duration(b)
	}
	shift := b>>perPower - 1
	least := uint64(1<<perPower|b&(1<<perPower-1)) << shift
	return time.Duration(least + (uint64(1)<<shift)/2)
}

// Add records a time.
func (h *Histogram) Add(d time.Duration) { h.counts[bucket(d)].Add(1) }

// Counts returns the counts of the buckets up to the last that is not zero.
func (h *Histogram) Counts() []uint32 {
	last := -1
	all := make([]uint32, size)
	for i := range h.counts {
		if all[i] = h.counts[i].Load(); all[i] > 0 {
			last = i
		}
	}
	return all[:last+1]
}

// Take returns what was recorded since the last time.
func (h *Histogram) Take() *Tally {
	t := new(Tally)
	for i := range h.counts {
		t.counts[i] = int64(h.counts[i].Swap(0))
	}
	return t
}

// Tally is counts of a histogram, or the difference or sum of some. The zero value is empty.
type Tally struct{ counts [size]int64 }

// Add adds counts, sign times each. More than a histogram has are ignored.
func (t *Tally) Add(counts []uint32, sign int64) {
	for i, n := range counts[:min(len(counts), size)] {
		t.counts[i] += sign * int64(n)
	}
}

// Count returns how many times were recorded.
func (t *Tally) Count() (n int64) {
	for _, c := range t.counts {
		n += c
	}
	return n
}

// Quantile returns the q-quantile to within a thirty-second, 0 of nothing.
func (t *Tally) Quantile(q float64) time.Duration {
	rank := max(int64(math.Ceil(q*float64(t.Count())-1e-9)), 1)
	for i, n := range t.counts {
		if rank -= n; rank <= 0 {
			return middle(i)
		}
	}
	return 0
}
