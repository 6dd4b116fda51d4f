package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/raknet-go/raknet/internal/lab"
	"github.com/raknet-go/raknet/internal/show"
)

// requirement is something that must be reached, and whether it was.
type requirement struct {
	text, reached string
	ok            bool
}

const (
	narrowRate = 2.3 // MB/s
	narrowDrop = 1.0 // %
	// gameTie is in milliseconds: where nothing is lost everybody waits for the link, and
	// what is left are the timers of relay and runtime.
	gameTie = 1.0
)

// keeps is what bulk must keep of its loss-free figure, by loss.
var keeps = map[string]float64{lossName(1): 0.8, lossName(5): 0.6}

func (r *Report) requirements() (all []requirement) {
	for _, row := range r.rows("game") {
		if row == lossName(0) {
			all = append(all, r.ahead("game", row, mP99, "ms", 1, false, gameTie, fmt.Sprintf("60 messages/s of 200 B, nothing lost: p99 at most %g ms above the others'", gameTie)))
			continue
		}
		all = append(all, r.ahead("game", row, mP99, "ms", 1, false, 0, "60 messages/s of 200 B, "+row+" loss each way: p99 below the others'"))
	}
	for _, row := range r.rows("bulk") {
		if row == "narrow" {
			continue
		}
		all = append(all, r.ahead("bulk", row, mRate, "MB/s", 2, true, 0, "bulk of 1 KB messages, "+row+" loss each way: more than the others"))
		if keep, ok := keeps[row]; ok {
			share := r.median("bulk", row, ours, mRate) / r.median("bulk", lossName(0), ours, mRate)
			all = append(all, requirement{fmt.Sprintf("bulk, %s loss each way: at least %g of its own loss-free figure", row, keep), show.Number(share, 2), share >= keep})
		}
	}
	if len(r.of("bulk", "narrow", ours)) > 0 {
		rate, drop := r.median("bulk", "narrow", ours, mRate), r.median("bulk", "narrow", ours, mDropped)
		all = append(all,
			requirement{fmt.Sprintf("20 Mbit/s with a queue of 64 KB: at least %g MB/s", narrowRate), show.Number(rate, 2), rate >= narrowRate},
			requirement{fmt.Sprintf("20 Mbit/s with a queue of 64 KB: at most %g %% of the datagrams dropped there", narrowDrop), show.Number(drop, 2) + " %", drop <= narrowDrop})
	}
	if rows := r.rows("transfer"); len(rows) > 0 {
		complete, behind := 0, []string(nil)
		for _, row := range rows {
			if own := r.of("transfer", row, ours); own[0].Error == "" && own[0].Values[mComplete] == 1 {
				complete++
			}
			if !r.transferReached(row) {
				behind = append(behind, row)
			}
		}
		all = append(all, requirement{fmt.Sprintf("%d MiB: every transfer is complete", r.TransferBytes>>20), fmt.Sprintf("%d of %d", complete, len(rows)), complete == len(rows)})
		all = append(all, requirement{fmt.Sprintf("%d MiB: none slower than by quic-go", r.TransferBytes>>20),
			strings.Join(append([]string{fmt.Sprintf("%d of %d", len(rows)-len(behind), len(rows))}, behind...), "; slower: "), len(behind) == 0})
	}
	return all
}

// ahead compares ours with the others: by the medians, and run by run. What is worse by
// less than tie is as good.
func (r *Report) ahead(kind, row, metric, unit string, decimals int, more bool, tie float64, text string) requirement {
	better := func(a, b float64) bool {
		if more {
			return a > b-tie
		}
		return a < b+tie
	}
	own, ok := r.median(kind, row, ours, metric), true
	reached := show.Number(own, decimals)
	runs := r.of(kind, row, ours)
	won := 0
	for i := range runs {
		first := true
		for _, l := range libraries[1:] {
			if other := r.of(kind, row, l); i < len(other) && other[i].Error == "" {
				first = first && better(runs[i].Values[metric], other[i].Values[metric])
			}
		}
		if first {
			won++
		}
	}
	for _, l := range libraries[1:] {
		other := r.median(kind, row, l, metric)
		reached += fmt.Sprintf(", %s %s", l, show.Number(other, decimals))
		ok = ok && (math.IsNaN(other) || better(own, other)) && !math.IsNaN(own)
	}
	return requirement{text, fmt.Sprintf("%s %s; first in %d of %d runs", reached, unit, won, len(runs)), ok}
}

func (r *Report) verdicts() show.Table {
	t := show.Table{{"required", "reached", "yes/no"}}
	for _, q := range r.requirements() {
		t = append(t, []string{q.text, q.reached, show.YesNo(q.ok)})
	}
	return t
}

// laboratory is the table of the scenarios.
func (r *Report) laboratory() show.Table {
	t := show.Table{{"scenario", "must reach", "reached", "beside it", "yes/no"}}
	for i := range lab.Scenarios {
		s := &lab.Scenarios[i]
		all := r.of("lab", s.Name, ours)
		switch {
		case !playable(s) && len(r.rows("lab")) > 0:
			t = append(t, []string{s.Title, "", "not played: a relay carries no TCP", "", "-"})
			continue
		case len(all) == 0:
			continue
		case all[0].Error != "":
			t = append(t, []string{s.Title, "", "failed: " + all[0].Error, "", "no"})
			continue
		}
		title := s.Title
		for _, g := range s.Goals {
			v := r.labValue(s, g.Metric)
			t = append(t, []string{title, g.String(), g.Metric.Format(v) + " " + g.Metric.Unit(), r.besides(s), show.YesNo(g.Reached(v))})
			title = ""
		}
		if len(s.Goals) == 0 {
			t = append(t, []string{title, "", "", r.besides(s), "-"})
		}
	}
	return t
}

// labValue returns a metric of a scenario. A goal whose metric could not be measured, such
// as when nothing came after a blackout, is not reached.
func (r *Report) labValue(s *lab.Scenario, m lab.Metric) float64 {
	v := r.median("lab", s.Name, ours, m.String())
	switch m {
	case lab.BytesRatio:
		return v / r.median("lab", s.Baseline, ours, m.String())
	case lab.GoodputRatio:
		return 100 * r.median("lab", s.Name, ours, lab.Goodput.String()) / r.median("lab", s.Baseline, ours, lab.Goodput.String())
	}
	return v
}

// besides lists what else is known of a scenario.
func (r *Report) besides(s *lab.Scenario) string {
	var parts []string
	for _, m := range s.Show {
		if slices.ContainsFunc(s.Goals, func(g lab.Goal) bool { return g.Metric == m }) || m == lab.BytesRatio && s.Baseline == "" {
			continue
		}
		if v := r.labValue(s, m); !math.IsNaN(v) {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%v %s %s", m, m.Format(v), m.Unit())))
		}
	}
	return strings.Join(parts, ", ")
}
