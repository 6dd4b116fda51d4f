package lab

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Metric is something that is measured in a run.
type Metric uint8

// The metrics. Times are in milliseconds, shares in percent.
const (
	LatencyP50   Metric = iota // one way, from Send to delivery, of the game flow's messages
	LatencyP99                 // the same; a message that never came counts as infinite
	LatencyP999                // the same
	LatencyMax                 // the same
	Goodput                    // delivered payload of bulk flows, Mbit/s
	Share                      // Goodput, of the most payload that the link can carry in messages of this size
	QueueP50                   // how long the datagrams waited before the link
	QueueP95                   // the same
	Resent                     // datagrams with nothing new in them, of all datagrams with reliable frames
	Needless                   // Resent, but only those whose frames were not all lost before
	Dropped                    // datagrams dropped at the full queue, of all sent
	BytesRatio                 // bytes sent, times those of the baseline
	GoodputRatio               // Goodput, of the baseline's
	Jain                       // Jain's index of fairness of the flows' goodputs
	TCPShare                   // the share of the link that the TCP model gets
	Flowing                    // from the end of the blackout to the first message delivered
	Refilled                   // from the end of the blackout until 90 % of the goodput before it is back
	numMetrics
)

// metricInfo says how a metric is written.
var metricInfo = [numMetrics]struct {
	name, unit string
	decimals   int
}{
	LatencyP50: {"p50", "ms", 1}, LatencyP99: {"p99", "ms", 1}, LatencyP999: {"p99.9", "ms", 1}, LatencyMax: {"max", "ms", 1},
	Goodput: {"goodput", "Mbit/s", 2}, Share: {"of link", "%", 1},
	QueueP50: {"queue p50", "ms", 1}, QueueP95: {"queue p95", "ms", 1},
	Resent: {"resent", "%", 2}, Needless: {"needless", "%", 2}, Dropped: {"dropped", "%", 2},
	BytesRatio: {"bytes", "x", 2}, GoodputRatio: {"of in-order", "%", 1},
	Jain: {"Jain", "", 3}, TCPShare: {"TCP", "%", 1},
	Flowing: {"flowing", "ms", 1}, Refilled: {"refilled", "ms", 0},
}

// String names the metric.
func (m Metric) String() string { return metricInfo[m].name }

// Unit returns the unit, "" if it has none.
func (m Metric) Unit() string { return metricInfo[m].unit }

// Format writes a value of the metric, "-" if it was not measured.
func (m Metric) Format(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 0):
		return "never"
	}
	s := strconv.FormatFloat(v, 'f', metricInfo[m].decimals, 64)
	if f, _ := strconv.ParseFloat(s, 64); f == 0 {
		s = strconv.FormatFloat(0, 'f', metricInfo[m].decimals, 64) // no minus
	}
	return s
}

// Result is what one run measured, by Metric; NaN where there was nothing to measure.
type Result [numMetrics]float64

func newResult() *Result {
	var r Result
	for i := range r {
		r[i] = math.NaN()
	}
	return &r
}

// Median returns, for each metric, the median over the runs; of an even number of runs
// the worse of the two in the middle is not known, so it is the mean of both.
func Median(runs []*Result) *Result {
	m := newResult()
	values := make([]float64, 0, len(runs))
	for i := range m {
		values = values[:0]
		for _, r := range runs {
			if !math.IsNaN(r[i]) {
				values = append(values, r[i])
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		half := len(values) / 2
		m[i] = values[half]
		if len(values)%2 == 0 && values[half] != values[half-1] {
			m[i] = (values[half] + values[half-1]) / 2
		}
	}
	return m
}

// quantile returns the q-quantile of sorted values by the nearest rank, NaN of none.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	rank := int(math.Ceil(q*float64(len(sorted))-1e-9)) - 1
	d := sorted[min(max(rank, 0), len(sorted)-1)]
	if d == never {
		return math.Inf(1)
	}
	return millis(d)
}

// never is the latency of a message that did not come.
const never time.Duration = math.MaxInt64

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// jain returns Jain's index of fairness: 1 when all get the same, 1/n when one gets all.
func jain(values []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return math.NaN()
	}
	return sum * sum / (float64(len(values)) * squares)
}
