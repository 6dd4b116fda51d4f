package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ResultsVariable names the environment variable with the directory into which results are written, one file for each pair and path.
const ResultsVariable = "RAKNET_INTEROP_RESULTS"

// A Result is what came of one case. Neither OK nor Fault: it failed.
type Result struct {
	Case  string `json:"case"`
	OK    bool   `json:"ok"`
	Fault string `json:"fault,omitempty"` // why the peer cannot do it
}

// A Report holds the results of a peer in a role over a path, in the order of the cases.
type Report struct {
	Peer    string   `json:"peer"`
	Role    string   `json:"role"`
	Path    string   `json:"path"`
	Results []Result `json:"results"`
}

// The roles of a peer opposite this library.
const (
	AsServer = "server"
	AsClient = "client"
	AsBoth   = "both"
)

type results struct {
	mu     sync.Mutex
	report Report
}

// newResults makes the results of a pair over a path, and writes them when t ends if somebody asked for that.
func newResults(t testing.TB, p Pair, path Path) *results {
	r := &results{report: Report{Peer: p.Row, Role: p.Role, Path: path.Name}}
	dir := os.Getenv(ResultsVariable)
	switch {
	case p.Row != "":
	case p.Listener.Name() == OursName:
		r.report.Peer, r.report.Role = p.Dialer.Name(), AsClient
	case p.Dialer.Name() == OursName:
		r.report.Peer, r.report.Role = p.Listener.Name(), AsServer
	default:
		return r // the peers among themselves
	}
	if dir == "" {
		return r
	}
	t.Cleanup(func() {
		order := names(p.Cases)
		slices.SortFunc(r.report.Results, func(a, b Result) int { return slices.Index(order, a.Case) - slices.Index(order, b.Case) })
		b, err := json.MarshalIndent(r.report, "", "\t")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, r.report.fileName()), append(b, '\n'), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r Report) fileName() string {
	clean := strings.NewReplacer("/", "-", " ", "-", "@", "")
	return clean.Replace(r.Peer+" "+r.Role+" "+r.Path) + ".json"
}

func (r *results) note(name string, result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	result.Case = name
	r.report.Results = append(r.report.Results, result)
}

// Absent notes that a peer does not exist in a role: none of the cases that every peer is asked for can be held.
func Absent(t testing.TB, peer, role, why string) {
	for _, path := range []Path{Clean, Lossy} {
		r := newResults(t, Pair{Row: peer, Role: role, Cases: Basics()}, path)
		for _, name := range names(Basics()) {
			if name != Dissected {
				r.note(name, Result{Fault: why})
			}
		}
	}
}
