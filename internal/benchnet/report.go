package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/raknet-go/raknet/internal/show"
)

// Report is everything that was measured.
type Report struct {
	Machine       show.Machine
	Started       time.Time
	Seconds       int
	LoadAfter     string
	Quick         bool
	Runs          int
	TransferBytes int64
	Results       []*Result
}

// line says in a line what came of a measurement.
func (r *Result) line() string {
	c := &r.Cell
	s := fmt.Sprintf("%s %s %s:", c.Kind, c.Name, c.Library)
	for _, m := range []string{mP50, mP99, mP999, mMax, mWire, mRate, mSeconds, mDone, mDropped, mLater, mWaitP95, mEnds, mRelayCPU, mOthers, mLate, mUnread} {
		if v, ok := r.Values[m]; ok {
			s += fmt.Sprintf(" %s %.4g,", m, v)
		}
	}
	if r.Error != "" {
		s += " FAILED: " + r.Error
	}
	return s + " " + r.Note
}

// failures are what makes the program fail: a measurement of this library that did not
// end, or of any that did not deliver what was sent.
func (r *Report) failures() (failed []string) {
	for _, res := range r.Results {
		switch {
		case res.Error != "":
			failed = append(failed, fmt.Sprintf("%s %s, %s: %s", res.Cell.Kind, res.Cell.Name, res.Cell.Library, res.Error))
		case res.Cell.Kind == "transfer" && res.Cell.Library == ours && res.Values[mComplete] != 1:
			failed = append(failed, fmt.Sprintf("transfer %s: not complete after %v", res.Cell.Name, res.Cell.Limit))
		}
	}
	return failed
}

// of returns the results of a row, run after run.
func (r *Report) of(kind, name, library string) (all []*Result) {
	for _, res := range r.Results {
		if res.Cell.Kind == kind && res.Cell.Name == name && res.Cell.Library == library {
			all = append(all, res)
		}
	}
	return all
}

// values returns a metric of all runs, sorted.
func (r *Report) values(kind, name, library, metric string) (v []float64) {
	for _, res := range r.of(kind, name, library) {
		if x, ok := res.Values[metric]; ok && res.Error == "" {
			v = append(v, x)
		}
	}
	slices.Sort(v)
	return v
}

// median returns the median of the runs, NaN of none.
func (r *Report) median(kind, name, library, metric string) float64 {
	return show.Median(r.values(kind, name, library, metric))
}

// rows returns the names of the rows of a kind, in order.
func (r *Report) rows(kind string) (names []string) {
	for _, res := range r.Results {
		if res.Cell.Kind == kind && !slices.Contains(names, res.Cell.Name) {
			names = append(names, res.Cell.Name)
		}
	}
	return names
}

// spread writes the median and, of several runs, the least and the most.
func (r *Report) spread(kind, name, library, metric string, decimals int) string {
	v := r.values(kind, name, library, metric)
	s := show.Number(r.median(kind, name, library, metric), decimals)
	if len(v) > 1 {
		s += fmt.Sprintf(" (%s-%s)", show.Number(v[0], decimals), show.Number(v[len(v)-1], decimals))
	}
	return s
}

// libraries are the names of those that are compared, this one first.
var libraries = []string{ours, "kcp-go", quicGo}

func (r *Report) games() show.Table {
	t := show.Table{{"loss each way", "library", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "bytes on the wire per byte", "relay late p99 ms"}}
	for _, row := range r.rows("game") {
		for _, l := range libraries {
			t = append(t, []string{row, l, r.spread("game", row, l, mP50, 1), r.spread("game", row, l, mP99, 1), r.spread("game", row, l, mP999, 1),
				r.spread("game", row, l, mMax, 1), show.Number(r.median("game", row, l, mWire), 2), show.Number(r.median("game", row, l, mLate), 1)})
		}
	}
	return t
}

func (r *Report) bulks() show.Table {
	t := show.Table{{"loss each way", "library", "MB/s", "of loss-free", "datagrams/s", "cores: both ends", "relay", "others", "held up by"}}
	for _, l := range []string{rawPlain, rawPieces} {
		if len(r.of("raw", "relay", l)) > 0 {
			t = append(t, r.bulkRow("raw", "relay", l))
		}
	}
	for _, row := range r.rows("bulk") {
		if row == "narrow" {
			continue
		}
		for _, l := range libraries {
			t = append(t, r.bulkRow("bulk", row, l))
		}
	}
	return t
}

func (r *Report) bulkRow(kind, row, library string) []string {
	name := row
	if kind == "raw" {
		name = lossName(0)
	}
	return []string{name, library, r.spread(kind, row, library, mRate, 2), r.ofLossFree(kind, row, library), show.Number(r.median(kind, row, library, mPackets), 0),
		show.Number(r.median(kind, row, library, mEnds), 2), show.Number(r.median(kind, row, library, mRelayCPU), 2),
		show.Number(r.median(kind, row, library, mOthers), 2), r.heldUp(kind, row, library)}
}

func (r *Report) ofLossFree(kind, row, library string) string {
	if kind != "bulk" || row == lossName(0) {
		return ""
	}
	return show.Number(r.median(kind, row, library, mRate)/r.median(kind, lossName(0), library, mRate), 2)
}

const (
	// relayBusy is the share of a core above which the relay is what holds a run up, and
	// nearRaw that of what bare datagrams reach through it.
	relayBusy, nearRaw = 0.9, 0.85
	// allBusy is the share of all cores above which more is not to be had of a machine.
	allBusy = 0.9
	// othersBusy is how many cores used by other programs spoil a figure.
	othersBusy = 0.3
)

// heldUp says what kept a run from being faster.
func (r *Report) heldUp(kind, row, library string) string {
	relayCPU := r.median(kind, row, library, mRelayCPU)
	best := max(r.median("raw", "relay", rawPieces, mRate), r.median("raw", "relay", rawPlain, mRate))
	switch {
	case relayCPU >= relayBusy || kind == "bulk" && r.median(kind, row, library, mRate) >= nearRaw*best:
		return "the relay"
	case relayCPU+r.median(kind, row, library, mEnds) >= allBusy*float64(r.Machine.Cores):
		return "the processors"
	case r.median(kind, row, library, mOthers) >= othersBusy:
		return "other programs"
	case kind == "raw":
		return "both ends"
	}
	return "itself"
}

func (r *Report) narrow() show.Table {
	t := show.Table{{"library", "MB/s", "dropped at the queue %", "after the first 2 s %", "queue p95 ms"}}
	for _, l := range libraries {
		t = append(t, []string{l, r.spread("bulk", "narrow", l, mRate, 2), r.spread("bulk", "narrow", l, mDropped, 2),
			r.spread("bulk", "narrow", l, mLater, 2), show.Number(r.median("bulk", "narrow", l, mWaitP95), 1)})
	}
	return t
}

// transferCell writes how long a transfer took.
func (r *Report) transferCell(row, library string) string {
	all := r.of("transfer", row, library)
	if len(all) == 0 {
		return "-"
	}
	v := all[0].Values
	switch {
	case all[0].Error != "":
		return "failed"
	case v[mComplete] != 1:
		return fmt.Sprintf("unfinished after %.1f s at %.1f MB", v[mSeconds], v[mDone])
	}
	return fmt.Sprintf("%.2f s", v[mSeconds])
}

// transferReached reports whether ours was complete and no slower than quic-go.
func (r *Report) transferReached(row string) bool {
	own, other := r.of("transfer", row, ours), r.of("transfer", row, quicGo)
	if len(own) == 0 || own[0].Error != "" || own[0].Values[mComplete] != 1 {
		return false
	}
	return len(other) == 0 || other[0].Error != "" || other[0].Values[mComplete] != 1 || own[0].Values[mSeconds] <= other[0].Values[mSeconds]
}

func (r *Report) transfers() show.Table {
	t := show.Table{{"loss each way, RTT", ours, quicGo, "no slower?"}}
	for _, row := range r.rows("transfer") {
		t = append(t, []string{row, r.transferCell(row, ours), r.transferCell(row, quicGo), show.YesNo(r.transferReached(row))})
	}
	return t
}
