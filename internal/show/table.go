// Package show writes down what programs measured: tables, numbers, and the machine.
package show

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table is rows of cells, the first of which is the heading.
type Table [][]string

// Text writes the table in columns.
func (t Table) Text() string {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range t {
		line := ""
		for i, cell := range row {
			line += "  " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Markdown writes it as a table of a document.
func (t Table) Markdown() string {
	var b strings.Builder
	for i, row := range t {
		for _, cell := range row {
			if cell == YesNo(false) {
				cell = "**" + cell + "**"
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return strings.NewReplacer("<=", "≤", ">=", "≥").Replace(b.String())
}

// YesNo writes whether something was reached.
func YesNo(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

// Number writes v with the given decimals, "-" if there is none.
func Number(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// Median returns the median of v, which it sorts, and NaN of nothing.
func Median(v []float64) float64 {
	slices.Sort(v)
	switch n := len(v); {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return v[n/2]
	default:
		return (v[n/2-1] + v[n/2]) / 2
	}
}
