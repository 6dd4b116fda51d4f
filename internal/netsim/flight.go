package netsim

import (
	"container/heap"

	"github.com/raknet-go/raknet/internal/monotime"
)

// packet is a datagram that is under way or waits for its reader.
type packet struct {
	route
	name Name // of the sender, if it has one
	data []byte
}

// flight holds the datagrams under way, the next to arrive first, and among those that
// arrive at the same moment the one that was sent first.
type flight struct {
	h    flightHeap
	sent uint64
}

type flying struct {
	at    monotime.Time
	order uint64
	packet
}

func (f *flight) len() int { return len(f.h) }

func (f *flight) push(at monotime.Time, p packet) {
	f.sent++
	heap.Push(&f.h, flying{at, f.sent, p})
}

// next returns when the next datagram arrives, monotime.Never if there is none.
func (f *flight) next() monotime.Time {
	if len(f.h) == 0 {
		return monotime.Never
	}
	return f.h[0].at
}

func (f *flight) pop() packet { return heap.Pop(&f.h).(flying).packet }

type flightHeap []flying

func (h flightHeap) Len() int      { return len(h) }
func (h flightHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h flightHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].order < h[j].order
}
func (h *flightHeap) Push(x any) { *h = append(*h, x.(flying)) }
func (h *flightHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = flying{}
	*h = (*h)[:last]
	return x
}
