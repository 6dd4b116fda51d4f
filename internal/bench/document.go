package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/raknet-go/raknet/internal/show"
)

// The document is made of a template, in which people write, and of what was measured.

//go:embed performance.md.tmpl
var documentText string

var document = template.Must(template.New("").Parse(documentText))

// The files that are written, from the project's root.
const (
	documentName = "docs/PERFORMANCE.md"
	dataName     = "testdata/bench.json"
)

// page is what the template shows.
type page struct {
	Where, Verdicts, Narrow, Bulk, Pings, Connects, Pongs, Idle, Games, Behind string
	Reached, Required                                                          int
}

// Markdown writes the report as the document.
func (r *Report) Markdown() (string, error) {
	p := page{
		Where: r.where(), Verdicts: r.verdicts().Markdown(), Narrow: r.narrow().Markdown(), Bulk: r.bulk().Markdown(), Pings: r.pings().Markdown(), Connects: r.connects().Markdown(),
		Pongs: r.pongs().Markdown(), Idle: r.idle().Markdown(), Games: r.games().Markdown(), Behind: r.behind().Markdown(),
	}
	for _, q := range r.requirements() {
		if p.Required++; q.measured() && q.ok() {
			p.Reached++
		}
	}
	var b strings.Builder
	err := document.Execute(&b, &p)
	return b.String(), err
}

// Text writes the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	b.WriteString(r.where() + "\n")
	for _, part := range []struct {
		title string
		table show.Table
	}{
		{"Bulk: messages one way, reliable and in order", r.bulk()},
		{"There and back: one message of 100 B at a time", r.pings()},
		{"Connects", r.connects()},
		{fmt.Sprintf("Answers to pings of server lists, %d pingers", pingerCount), r.pongs()},
		{"Idle connections, the server's side", r.idle()},
		{fmt.Sprintf("Games: each player sends %d messages of %d B a second and is sent %d of %d B", upRate, upSize, downRate, downSize), r.games()},
		{"Where others are ahead", r.behind()},
		{"Bulk in the datagrams of a network", r.narrow()},
		{"Required and reached", r.verdicts()},
	} {
		if len(part.table) > 1 {
			fmt.Fprintf(&b, "\n%s\n%s", part.title, part.table.Text())
		}
	}
	for _, s := range r.skipped() {
		fmt.Fprintf(&b, "\nSkipped: %s\n", s)
	}
	for _, f := range r.broken() {
		fmt.Fprintf(&b, "\nBroke off: %s\n", f)
	}
	for _, f := range r.failures() {
		fmt.Fprintf(&b, "\nFAILED: %s\n", f)
	}
	return b.String()
}

// write writes the document, its drawings and what was measured below the project's root.
func (r *Report) write(root string) error {
	text, err := r.Markdown()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	files := map[string][]byte{documentName: []byte(text), dataName: append(data, '\n')}
	for _, d := range r.drawings() {
		files[d.file] = d.svg()
	}
	for name, content := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// read reads what was measured before.
func read(name string) (*Report, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
