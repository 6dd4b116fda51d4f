package lab

import (
	"fmt"
	"strings"
)

// intro is what stands above the tables of the document.
const intro = `# The laboratory

How the recovery of lost datagrams and the congestion control do on links of all kinds, in the simulation of ` + "`internal/lab`" + `: two ends
of the real engine in virtual time, so that every number here can be had again to the last digit. ` + "`make lab`" + ` writes this page, its
pictures and the tables of every controller in ` + "`testdata/lab`" + `; a change of the engine shows as a difference.

How it is measured:

- Every number is the median of %d runs with different seeds. A seed decides what is lost and late and when a flow starts.
- The round trip is 50 ms, the MTU 1492, unless said. Links lose in both directions. A link of a given rate counts 28 bytes of
  IP and UDP header with each datagram.
- "Of link" is the delivered payload compared with the most that the link can carry in messages of this size: datagrams have
  headers, so 1 KB messages fill a link with 96 %% of payload, which counts as 100 %%.
- "Resent" are datagrams that carried nothing new, of all with reliable frames, from the start of the connection. "Needless" are
  those of them that carried nothing that had been lost. "Dropped" are those that found the queue full. The simulation knows the
  fate of each datagram; the engine is not asked.
- Bulk senders keep the send buffer full, receivers read at once. A queue of one bandwidth-delay product (BDP) holds what the link
  carries in a round trip: 50 ms more.
- The delay of a message runs from Send to its delivery in order. p99 is over all messages of a run.

`

// Markdown returns the document: what the default controller reached, a summary of
// all of them, and the figures, which are at img/<name>.svg.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, intro, r.Seeds)
	def := 0
	for c := range r.Controllers {
		if r.Controllers[c].Name == DefaultController {
			def = c
		}
	}
	fmt.Fprintf(&b, "## The default controller (%s)\n\n| scenario | must reach | reached | no sender does better than | reached? |\n|---|---|---|---|---|\n", r.Controllers[def].Name)
	for i, s := range r.Scenarios {
		if len(s.Goals) == 0 {
			continue
		}
		v := r.Medians[i][def]
		for n, g := range s.Goals {
			title, bound, verdict := "", "", "yes"
			if n == 0 {
				title, bound = s.Title, r.bound(i)
			}
			if !g.Reached(v[g.Metric]) {
				verdict = "**no**"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", title, markdown(g.String()), with(g.Metric, v[g.Metric]), bound, verdict)
		}
	}
	b.WriteString("\n## All controllers\n\nWhat each reached of what the first column says; bold is not enough.\n\n| scenario | goal |")
	for _, c := range r.Controllers {
		fmt.Fprintf(&b, " %s |", c.Name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(r.Controllers)) + "\n")
	for i, s := range r.Scenarios {
		for _, g := range s.Goals {
			fmt.Fprintf(&b, "| %s | %s |", s.Name, markdown(g.String()))
			for c := range r.Controllers {
				v := r.Medians[i][c][g.Metric]
				mark := ""
				if !g.Reached(v) {
					mark = "**"
				}
				fmt.Fprintf(&b, " %s%s%s |", mark, g.Metric.Format(v), mark)
			}
			b.WriteString("\n")
		}
	}
	r.also(&b, def)
	b.WriteString("\n## Over time\n\nOne run each, with the default controller.\n")
	for _, f := range Figures {
		fmt.Fprintf(&b, "\n![%s](img/%s)\n", f.Title, f.File())
	}
	return b.String()
}

// also writes what the default controller did where nothing in particular must be reached.
func (r *Report) also(b *strings.Builder, def int) {
	b.WriteString("\n## Also measured\n\nWhat the default controller does where no goal is set.\n\n| scenario | what it did |\n|---|---|\n")
	for i, s := range r.Scenarios {
		if len(s.Goals) > 0 {
			continue
		}
		fmt.Fprintf(b, "| %s |", s.Title)
		for n, m := range s.Show {
			sep := ","
			if n == 0 {
				sep = ""
			}
			fmt.Fprintf(b, "%s %v %s", sep, m, with(m, r.Medians[i][def][m]))
		}
		b.WriteString(" |\n")
	}
}

// File is the name of the figure's file.
func (f *Figure) File() string { return "lab-" + f.Scenario + ".svg" }

// with writes a value and its unit.
func with(m Metric, v float64) string {
	s := m.Format(v)
	switch u := m.Unit(); u {
	case "":
		return s
	case "%", "x":
		return s + u
	default:
		return s + " " + u
	}
}

// markdown writes comparisons as the signs they stand for.
func markdown(s string) string {
	return strings.NewReplacer("<=", "≤", ">=", "≥").Replace(s)
}
