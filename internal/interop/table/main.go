// Command table makes docs/INTEROP.md of the results that the interop tests left in a directory, or checks that the page says the same.
//
//	go run ./internal/interop/table -results dir -page docs/INTEROP.md [-check]
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/raknet-go/raknet/internal/interop"
)

//go:embed head.md
var head string

//go:embed notes.md
var notes string

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("table", flag.ContinueOnError)
	results := flags.String("results", "", "directory with the results")
	page := flags.String("page", "docs/INTEROP.md", "the page to write or check")
	check := flags.Bool("check", false, "write nothing, and fail if the page says something else")
	if err := flags.Parse(args); err != nil {
		return err
	}
	reports, err := read(*results)
	if err != nil {
		return err
	}
	made := render(reports)
	if *check {
		have, err := os.ReadFile(*page)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, made) {
			return fmt.Errorf("%s tells other results than these, run make interop-table:\n%s", *page, difference(string(have), string(made)))
		}
		fmt.Fprintf(out, "%s tells the results of %d runs\n", *page, len(reports))
		return nil
	}
	return os.WriteFile(*page, made, 0o644)
}

// read reads all results of a directory. What failed makes an error: a page tells no results that are not good.
func read(dir string) ([]interop.Report, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no results in %q", dir)
	}
	var reports []interop.Report
	var failed []error
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var r interop.Report
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, c := range r.Results {
			if !c.OK && c.Fault == "" {
				failed = append(failed, fmt.Errorf("%s as %s over the %s path failed: %s", r.Peer, r.Role, r.Path, c.Case))
			}
		}
		reports = append(reports, r)
	}
	return reports, errors.Join(failed...)
}

// The columns of a peer, in order.
var (
	roles = []string{interop.AsServer, interop.AsClient, interop.AsBoth}
	paths = []string{interop.Clean.Name, interop.Lossy.Name}
)

type column struct{ role, path string }

func (c column) String() string { return c.role + ", " + c.path }

// render makes the page.
func render(reports []interop.Report) []byte {
	peers := map[string]map[column]interop.Report{}
	for _, r := range reports {
		if peers[r.Peer] == nil {
			peers[r.Peer] = map[column]interop.Report{}
		}
		peers[r.Peer][column{r.Role, r.Path}] = r
	}
	var names []string
	for name := range peers {
		names = append(names, name)
	}
	slices.Sort(names)

	var b bytes.Buffer
	b.WriteString(head)
	b.WriteString("\n## In short\n\n| Peer | Its role | Path | Held | The peer can't |\n|---|---|---|---|---|\n")
	for _, name := range names {
		for _, c := range columns(peers[name]) {
			held, faults := 0, 0
			for _, r := range peers[name][c].Results {
				if r.OK {
					held++
				} else {
					faults++
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %d |\n", name, c.role, c.path, held, faults)
		}
	}
	for _, name := range names {
		renderPeer(&b, name, peers[name])
	}
	b.WriteString("\n" + notes)
	return b.Bytes()
}

func columns(of map[column]interop.Report) (all []column) {
	for _, role := range roles {
		for _, path := range paths {
			if _, ok := of[column{role, path}]; ok {
				all = append(all, column{role, path})
			}
		}
	}
	return all
}

func renderPeer(b *bytes.Buffer, name string, of map[column]interop.Report) {
	all := columns(of)
	fmt.Fprintf(b, "\n## %s\n\n| Case |", name)
	for _, c := range all {
		fmt.Fprintf(b, " %s |", c)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")

	var faults []string
	for _, row := range rows(of, all) {
		fmt.Fprintf(b, "| %s |", row)
		for _, c := range all {
			cell := ""
			if i := slices.IndexFunc(of[c].Results, func(r interop.Result) bool { return r.Case == row }); i >= 0 {
				cell = "yes"
				if why := of[c].Results[i].Fault; why != "" {
					n := slices.Index(faults, why)
					if n < 0 {
						n, faults = len(faults), append(faults, why)
					}
					cell = fmt.Sprintf("fault %d", n+1)
				}
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	if len(faults) > 0 {
		b.WriteString("\nFaults of the peer:\n\n")
		for i, why := range faults {
			fmt.Fprintf(b, "%d. %s\n", i+1, why)
		}
	}
}

// rows are the cases of a peer, in the order in which the columns tell them.
func rows(of map[column]interop.Report, all []column) (names []string) {
	last := func(name string) bool { return name == interop.Dissected }
	for _, c := range all {
		for _, r := range of[c].Results {
			if !slices.Contains(names, r.Case) && !last(r.Case) {
				names = append(names, r.Case)
			}
		}
	}
	return append(names, interop.Dissected)
}

// difference shows the first lines in which two pages differ.
func difference(have, want string) string {
	h, w := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range max(len(h), len(w)) {
		var a, b string
		if i < len(h) {
			a = h[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d says  %s\nit should be %s", i+1, a, b)
		}
	}
	return ""
}
