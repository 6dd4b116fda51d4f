package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/show"
)

// Report is everything that was measured.
type Report struct {
	Machine string
	Quick   bool
	Took    time.Duration
	Rows    []Row
}

// digits writes a number with as many decimals as it needs.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a == math.Trunc(a):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a < 0.1:
		return strconv.FormatFloat(v, 'f', 4, 64)
	case a < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// title names a row.
func (r *Row) title() string {
	switch {
	case r.Kind == byServer:
		return "hostile server, " + r.Name
	case r.Kind == byVector:
		return "vector " + r.Name
	case r.Sources:
		return fmt.Sprintf("%s, %d of them", r.Name, r.Count)
	}
	return r.Name
}

func (r *Row) rate() string {
	switch {
	case r.Kind == byLoris:
		return "patient"
	case r.Rate == 0:
		return "most"
	}
	return strconv.Itoa(r.Rate)
}

func ms(d time.Duration) string { return digits(float64(d) / float64(time.Millisecond)) }

// cells are a row of the table of attacks on a listener.
func (r *Row) cells() []string {
	if r.Broken != "" {
		return []string{r.title(), r.rate(), "-", "-", "-", "-", "-", "-", "-", "-", "-", "no"}
	}
	join := "-"
	if r.Joins > 0 {
		join = ms(r.Slowest)
		if r.Failed > 0 {
			join += fmt.Sprintf(" (%d of %d failed)", r.Failed, r.Joins)
		}
	}
	title := r.title()
	if r.Again > 0 {
		title += fmt.Sprintf(" (median of %d)", 1+r.Again)
	}
	return []string{
		title, r.rate(), fmt.Sprintf("%.0f", r.PerSecond), fmt.Sprintf("%.3f", r.OutPerIn),
		fmt.Sprintf("%.2f", max(float64(r.CPU)/float64(time.Microsecond), 0)),
		fmt.Sprintf("%.1f", float64(r.Heap)/mega), fmt.Sprintf("%.1f", float64(r.Peak)/mega),
		ms(r.Before), ms(r.During), strconv.Itoa(len(r.Lost) + r.Silent), join, show.YesNo(r.ok()),
	}
}

var heading = []string{"attack", "asked/s", "arrived/s", "out per in", "CPU us each", "heap MB", "peak MB", "p99 ms before", "during", "lost", "join ms", "ok"}

// attacks is the table of attacks on a listener, of the vectors those that are worst.
func (r *Report) attacks() show.Table {
	t := show.Table{heading}
	for i := range r.Rows {
		if q := &r.Rows[i]; q.Kind != byServer && q.Kind != byVector {
			t = append(t, q.cells())
		}
	}
	vectors := r.of(byVector)
	if len(vectors) == 0 {
		return t
	}
	worst := Row{Spec: Spec{Kind: byPeer, Name: fmt.Sprintf("each of %d vectors, at least %d datagrams: the worst", len(vectors), vectors[0].Count)}}
	for _, v := range vectors {
		worst.PerSecond = max(worst.PerSecond, v.PerSecond)
		worst.OutPerIn = max(worst.OutPerIn, v.OutPerIn)
		worst.CPU, worst.Heap, worst.Peak = max(worst.CPU, v.CPU), max(worst.Heap, v.Heap), max(worst.Peak, v.Peak)
		worst.Before, worst.During = max(worst.Before, v.Before), max(worst.During, v.During)
		worst.Lost, worst.Silent = append(worst.Lost, v.Lost...), worst.Silent+v.Silent
		worst.Verdicts = append(worst.Verdicts, v.Verdicts...)
		if v.Broken != "" {
			worst.Broken = v.Broken
		}
	}
	return append(t, worst.cells())
}

func (r *Report) of(kind attackKind) (list []*Row) {
	for i := range r.Rows {
		if r.Rows[i].Kind == kind {
			list = append(list, &r.Rows[i])
		}
	}
	return list
}

// servers is the table of attacks on dialers.
func (r *Report) servers() show.Table {
	t := show.Table{{"hostile server", "what came of the dial", "after ms", "heap MB", "peak MB", "ok"}}
	for _, q := range r.of(byServer) {
		d := q.Dial
		if d == nil {
			t = append(t, []string{q.Name, "crashed", "-", "-", "-", "no"})
			continue
		}
		what := d.Error
		if _, after, found := strings.Cut(what, ": "); found && strings.HasPrefix(what, "dial raknet") {
			what = after
		}
		switch {
		case d.Connected && !d.Ended:
			what = fmt.Sprintf("connected and lives, %d messages", d.Messages)
		case d.Connected && what != "":
			what = "connected; " + what
		case d.Connected:
			what = "answered"
		}
		t = append(t, []string{q.Name, what, ms(d.Time), fmt.Sprintf("%.1f", float64(d.Heap)/mega), fmt.Sprintf("%.1f", float64(d.Peak)/mega), show.YesNo(q.ok())})
	}
	slices.SortStableFunc(t[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return t
}

// verdicts is the table of what must be reached, with the worst value of each.
func (r *Report) verdicts() show.Table {
	t := show.Table{{"must be reached", "worst", "where", "rows", "yes/no"}}
	for what, is := range requirements {
		rows, worst, where, ok, judged := 0, math.Inf(-1), "", true, false
		for i := range r.Rows {
			for _, v := range r.Rows[i].Verdicts {
				if int(v.What) != what {
					continue
				}
				rows++
				judged = judged || v.Judged
				if bad := !v.OK && ok; bad || v.OK == ok && v.Value > worst {
					worst, where = v.Value, r.Rows[i].title()
					if r.Rows[i].Rate > 0 {
						where += fmt.Sprintf(" at %d/s", r.Rows[i].Rate)
					}
				}
				ok = ok && v.OK
			}
		}
		if rows == 0 {
			continue
		}
		verdict := show.YesNo(ok)
		if !judged {
			verdict = "not judged"
		}
		value := digits(worst)
		if is.unit != "" {
			value += " " + is.unit
		}
		if worst == 0 {
			where = ""
		}
		t = append(t, []string{is.text, value, where, strconv.Itoa(rows), verdict})
	}
	return t
}

// where says on what machine this was measured, and how.
func (r *Report) where() string {
	how := "All rates, all times."
	if r.Quick {
		how = "The short form: fewer rates and shorter times. What depends on how fast the machine is (delays, processor time, joins) is shown and not judged."
	}
	return fmt.Sprintf("%s. %s, load afterwards %s; %.0f s. %s", time.Now().UTC().Format("2006-01-02"), r.Machine, load(), r.Took.Seconds(), how)
}

// failures tells everything that was not reached, and judged.
func (r *Report) failures() (judged, shown []string) {
	for i := range r.Rows {
		for _, f := range r.Rows[i].failures() {
			if strings.HasSuffix(f, "(not judged)") {
				shown = append(shown, f)
			} else {
				judged = append(judged, f)
			}
		}
	}
	return judged, shown
}

// text writes the report for a terminal.
func (r *Report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", r.where())
	for _, part := range []struct {
		title string
		table show.Table
	}{{"Attacks on a listener with real sessions", r.attacks()}, {"Hostile servers and a dialer with GOMEMLIMIT=" + victimMemory, r.servers()}, {"Required and reached", r.verdicts()}} {
		if len(part.table) > 1 {
			fmt.Fprintf(&b, "\n%s\n%s", part.title, part.table.Text())
		}
	}
	judged, shown := r.failures()
	for _, f := range shown {
		fmt.Fprintf(&b, "\nSLOW: %s\n", f)
	}
	for _, f := range judged {
		fmt.Fprintf(&b, "\nFAILED: %s\n", f)
	}
	return b.String()
}

// The document that the tables are written to, from the project's root, and between what.
const (
	documentName = "docs/SECURITY.md"
	markBegin    = "<!-- make attack writes from here -->"
	markEnd      = "<!-- to here -->"
)

// write puts the tables into the document.
func (r *Report) write(root string) error {
	name := filepath.Join(root, filepath.FromSlash(documentName))
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	page, err := between(string(text), r.markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, []byte(page), 0o644)
}

// between replaces what is between the marks.
func between(page, text string) (string, error) {
	head, rest, ok := strings.Cut(page, markBegin)
	_, tail, ok2 := strings.Cut(rest, markEnd)
	if !ok || !ok2 {
		return "", errors.New("the marks are missing")
	}
	return head + markBegin + "\n" + text + markEnd + tail, nil
}

func (r *Report) markdown() string {
	return fmt.Sprintf("\n%s\n\n%s\n%s\n%s\n", r.where(), r.verdicts().Markdown(), r.attacks().Markdown(), r.servers().Markdown())
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(text))
	return strings.Join(f[:min(len(f), 3)], " ")
}

func firstLine(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

func modelName(text string) string {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
