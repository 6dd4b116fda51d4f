package relay

import "time"

// Histogram counts durations in bins of 10 µs, up to two seconds; what is longer counts
// as that.
type Histogram struct {
	bins []uint32
	n    uint64
	max  time.Duration
}

const (
	binWidth = 10 * time.Microsecond
	binCount = int(2 * time.Second / binWidth)
)

// Add counts d.
func (h *Histogram) Add(d time.Duration) {
	if h.bins == nil {
		h.bins = make([]uint32, binCount)
	}
	h.bins[min(max(int(d/binWidth), 0), binCount-1)]++
	h.n++
	h.max = max(h.max, d)
}

// Quantile returns the q-quantile by the nearest rank, to the bin. Zero of nothing.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank, seen := uint64(q*float64(h.n)), uint64(0)
	for i, c := range h.bins {
		if seen += uint64(c); seen > rank || seen == h.n {
			return min(time.Duration(i)*binWidth+binWidth/2, h.max)
		}
	}
	return 0
}

// Max returns the longest.
func (h *Histogram) Max() time.Duration { return h.max }
