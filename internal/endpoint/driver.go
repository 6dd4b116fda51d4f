package endpoint

import (
	"sync"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// driver runs what is due on the endpoint's connections: acknowledgements held back
// for a moment, resends, pings, timeouts. One heap, one timer, one goroutine, for any
// number of connections, so that what falls due together leaves together and an idle
// connection wakes nobody between its pings.
type driver struct {
	clock *monotime.Clock
	wake  chan struct{} // one slot: the send queue was left to the driver
	many  func() bool   // whether the socket has manyConns

	mu    sync.Mutex // leaf
	heap  []due      // the earliest first, four children each
	timer *time.Timer
	at    monotime.Time // when the timer fires; Never: it does not
	sweep monotime.Time // when the table is to forget who has died or left; Never: nobody has
}

// due says when a connection is to be served. The moment is here and not in the connection, since sorting thousands
// would wait for the memory of each.
type due struct {
	at monotime.Time
	c  *Conn
}

// init makes the driver; run must follow.
func (d *driver) init(clock *monotime.Clock, many func() bool) {
	d.clock, d.many = clock, many
	d.wake = make(chan struct{}, 1)
	d.timer = time.NewTimer(time.Hour)
	d.timer.Stop()
	d.at, d.sweep = monotime.Never, monotime.Never
}

// kick makes the driver flush the send queue.
func (d *driver) kick() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// arm makes sure that c is served at the given moment or before. It only ever pulls
// the moment closer: a later one costs nothing now, and one early service then.
// Called with c.mu held.
func (d *driver) arm(now monotime.Time, c *Conn, at monotime.Time) {
	if at == monotime.Never {
		return
	}
	if at > now && d.many() {
		at += (driverGrid - at%driverGrid) % driverGrid
	}
	d.mu.Lock()
	switch {
	case c.place == 0:
		d.heap = append(d.heap, due{at, c})
		c.place = int32(len(d.heap))
		d.up(len(d.heap) - 1)
	case at < d.heap[c.place-1].at:
		d.heap[c.place-1].at = at
		d.up(int(c.place) - 1)
	}
	d.set(now)
	d.mu.Unlock()
}

// set pulls the timer to the first deadline. d.mu is held.
func (d *driver) set(now monotime.Time) {
	first := d.sweep
	if len(d.heap) > 0 {
		first = min(first, d.heap[0].at)
	}
	if first < d.at {
		d.at = first
		d.timer.Reset(max(d.at.Sub(now), 0))
	}
}

// disarm forgets c.
func (d *driver) disarm(c *Conn) {
	d.mu.Lock()
	if c.place > 0 {
		d.remove(int(c.place) - 1)
	}
	d.mu.Unlock()
}

// sweepSoon makes sure that the table forgets who has died, also while no datagram comes.
func (d *driver) sweepSoon() { d.sweepBy(d.clock.Now().Add(sweepDelay)) }

// sweepBy makes sure that the table is looked at by the given moment, or a little before.
func (d *driver) sweepBy(at monotime.Time) {
	now := d.clock.Now()
	d.mu.Lock()
	if at < d.sweep {
		d.sweep = at
		d.set(now)
	}
	d.mu.Unlock()
}

// sweeps reports whether the table is to forget who has died or left, and takes that off the list.
func (d *driver) sweeps(now monotime.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sweep > now {
		return false
	}
	d.sweep = monotime.Never
	return true
}

// popDue appends up to driverPass connections that are due to list.
func (d *driver) popDue(now monotime.Time, list []*Conn) []*Conn {
	d.mu.Lock()
	for len(d.heap) > 0 && d.heap[0].at <= now && len(list) < driverPass {
		list = append(list, d.heap[0].c)
		d.remove(0)
	}
	d.mu.Unlock()
	return list
}

// run serves the endpoint until it is done.
func (d *driver) run(e *Endpoint) {
	defer d.timer.Stop()
	var list []*Conn
	var auditAt monotime.Time
	for {
		select {
		case <-e.done:
			return
		case <-d.wake:
		case <-d.timer.C:
			d.mu.Lock()
			d.at = monotime.Never
			d.mu.Unlock()
		}
		for {
			now := d.clock.Now()
			list = d.popDue(now, list[:0])
			var solo *Conn
			for _, c := range list {
				if c.turn(now, e.stepBudget, true, e.cfg.Solo) {
					solo = c
				}
			}
			if e.tx.n.Load() >= txBatch || !e.rush.takes(d.clock.Now) {
				e.tx.flush(leadBatches)
			}
			if solo != nil {
				solo.carry()
			}
			if len(list) < driverPass {
				break
			}
		}
		if now := d.clock.Now(); d.sweeps(now) {
			leaving := e.table.leaving()
			if leaving > now {
				d.sweepBy(leaving) // a sweep before took its place
			}
			if leaving <= now || e.table.noted.Load() {
				e.interrupt() // the table is the reader's
			}
		}
		clear(list)
		now := d.clock.Now()
		if now >= auditAt {
			auditAt = now.Add(auditSoonest)
			e.cfg.Budget.received(0) // what users send counts, also when nothing is received
		}
		d.mu.Lock()
		d.set(now)
		d.mu.Unlock()
	}
}

// up moves an entry towards the front as far as it belongs. Only who moves is told.
func (d *driver) up(i int) {
	e := d.heap[i]
	for i > 0 {
		parent := (i - 1) / 4
		if d.heap[parent].at <= e.at {
			break
		}
		d.put(i, d.heap[parent])
		i = parent
	}
	d.put(i, e)
}

// down moves an entry towards the back as far as it belongs.
func (d *driver) down(i int) {
	e := d.heap[i]
	for {
		first, at := i, e.at
		for child := 4*i + 1; child <= 4*i+4 && child < len(d.heap); child++ {
			if d.heap[child].at < at {
				first, at = child, d.heap[child].at
			}
		}
		if first == i {
			break
		}
		d.put(i, d.heap[first])
		i = first
	}
	d.put(i, e)
}

func (d *driver) put(i int, e due) {
	d.heap[i] = e
	e.c.place = int32(i + 1)
}

func (d *driver) remove(i int) {
	last := len(d.heap) - 1
	moved := d.heap[last]
	d.heap[i].c.place = 0
	d.heap[last] = due{}
	d.heap = d.heap[:last]
	if i != last {
		d.put(i, moved)
		d.down(i)
		d.up(i)
	}
	if cap(d.heap) > 1024 && len(d.heap) < cap(d.heap)/8 {
		d.heap = append(make([]due, 0, cap(d.heap)/4), d.heap...)
	}
}
