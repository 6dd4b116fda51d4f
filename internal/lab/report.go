package lab

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// Report is scenarios played with controllers.
type Report struct {
	Seeds       int
	Scenarios   []*Scenario
	Controllers []Controller
	Runs        [][][]*Result // by scenario, controller and seed
	Medians     [][]*Result   // by scenario and controller
	Ideals      []*Result     // by scenario; nil where there is no ideal sender
}

// Play plays every scenario with every controller, with the seeds from 0 up, several runs
// at a time. Baselines that are not among the scenarios are played as well.
func Play(scenarios []*Scenario, controllers []Controller, seeds int) *Report {
	r := &Report{Seeds: seeds, Scenarios: scenarios, Controllers: controllers}
	all := append([]*Scenario(nil), scenarios...)
	index := func(name string) int {
		for i, s := range all {
			if s.Name == name {
				return i
			}
		}
		return -1
	}
	for _, s := range scenarios {
		if s.Baseline != "" && index(s.Baseline) < 0 {
			b, ok := Find(s.Baseline)
			if !ok {
				panic("lab: no baseline " + s.Baseline)
			}
			all = append(all, b)
		}
	}
	// runs is by scenario, controller and seed; the last controller is the ideal sender.
	runs := make([][][]*Result, len(all))
	type job struct{ scenario, controller, seed int }
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range jobs {
				s := all[j.scenario]
				if j.controller == len(controllers) {
					runs[j.scenario][j.controller][j.seed] = s.Ideal(s, uint64(j.seed))
				} else {
					runs[j.scenario][j.controller][j.seed] = Run(s, controllers[j.controller], uint64(j.seed), nil)
				}
			}
		})
	}
	for i, s := range all {
		runs[i] = make([][]*Result, len(controllers)+1)
		for c := range runs[i] {
			runs[i][c] = make([]*Result, seeds)
			if c == len(controllers) && s.Ideal == nil {
				continue
			}
			for seed := range seeds {
				jobs <- job{i, c, seed}
			}
		}
	}
	close(jobs)
	wg.Wait()
	for i, s := range scenarios {
		medians := make([]*Result, len(controllers))
		for c := range controllers {
			compare(s, runs[i][c], func() []*Result { return runs[index(s.Baseline)][c] })
			medians[c] = Median(runs[i][c])
		}
		r.Runs = append(r.Runs, runs[i][:len(controllers)])
		r.Medians = append(r.Medians, medians)
		var ideal *Result
		if s.Ideal != nil {
			ideal = Median(runs[i][len(controllers)])
		}
		r.Ideals = append(r.Ideals, ideal)
	}
	return r
}

// compare makes the ratios of runs to those of the baseline with the same seeds.
func compare(s *Scenario, runs []*Result, baseline func() []*Result) {
	if s.Baseline == "" {
		return
	}
	for seed, b := range baseline() {
		r := runs[seed]
		r[GoodputRatio] = percent(r[Goodput], b[Goodput])
		r[BytesRatio] /= b[BytesRatio]
	}
}

// Families returns the names of the families, in order.
func (r *Report) Families() (names []string) {
	for _, s := range r.Scenarios {
		if len(names) == 0 || names[len(names)-1] != s.Family {
			names = append(names, s.Family)
		}
	}
	return names
}

// Table returns the table of a family: each scenario with what each controller reached,
// and with the results of each seed if they are asked for.
func (r *Report) Table(family string, each bool) string {
	var b strings.Builder
	for i, s := range r.Scenarios {
		if s.Family != family {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", s.Name, s.Title)
		for _, g := range s.Goals {
			fmt.Fprintf(&b, "  must reach  %v\n", &g)
		}
		if bound := r.bound(i); bound != "" {
			fmt.Fprintf(&b, "  bound       %s\n", bound)
		}
		b.WriteString("\n")
		r.writeScenario(&b, i, each)
		b.WriteString("\n")
	}
	return b.String()
}

// bound says what no sender can do better.
func (r *Report) bound(scenario int) string {
	s, ideal := r.Scenarios[scenario], r.Ideals[scenario]
	if ideal == nil {
		return s.Bound
	}
	var parts []string
	for _, m := range []Metric{LatencyP50, LatencyP99, LatencyP999} {
		parts = append(parts, fmt.Sprintf("%v %s %s", m, m.Format(ideal[m]), m.Unit()))
	}
	return strings.Join(parts, ", ") + ": an ideal sender, whose every datagram carries all that has not come"
}

func (r *Report) writeScenario(b *strings.Builder, scenario int, each bool) {
	s := r.Scenarios[scenario]
	rows := [][]string{{"controller"}}
	for _, m := range s.Show {
		rows[0] = append(rows[0], strings.TrimSpace(m.String()+" "+m.Unit()))
	}
	rows[0] = append(rows[0], "reached")
	for c, controller := range r.Controllers {
		rows = append(rows, append(cells(s, controller.Name, r.Medians[scenario][c]), r.verdict(scenario, c)))
		for seed, run := range r.Runs[scenario][c] {
			if each {
				rows = append(rows, append(cells(s, fmt.Sprintf("  seed %d", seed), run), ""))
			}
		}
	}
	align(b, rows)
}

// cells is a row of the table.
func cells(s *Scenario, name string, v *Result) []string {
	row := []string{name}
	for _, m := range s.Show {
		if m == BytesRatio && s.Baseline == "" {
			row = append(row, m.Format(1))
			continue
		}
		row = append(row, m.Format(v[m]))
	}
	return row
}

// verdict says whether a controller reached every goal, and if not which it missed.
func (r *Report) verdict(scenario, controller int) string {
	s, v := r.Scenarios[scenario], r.Medians[scenario][controller]
	if len(s.Goals) == 0 {
		return "-"
	}
	var missed []string
	for _, g := range s.Goals {
		if !g.Reached(v[g.Metric]) {
			missed = append(missed, g.Metric.String())
		}
	}
	if len(missed) == 0 {
		return "yes"
	}
	return "no: " + strings.Join(missed, ", ")
}

// align writes rows in columns: the first and the last to the left, the others to the right.
func align(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		line := "  "
		for i, cell := range row {
			switch pad := strings.Repeat(" ", widths[i]-len(cell)); i {
			case 0, len(row) - 1:
				line += cell + pad + "  "
			default:
				line += pad + cell + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
