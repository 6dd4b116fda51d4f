package relay

import (
	"math/rand/v2"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/netsim"
)

// headers is what IPv4 and UDP put in front of each datagram.
const headers = 28

// ethernet is the MTU of most paths.
const ethernet = 1500

// Way describes what a relay does to one direction.
type Way struct {
	netsim.Link
	// Spread is how much longer than Link.ReorderBy an overtaken datagram is held back at
	// most, evenly spread.
	Spread time.Duration
	// Every lets datagrams in at multiples of it only, as if their sender had a slow tick.
	// Zero: at any time.
	Every time.Duration
}

// Line is one direction: what becomes of each datagram, and what is under way. It knows no
// clock and no socket, and the same datagrams at the same times have the same fates.
type Line struct {
	way   Way
	pipe  *netsim.Pipe
	rng   *rand.Rand
	last  monotime.Time
	order uint64
	queue []item // in the order of arrival, from head on
	head  int
	late  []item // what others overtake: a heap
	room  *room
	spare []netsim.Arrival
	count LineCount
	waits *Histogram
}

// LineCount counts what came to a Line.
type LineCount struct {
	netsim.PipeCount
	Bytes uint64 // of all datagrams put in, with 28 bytes of headers each
}

// item is a datagram under way. Peer is who it is from, or for.
type item struct {
	at    monotime.Time
	order uint64 // datagrams of one moment arrive in the order in which they were sent
	peer  *peer
	data  []byte
}

// newLine returns an empty line whose chances follow from the seeds.
func newLine(seed1, seed2 uint64, w Way, waits *Histogram, r *room) *Line {
	return &Line{way: w, pipe: netsim.NewPipe(seed1, seed2, w.Link), rng: rand.New(rand.NewPCG(seed1, seed2|1<<32)), waits: waits, room: r}
}

// push puts a datagram in at now, or when the last one was, if that was later. data is
// copied.
func (l *Line) push(now monotime.Time, p *peer, data []byte) {
	now = max(now, l.last)
	l.last = now
	if e := monotime.Time(l.way.Every); e > 0 {
		now = (now + e - 1) / e * e
	}
	if l.way.Spread > 0 {
		link := l.way.Link
		link.ReorderBy += time.Duration(l.rng.Int64N(int64(l.way.Spread)))
		l.pipe.SetLink(link)
	}
	if l.waits != nil && l.way.Bandwidth > 0 {
		l.waits.Add(l.pipe.Backlog(now))
	}
	l.count.Bytes += uint64(len(data) + headers)
	overtaken := l.pipe.Count.Reordered
	l.spare = l.pipe.Send(now, data, l.spare[:0])
	for _, a := range l.spare {
		l.order++
		it := item{at: a.At, order: l.order, peer: p, data: append(l.room.take(), a.Data...)}
		if l.pipe.Count.Reordered != overtaken {
			l.hold(it)
		} else {
			l.queue = append(l.queue, it)
		}
	}
}

// next returns when the next datagram arrives, Never if none is under way.
func (l *Line) next() monotime.Time {
	if it := l.first(); it != nil {
		return it.at
	}
	return monotime.Never
}

// pop returns the next datagram that has arrived by now. Its data goes back to the room
// when it was sent on.
func (l *Line) pop(now monotime.Time) (it item, ok bool) {
	f := l.first()
	if f == nil || f.at > now {
		return it, false
	}
	it = *f
	if l.head < len(l.queue) && f == &l.queue[l.head] {
		*f = item{}
		l.head++
		if l.head == len(l.queue) {
			l.queue, l.head = l.queue[:0], 0
		} else if l.head >= 1024 && l.head*2 >= len(l.queue) {
			n := copy(l.queue, l.queue[l.head:])
			clear(l.queue[n:])
			l.queue, l.head = l.queue[:n], 0
		}
	} else {
		l.unhold()
	}
	return it, true
}

func (a *item) before(b *item) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

func (l *Line) first() *item {
	var f *item
	if l.head < len(l.queue) {
		f = &l.queue[l.head]
	}
	if len(l.late) > 0 && (f == nil || l.late[0].before(f)) {
		f = &l.late[0]
	}
	return f
}

func (l *Line) hold(it item) {
	l.late = append(l.late, it)
	for i := len(l.late) - 1; i > 0; {
		parent := (i - 1) / 2
		if !l.late[i].before(&l.late[parent]) {
			break
		}
		l.late[i], l.late[parent] = l.late[parent], l.late[i]
		i = parent
	}
}

func (l *Line) unhold() {
	n := len(l.late) - 1
	l.late[0] = l.late[n]
	l.late[n] = item{}
	l.late = l.late[:n]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < n; child++ {
			if l.late[child].before(&l.late[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		l.late[i], l.late[least] = l.late[least], l.late[i]
		i = least
	}
}

// total returns the counters.
func (l *Line) total() LineCount {
	c := l.count
	c.PipeCount = l.pipe.Count
	return c
}

// add sums up.
func (c *LineCount) add(o LineCount) {
	c.Bytes += o.Bytes
	c.Sent += o.Sent
	c.Delivered += o.Delivered
	c.Lost += o.Lost
	c.TooLarge += o.TooLarge
	c.QueueFull += o.QueueFull
	c.Duplicated += o.Duplicated
	c.Reordered += o.Reordered
	c.Damaged += o.Damaged
}

// room is memory for datagrams. They are as large as an Ethernet frame; a larger one gets
// memory of its own when it is appended.
type room struct{ free [][]byte }

const (
	slotSize = 1536
	slabSize = 256 // slots that are made at once
)

func (r *room) take() []byte {
	if len(r.free) == 0 {
		slab := make([]byte, slabSize*slotSize)
		for i := range slabSize {
			r.free = append(r.free, slab[i*slotSize:i*slotSize:(i+1)*slotSize])
		}
	}
	n := len(r.free) - 1
	b := r.free[n]
	r.free = r.free[:n]
	return b
}

func (r *room) give(b []byte) { r.free = append(r.free, b[:0]) }
