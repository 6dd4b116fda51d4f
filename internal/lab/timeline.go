package lab

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
)

// actor is who an event happens to.
type actor interface{ happen(e *event) }

// event is something that is going to happen. What n means is the actor's matter.
type event struct {
	at    monotime.Time
	order uint64 // events of one moment happen in the order in which they were planned
	to    actor
	kind  eventKind
	n     int64
	buf   *pool.Buffer
}

type eventKind uint8

const (
	evDatagram eventKind = iota
	evWake
	evStart
	evSource
	evSegment
	evAck
	evSample
)

// timeline holds what is going to happen, the next first: a heap with four children each.
type timeline struct {
	h    []event
	last uint64
}

func (a *event) before(b *event) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

func (t *timeline) push(e event) {
	t.last++
	e.order = t.last
	t.h = append(t.h, event{})
	i := len(t.h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&t.h[parent]) {
			break
		}
		t.h[i] = t.h[parent]
		i = parent
	}
	t.h[i] = e
}

// next returns when the next event happens, Never if there is none.
func (t *timeline) next() monotime.Time {
	if len(t.h) == 0 {
		return monotime.Never
	}
	return t.h[0].at
}

func (t *timeline) pop() event {
	first := t.h[0]
	n := len(t.h) - 1
	e := t.h[n]
	t.h[n] = event{}
	t.h = t.h[:n]
	for i := 0; n > 0; {
		least := 4*i + 1
		for child := least + 1; child < min(4*i+5, n); child++ {
			if t.h[child].before(&t.h[least]) {
				least = child
			}
		}
		if least >= n || !t.h[least].before(&e) {
			t.h[i] = e
			break
		}
		t.h[i] = t.h[least]
		i = least
	}
	return first
}
