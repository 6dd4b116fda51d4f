package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/show"
)

// Report is everything that was measured.
type Report struct {
	Machine   show.Machine
	Started   time.Time
	Seconds   int
	LoadAfter string
	Quick     bool
	Runs      int
	Results   []*Result
}

// key names a row: a work with the size or count that it has.
type key struct {
	work  Work
	n     int // size of messages, or number of clients
	reads bool
}

func (c *Cell) key() key { return key{c.Work, max(c.Size, c.Count), c.Reads} }

// values returns a metric of a library by run. What failed or was not measured is not there.
func (r *Report) values(k key, library, metric string) map[int]float64 {
	all := map[int]float64{}
	for _, res := range r.Results {
		if res.Cell.key() != k || res.Cell.Library != library || res.Error != "" || res.Skipped != "" {
			continue
		}
		if v, ok := res.value(metric); ok {
			all[res.Cell.Run] = v
		}
	}
	return all
}

// value returns a metric, also those that follow from others. A server that falls behind
// does less than it should, and would look good for it.
func (r *Result) value(metric string) (float64, bool) {
	inTime := math.Min(r.Values[mPerSecond]/float64(upRate*max(r.Cell.Count, 1)), 1)
	switch metric {
	case mInTime:
		return 100 * inTime, r.Cell.Work == Players
	case mFullCPU:
		return r.Values[mServerCPU] / inTime, r.Cell.Work == Players && inTime > 0
	}
	v, ok := r.Values[metric]
	return v, ok
}

// sorted returns the values of a map in order.
func sorted(m map[int]float64) (v []float64) {
	for _, x := range m {
		v = append(v, x)
	}
	slices.Sort(v)
	return v
}

// median returns the median of the runs, NaN of none.
func (r *Report) median(k key, library, metric string) float64 {
	return show.Median(sorted(r.values(k, library, metric)))
}

// ratio returns the median of what a library reached in each run by what another did in the
// same run, NaN if there is no run with both.
func (r *Report) ratio(k key, library, other, metric string) float64 {
	own, others := r.values(k, library, metric), r.values(k, other, metric)
	var all []float64
	for run, v := range own {
		if o, ok := others[run]; ok && o > 0 {
			all = append(all, v/o)
		}
	}
	return show.Median(all)
}

// libraries returns the libraries of a row, this one first, then in the order of the list.
func (r *Report) libraries(k key) (names []string) {
	for _, name := range order {
		if slices.ContainsFunc(r.Results, func(res *Result) bool { return res.Cell.key() == k && res.Cell.Library == name }) {
			names = append(names, name)
		}
	}
	return names
}

// order is that of the libraries in the tables.
var order = []string{
	ours, oursNarrow, narrowBatch, oursHandlers, oursBatch, oursPlain, boundName, boundBatch, boundPlain, udpOffload, udpBatch, udpSingle, rawEcho, bareUDP,
	tcp, tcpUnbuf, quicGo, kcpGo, sctpName, goRaknet, enetName,
}

// keys returns the rows of a work, in order.
func (r *Report) keys(w Work) (all []key) {
	for _, res := range r.Results {
		if k := res.Cell.key(); k.work == w && !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b key) int { return a.n - b.n })
	return all
}

// cell writes the median and, of several runs, the least and the most, with three digits.
func (r *Report) cell(k key, library, metric string, scale float64) string {
	v := sorted(r.values(k, library, metric))
	if len(v) == 0 {
		return r.absence(k, library)
	}
	for i := range v {
		v[i] *= scale
	}
	s := digits(show.Median(v))
	if len(v) > 1 {
		s += fmt.Sprintf(" (%s-%s)", digits(v[0]), digits(v[len(v)-1]))
	}
	return s
}

// absence says why there is no figure.
func (r *Report) absence(k key, library string) string {
	for _, res := range r.Results {
		if res.Cell.key() == k && res.Cell.Library == library && res.Error != "" {
			return "failed"
		}
	}
	return "-"
}

// digits writes v with three digits, or all before the point.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case a >= 100:
		return grouped(v)
	case a >= 10:
		return show.Number(v, 1)
	case a >= 0.995:
		return show.Number(v, 2)
	case a < 0.0005:
		return "0"
	}
	return show.Number(v, 3)
}

// grouped writes a whole number with commas between thousands.
func grouped(v float64) string {
	s := show.Number(v, 0)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// sizeName writes the size of a message.
func sizeName(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// times writes a ratio.
func times(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return digits(v) + "x"
}

// base is what a library is compared with in the tables: this one in the same way.
func base(library string) string {
	switch library {
	case boundBatch, oursBatch, narrowBatch:
		return oursBatch
	case boundPlain, oursPlain:
		return oursPlain
	}
	return ours
}

func (r *Report) bulk() show.Table {
	t := show.Table{{"message", "library", "MB/s", "messages/s", "CPU-s/GB", "of it the receiver", "allocations each", "raknet is"}}
	for _, k := range r.keys(Bulk) {
		name := sizeName(k.n)
		if k.n == sizeDatagram {
			name = "datagrams"
		}
		for _, l := range r.libraries(k) {
			t = append(t, []string{name, l, r.cell(k, l, mRate, 1), digits(r.median(k, l, mMessages)), digits(r.median(k, l, mCPU)),
				digits(r.median(k, l, mServerGB)), digits(r.median(k, l, mAllocs)), r.versus(k, l, mRate)})
			name = ""
		}
	}
	return t
}

// versus writes how many times another library's figure this one's is.
func (r *Report) versus(k key, l, metric string) string {
	if base(l) == l {
		return ""
	}
	return times(r.ratio(k, base(l), l, metric))
}

func (r *Report) pings() show.Table {
	t := show.Table{{"library", "p50 us", "p99 us", "p99.9 us", "there and back a second", "raknet's p50 is"}}
	for _, k := range r.keys(Ping) {
		for _, l := range r.libraries(k) {
			t = append(t, []string{l, r.cell(k, l, mP50, 1), r.cell(k, l, mP99, 1), digits(r.median(k, l, mP999)), digits(r.median(k, l, mPerSecond)), r.versus(k, l, mP50)})
		}
	}
	return t
}

func (r *Report) connects() show.Table {
	t := show.Table{{"at once", "library", "connects/s", "server CPU us each", "server allocations each", "raknet is"}}
	for _, k := range r.keys(Connect) {
		name := fmt.Sprint(k.n)
		for _, l := range r.libraries(k) {
			t = append(t, []string{name, l, r.cell(k, l, mPerSecond, 1), digits(r.median(k, l, mServerUS)), digits(r.median(k, l, mSrvAllocs)), r.versus(k, l, mPerSecond)})
			name = ""
		}
	}
	return t
}

func (r *Report) pongs() show.Table {
	t := show.Table{{"server", "answers/s", "server CPU us each", "server allocations each", "raknet is"}}
	for _, k := range r.keys(Pong) {
		for _, l := range r.libraries(k) {
			t = append(t, []string{l, r.cell(k, l, mPerSecond, 1), digits(r.median(k, l, mServerUS)), digits(r.median(k, l, mSrvAllocs)), r.versus(k, l, mPerSecond)})
		}
	}
	return t
}

func (r *Report) idle() show.Table {
	t := show.Table{{"connections", "heap bytes each", "stack bytes each", "RSS bytes each", "CPU of the server, % of a core"}}
	for _, k := range r.keys(Idle) {
		name := grouped(float64(k.n))
		if k.reads {
			name += ", a goroutine in Read on each"
		}
		t = append(t, []string{name, r.cell(k, ours, mHeap, 1), r.cell(k, ours, mStack, 1), r.cell(k, ours, mRSS, 1), r.cell(k, ours, mServerCPU, 100)})
	}
	return t
}

func (r *Report) games() show.Table {
	t := show.Table{{"players", "server", "server cores", "messages in time, %", "p50 ms", "p99 ms", "p99.9 ms", "cores of the players", "raknet's CPU is"}}
	for _, k := range r.keys(Players) {
		name := grouped(float64(k.n))
		for _, l := range r.libraries(k) {
			t = append(t, []string{name, l, r.cell(k, l, mServerCPU, 1), digits(r.median(k, l, mInTime)), r.cell(k, l, mP50, 1e-3), r.cell(k, l, mP99, 1e-3),
				digits(r.median(k, l, mP999) * 1e-3), digits(r.median(k, l, mClientCPU)), r.versus(k, l, mFullCPU)})
			name = ""
		}
	}
	return t
}

// behind lists where another library is ahead.
func (r *Report) behind() show.Table {
	t := show.Table{{"what", "ahead", "by"}}
	add := func(k key, what, metric string, more bool) {
		for _, l := range r.libraries(k) {
			if base(l) == l || l == oursHandlers {
				continue
			}
			by := 1 / r.ratio(k, base(l), l, metric)
			if !more {
				by = 1 / by
			}
			if by > 1 {
				t = append(t, []string{what, l, times(by)})
				what = ""
			}
		}
	}
	for _, k := range r.keys(Bulk) {
		add(k, "bulk of "+sizeName(k.n)+", MB/s", mRate, true)
		add(k, "bulk of "+sizeName(k.n)+", CPU", mCPU, false)
	}
	for _, k := range r.keys(Ping) {
		add(k, "there and back, p50", mP50, false)
		add(k, "there and back, p99", mP99, false)
	}
	for _, k := range r.keys(Connect) {
		add(k, fmt.Sprintf("connects/s, %d at once", k.n), mPerSecond, true)
		add(k, fmt.Sprintf("connects, server CPU, %d at once", k.n), mServerUS, false)
	}
	for _, k := range r.keys(Pong) {
		add(k, "answers to pings a second", mPerSecond, true)
		add(k, "answers to pings, server CPU", mServerUS, false)
	}
	for _, k := range r.keys(Players) {
		add(k, fmt.Sprintf("%d players, server CPU", k.n), mFullCPU, false)
		add(k, fmt.Sprintf("%d players, p99", k.n), mP99, false)
	}
	return t
}

// failures are what makes the program fail: what this library, or one of the programs that
// it is judged by, did not deliver, and what any delivered other than it was sent.
func (r *Report) failures() (failed []string) { return r.errors(true) }

// broken are the other failures: another library's connection that ended, as some do under
// such load.
func (r *Report) broken() (failed []string) { return r.errors(false) }

func (r *Report) errors(serious bool) (all []string) {
	for _, res := range r.Results {
		c := &res.Cell
		own := !slices.Contains([]string{quicGo, kcpGo, sctpName, goRaknet, enetName}, c.Library)
		if res.Error == "" || (own || strings.Contains(res.Error, corruption)) != serious {
			continue
		}
		all = append(all, fmt.Sprintf("%s %d, %s, run %d: %s", c.Work, max(c.Size, c.Count), c.Library, c.Run+1, res.Error))
	}
	return all
}

// skipped are the reasons why something could not be measured.
func (r *Report) skipped() (why []string) {
	for _, res := range r.Results {
		if res.Skipped != "" && !slices.Contains(why, res.Skipped) {
			why = append(why, res.Skipped)
		}
	}
	return why
}

// othersBusy is how many cores used by other programs spoil figures.
const othersBusy = 0.2

// where says what was measured, on what, and how much else went on there.
func (r *Report) where() string {
	m := &r.Machine
	var versions []string
	for _, module := range modules {
		if v := m.Modules[module]; v != "" {
			name := strings.TrimSuffix(strings.TrimPrefix(module, "github.com/"), "/v5")
			versions = append(versions, name+" "+v)
		}
	}
	var others []float64
	for _, res := range r.Results {
		if v, ok := res.Values[mOthers]; ok {
			others = append(others, v)
		}
	}
	s := fmt.Sprintf("%d cores (%s), Linux %s, %s %s, receive buffers up to %s bytes. This library at commit %s; %s. "+
		"%d runs, %s, %d s. Load averages %s before and %s after.",
		m.Cores, m.CPU, m.Kernel, m.Go, m.OS, m.ReceiveBuffer, m.Revision, strings.Join(versions, ", "),
		r.Runs, r.Started.Format("2006-01-02 15:04 UTC"), r.Seconds, m.LoadBefore, r.LoadAfter)
	if busy := show.Median(others); busy >= othersBusy {
		s += fmt.Sprintf(" Other programs used %s cores meanwhile (the median), so that figures are lower and wider than they would be; what is compared was measured side by side.", digits(busy))
	}
	return s
}

// modules are those whose versions matter.
var modules = []string{
	"github.com/quic-go/quic-go", "github.com/xtaci/kcp-go/v5", "github.com/pion/sctp", "github.com/sandertv/go-raknet",
}
