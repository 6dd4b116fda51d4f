package main

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// histogram counts times in buckets that are a thirty-second of their value wide. Any
// number of goroutines may record and read.
type histogram [histogramSize]atomic.Uint32

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

func (h *histogram) add(d time.Duration) { h[bucket(d)].Add(1) }

// take returns what was recorded since the last time.
func (h *histogram) take() tally {
	var t tally
	for i := range h {
		t[i] = h[i].Swap(0)
	}
	return t
}

// tally is what a histogram held.
type tally [histogramSize]uint32

func (t *tally) count() (n uint64) {
	for _, c := range t {
		n += uint64(c)
	}
	return n
}

// quantile returns the q-quantile, 0 of nothing.
func (t *tally) quantile(q float64) time.Duration {
	rank := max(int64(math.Ceil(q*float64(t.count()))), 1)
	for i, c := range t {
		if rank -= int64(c); rank <= 0 {
			return middle(i)
		}
	}
	return 0
}
