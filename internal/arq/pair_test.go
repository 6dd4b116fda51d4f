package arq

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

// path is what happens to datagrams in one direction of a pair.
type path struct {
	delay, jitter time.Duration
	loss, dup     float64
	reorder       float64 // share that is held back by reorderBy
	reorderBy     time.Duration
	rate          int // bytes a second; 0: no limit
	queue         int // bytes that may wait for the rate
	busyUntil     monotime.Time
	drop          func(n int, b []byte) bool // n counts from 0
	cut           int                        // what is longer is cut short; 0: nothing is
	count, lost   int
}

type arrivalEvent struct {
	at  monotime.Time
	seq int
	to  int
	b   []byte
}

type eventHeap []arrivalEvent

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(arrivalEvent)) }
func (h *eventHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// got is a message as the application of one end sees it.
type got struct {
	at   monotime.Time
	data []byte
	ch   uint8
}

// pair is two engines joined by two paths, in virtual time.
type pair struct {
	t        testing.TB
	now      monotime.Time
	rnd      *rand.Rand
	end      [2]*Engine
	path     [2]path // path[i] leads away from end i
	events   eventHeap
	seq      int
	got      [2][]got
	onGot    func(end int, d []byte)
	receipts [2][]ReceiptEvent
	steps    int
	before   int64
}

func newPair(t testing.TB, seed uint64, c Config, p path) *pair {
	w := &pair{t: t, now: 1, rnd: rand.New(rand.NewPCG(seed, 7)), before: pool.InUse()}
	for i := range w.end {
		w.end[i] = new(Engine)
		w.end[i].Init(w.now, &c)
		w.path[i] = p
	}
	return w
}

// send queues a message at one end and lets it leave.
func (w *pair) send(end int, m Message) error {
	err := w.end[end].Send(w.now, &m)
	w.flush(end)
	return err
}

func (w *pair) flush(end int) {
	e := w.end[end]
	var d Delivery
	for e.NextDelivery(&d) {
		b, channel := d.AppendTo(nil), d.Channel
		d.Release()
		if len(b) > 1 && b[0] == byte(protocol.IDDetectLostConnections) {
			continue // a sounding, which the session drops
		}
		w.got[end] = append(w.got[end], got{w.now, b, channel})
		if w.onGot != nil {
			w.onGot(end, b)
		}
	}
	var r ReceiptEvent
	for e.NextReceipt(&r) {
		w.receipts[end] = append(w.receipts[end], r)
	}
	for {
		b := e.Transmit(w.now)
		if b == nil {
			break
		}
		most := e.MTU()
		if e.TakesWide() {
			most = WideMTU
		}
		if b.N > most-28 {
			w.t.Fatalf("end %d sent %d bytes at MTU %d", end, b.N, most)
		}
		w.carry(end, b.Bytes())
		b.Release()
	}
	if e.inFlight > e.cc.Window()+e.MTU()*4 && e.loss.probes == 0 && e.inFlight > e.MTU()*4 {
		// Windows may shrink below what is out; nothing new may then leave. Checked by tests of their own.
		_ = e
	}
}

// carry puts a datagram on the path that leads away from an end.
func (w *pair) carry(end int, b []byte) {
	p := &w.path[end]
	n := p.count
	p.count++
	if p.drop != nil && p.drop(n, b) || w.rnd.Float64() < p.loss {
		p.lost++
		return
	}
	at := w.now
	if p.rate > 0 {
		wait := p.busyUntil.Sub(at)
		if wait < 0 {
			wait = 0
		}
		if p.queue > 0 && int(wait.Seconds()*float64(p.rate))+len(b) > p.queue {
			p.lost++
			return
		}
		p.busyUntil = at.Add(wait + time.Duration(float64(len(b)+28)/float64(p.rate)*1e9))
		at = p.busyUntil
	}
	at = at.Add(p.delay)
	if p.jitter > 0 {
		at = at.Add(time.Duration(w.rnd.Int64N(int64(p.jitter))))
	}
	if w.rnd.Float64() < p.reorder {
		at = at.Add(time.Duration(w.rnd.Int64N(int64(p.reorderBy) + 1)))
	}
	copies := 1
	if w.rnd.Float64() < p.dup {
		copies = 2
	}
	for range copies {
		w.seq++
		if p.cut > 0 {
			b = b[:min(len(b), p.cut)]
		}
		heap.Push(&w.events, arrivalEvent{at, w.seq, 1 - end, append([]byte(nil), b...)})
		at = at.Add(time.Millisecond / 2)
	}
}

// step moves time to the next thing that happens, at most to until, and reports
// whether anything did.
func (w *pair) step(until monotime.Time) bool {
	next := monotime.Never
	if len(w.events) > 0 {
		next = w.events[0].at
	}
	for _, e := range w.end {
		next = min(next, e.Deadline())
	}
	if next > until {
		w.now = until
		return false
	}
	if w.steps++; w.steps > 20_000_000 {
		w.t.Fatal("no end in sight")
	}
	w.now = max(w.now, next)
	var dirty [2]bool
	for len(w.events) > 0 && w.events[0].at <= w.now {
		ev := heap.Pop(&w.events).(arrivalEvent)
		buf := pool.Get(max(pool.ClassRead, len(ev.b)))
		buf.N = copy(buf.B, ev.b)
		w.end[ev.to].Receive(w.now, buf, buf.Bytes())
		buf.Release()
		dirty[ev.to] = true
	}
	for i, e := range w.end {
		if e.Deadline() <= w.now {
			e.Advance(w.now)
			dirty[i] = true
		}
		if dirty[i] {
			w.flush(i)
			if d := e.Deadline(); d <= w.now {
				e.Advance(w.now)
				w.flush(i)
				if d := e.Deadline(); d <= w.now {
					w.t.Fatalf("end %d: deadline %v is not past now %v after it was served", i, d, w.now)
				}
			}
		}
	}
	return true
}

// run lets d pass.
func (w *pair) run(d time.Duration) {
	for until := w.now.Add(d); w.step(until); {
	}
}

// runUntil runs until cond holds, for at most d.
func (w *pair) runUntil(d time.Duration, cond func() bool) {
	w.t.Helper()
	until := w.now.Add(d)
	for !cond() {
		if !w.step(until) {
			w.t.Fatalf("not within %v: got %d and %d messages; %s", d, len(w.got[0]), len(w.got[1]), w.describe())
		}
	}
}

func (w *pair) describe() string {
	s := ""
	for i, e := range w.end {
		var st Stats
		e.Stats(&st)
		s += fmt.Sprintf("\nend %d: %+v probes=%d backoff=%d tolerance=%d deadline=%v now=%v hold=%v", i, st, e.loss.probes, e.loss.backoff, e.loss.tolerance, e.Deadline(), w.now, e.order.hold.messages)
	}
	return s
}

// close ends both engines and checks that every buffer came back.
func (w *pair) close() {
	w.t.Helper()
	for _, e := range w.end {
		e.Close()
	}
	if n := pool.InUse() - w.before; n != 0 {
		w.t.Errorf("%d buffers were not returned", n)
	}
}
