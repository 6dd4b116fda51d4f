package main

import (
	"strings"
	"unicode/utf8"
)

// table is rows of cells, the first of which is the heading.
type table [][]string

// text writes the table in columns.
func (t table) text() string {
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

// markdown writes it as a table of a document.
func (t table) markdown() string {
	var b strings.Builder
	for i, row := range t {
		for _, cell := range row {
			if cell == yesNo(false) {
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
