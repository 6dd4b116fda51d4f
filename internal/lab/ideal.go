package lab

import (
	"slices"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// idealGame measures a sender of a game flow that no other can beat without more
// datagrams: each carries everything that has not arrived, known by magic, so that a
// message comes with the first datagram that comes at all.
func idealGame(s *Scenario, seed uint64) *Result {
	src := &s.Flows[0].Sources[0]
	p := newPath(seed, 1, s.Up, s.Spread)
	var latencies []time.Duration
	var waiting []monotime.Time
	for at := begin.Add(s.From); at < begin.Add(s.Until); at = at.Add(src.Every) {
		waiting = append(waiting, at)
		arrivals, _, _ := p.send(at, make([]byte, src.Size))
		if len(arrivals) == 0 {
			continue
		}
		for _, sent := range waiting {
			latencies = append(latencies, arrivals[0].At.Sub(sent))
		}
		waiting = waiting[:0]
	}
	slices.Sort(latencies)
	r := newResult()
	r[LatencyP50], r[LatencyP99] = quantile(latencies, 0.5), quantile(latencies, 0.99)
	r[LatencyP999], r[LatencyMax] = quantile(latencies, 0.999), quantile(latencies, 1)
	return r
}
