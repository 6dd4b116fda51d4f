package main

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// histogram counts times in buckets that are a thirty-second of their value wide, so that
// recording costs next to nothing and the parts of several processes can be added. One
// goroutine records, or several; any may read.
type histogram struct{ counts [histogramSize]atomic.Uint32 }

const (
	histogramBits = 5
	histogramSize = 36 << histogramBits // up to a minute
)

func bucket(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < 1<<histogramBits {
		return int(v)
	}
	shift := bits.Len64(v) - histogramBits - 1
	return min((shift+1)<<histogramBits+int(v>>shift)&(1<<histogramBits-1), histogramSize-1)
}

// middle returns the time in the middle of a bucket.
func middle(b int) time.Duration {
	if b < 1<<histogramBits {
		return time.Duration(b)
	}
	shift := b>>histogramBits - 1
	least := uint64(1<<histogramBits|b&(1<<histogramBits-1)) << shift
	return time.Duration(least + (uint64(1)<<shift)/2)
}

func (h *histogram) add(d time.Duration) { h.counts[bucket(d)].Add(1) }

// list returns the counts up to the last that is not zero.
func (h *histogram) list() []uint32 {
	last := -1
	all := make([]uint32, histogramSize)
	for i := range h.counts {
		if all[i] = h.counts[i].Load(); all[i] > 0 {
			last = i
		}
	}
	return all[:last+1]
}

// tally is counts of a histogram, or the difference or sum of some.
type tally [histogramSize]int64

func (t *tally) add(counts []uint32, sign int64) {
	for i, n := range counts {
		t[i] += sign * int64(n)
	}
}

// quantile returns the q-quantile in microseconds, NaN of nothing.
func (t *tally) quantile(q float64) float64 {
	sum := int64(0)
	for _, n := range t {
		sum += n
	}
	if sum <= 0 {
		return math.NaN()
	}
	rank := max(int64(math.Ceil(q*float64(sum)-1e-9)), 1)
	for i, n := range t {
		if rank -= n; rank <= 0 {
			return float64(middle(i)) / float64(time.Microsecond)
		}
	}
	return math.NaN()
}

func (v Values) latencies(t *tally) {
	for metric, q := range map[string]float64{mP50: 0.5, mP99: 0.99, mP999: 0.999, mMax: 1} {
		if x := t.quantile(q); !math.IsNaN(x) {
			v[metric] = x
		}
	}
}
