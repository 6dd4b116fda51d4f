package netsim

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
)

// eventKind says what happens to whom in a World.
type eventKind uint8

const (
	evDatagram  eventKind = iota // buf arrives at address to
	evWake                       // a connection's deadline
	evApp                        // a connection's application has something to do
	evPlan                       // a connection's planned end has come
	evDial                       // a client begins a dial
	evNegotiate                  // a dialling client's deadline
	evFault                      // a fault of a client's path begins or ends: arg
	evResume                     // a paused host goes on
	evStranger                   // the strangers send something
	evSweep                      // everybody is looked at
)

// event is something that is going to happen. Which fields count depends on its kind.
type event struct {
	at       monotime.Time
	order    uint64 // events of one moment happen in the order in which they were planned
	kind     eventKind
	arg      int32
	from, to int32 // addresses of a datagram
	buf      *pool.Buffer
	peer     *peer
	client   *client
	host     *host
}

// eventHeap holds what is going to happen, the next first: a heap of four children each,
// which for pushes and pops in about equal number touches half the memory of one with two.
type eventHeap struct {
	h    []event
	last uint64
}

func (q *eventHeap) len() int { return len(q.h) }

// before reports whether a happens before b.
func before(a, b *event) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

func (q *eventHeap) push(e event) {
	q.last++
	e.order = q.last
	q.h = append(q.h, event{})
	i := len(q.h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !before(&e, &q.h[parent]) {
			break
		}
		q.h[i] = q.h[parent]
		i = parent
	}
	q.h[i] = e
}

// peek returns the next event without taking it, or nil. It is good until the next call.
func (q *eventHeap) peek() *event {
	if len(q.h) == 0 {
		return nil
	}
	return &q.h[0]
}

func (q *eventHeap) pop() event {
	first := q.h[0]
	n := len(q.h) - 1
	e := q.h[n]
	q.h[n] = event{}
	q.h = q.h[:n]
	if n == 0 {
		return first
	}
	i := 0
	for {
		least := 4*i + 1
		if least >= n {
			break
		}
		for child := least + 1; child < min(4*i+5, n); child++ {
			if before(&q.h[child], &q.h[least]) {
				least = child
			}
		}
		if !before(&q.h[least], &e) {
			break
		}
		q.h[i] = q.h[least]
		i = least
	}
	q.h[i] = e
	return first
}
