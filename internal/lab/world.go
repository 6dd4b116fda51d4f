package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

const (
	// begin is when every run begins.
	begin monotime.Time = 1
	// drainTime is how long messages may take to arrive after the measured time.
	drainTime = 4 * time.Second
	// binTime is the width of the bins that goodput over time is counted in.
	binTime = 50 * time.Millisecond
)

// world is one run of a scenario.
type world struct {
	sc          *Scenario
	seed        uint64
	now         monotime.Time
	from, until monotime.Time
	dark, light monotime.Time // the blackout
	timeline    timeline
	up, down    *path
	flows       []*flow
	dirty       []*end
	rng         *rand.Rand
	rec         *Recording
	scratch     []byte
}

// Run plays a scenario once, with the given controller and seed. A Recording that is not
// nil is filled with what happens over time.
func Run(sc *Scenario, c Controller, seed uint64, rec *Recording) *Result {
	w := &world{sc: sc, seed: seed, now: begin, from: begin.Add(sc.From), until: begin.Add(sc.Until), rec: rec,
		rng: rand.New(rand.NewPCG(seed, 0x6c6162))}
	up, down := sc.Up, sc.Down
	if sc.Blackout > 0 {
		w.dark = begin.Add(sc.BlackoutAt + time.Duration(w.rng.Int64N(int64(time.Second))))
		w.light = w.dark.Add(sc.Blackout + time.Duration(w.rng.Int64N(int64(sc.Blackout/10))))
		up.Blackout = func(at monotime.Time) bool { return at >= w.dark && at < w.light }
		down.Blackout = up.Blackout
	}
	w.up, w.down = newPath(seed, 1, up, sc.Spread), newPath(seed, 2, down, sc.Spread)
	for i := range sc.Flows {
		w.flows = append(w.flows, newFlow(w, i, c))
	}
	if rec != nil {
		rec.begin(w)
	}
	w.run()
	r := w.result()
	w.close()
	return r
}

// run plays until the measured time is over and what was sent in it has arrived.
func (w *world) run() {
	end := w.until.Add(drainTime)
	for w.timeline.next() <= end {
		w.now = w.timeline.next()
		if w.now > w.until && w.complete() {
			return
		}
		for w.timeline.next() == w.now {
			e := w.timeline.pop()
			e.to.happen(&e)
		}
		// What came at the same moment was read together: answers leave once.
		for len(w.dirty) > 0 {
			dirty := w.dirty
			w.dirty = nil
			for _, e := range dirty {
				e.dirty = false
				e.turn()
			}
			if w.dirty == nil {
				w.dirty = dirty[:0]
			}
		}
	}
}

// close gives every buffer back.
func (w *world) close() {
	for _, f := range w.flows {
		f.close()
	}
	for i := range w.timeline.h {
		if b := w.timeline.h[i].buf; b != nil {
			b.Release()
		}
	}
}

// complete reports whether nothing that is measured can come any more.
func (w *world) complete() bool {
	for _, f := range w.flows {
		if !f.complete() {
			return false
		}
	}
	return true
}

func (w *world) push(e event) { w.timeline.push(e) }

// measured reports whether now is in the measured time.
func (w *world) measured() bool { return w.now >= w.from && w.now < w.until }

// result sums up the run.
func (w *world) result() *Result {
	r := newResult()
	span := w.until.Sub(w.from).Seconds()
	var latencies []time.Duration
	var bulk, shares []float64
	for _, f := range w.flows {
		if f.tcp == nil {
			latencies = append(latencies, f.sink.latencies...)
			for n := f.sink.missing(); n > 0; n-- {
				latencies = append(latencies, never)
			}
			f.ledger.fill(r)
		}
		if rate := 8 * float64(f.bulkBytes()) / span / 1e6; f.bulk {
			bulk = append(bulk, rate)
			shares = append(shares, percent(rate, f.ceiling(w.sc.Up.Bandwidth)))
			if f.tcp != nil {
				r[TCPShare] = shares[len(shares)-1]
			}
		}
	}
	slices.Sort(latencies)
	r[LatencyP50], r[LatencyP99] = quantile(latencies, 0.5), quantile(latencies, 0.99)
	r[LatencyP999], r[LatencyMax] = quantile(latencies, 0.999), quantile(latencies, 1)
	if len(bulk) > 0 {
		r[Goodput], r[Share] = total(bulk), total(shares)
	}
	if len(bulk) > 1 {
		r[Jain] = jain(bulk)
	}
	if w.light > 0 {
		r[Flowing], r[Refilled] = w.afterBlackout()
	}
	r[BytesRatio] = float64(w.flows[0].ledger.bytes) // a ratio once there is a baseline
	return r
}

// afterBlackout returns how long after its end the first message came, and when the
// goodput was back at nine tenths, both in milliseconds.
func (w *world) afterBlackout() (flowing, refilled float64) {
	flowing, refilled = math.Inf(1), math.Inf(1)
	f := w.flows[0]
	if at := f.sink.afterDark; at > 0 {
		flowing = millis(at.Sub(w.light))
	}
	first, last := f.sink.bin(w.from)+1, f.sink.bin(w.dark)
	if !f.bulk || first >= last {
		return flowing, math.NaN()
	}
	before := 0
	for _, b := range f.sink.bins[first:last] {
		before += b
	}
	enough := 9 * before / (10 * (last - first))
	for i := f.sink.bin(w.light) + 1; i < len(f.sink.bins); i++ {
		if f.sink.bins[i] >= enough {
			return flowing, millis(time.Duration(i+1)*binTime - w.light.Sub(begin))
		}
	}
	return flowing, refilled
}

func total(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}
