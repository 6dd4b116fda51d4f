package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/raknet-go/raknet/internal/interop"
)

func write(t *testing.T, dir, name string, r interop.Report) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestThePageTellsWhatWasHeldAndWhyNot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.json", interop.Report{Peer: "some peer", Role: interop.AsServer, Path: "clean", Results: []interop.Result{
		{Case: "ping", OK: true}, {Case: "echo", Fault: "it is mute"}, {Case: interop.Dissected, OK: true},
	}})
	write(t, dir, "b.json", interop.Report{Peer: "some peer", Role: interop.AsClient, Path: "lossy", Results: []interop.Result{
		{Case: "ping", OK: true}, {Case: "idle", OK: true},
	}})
	page := filepath.Join(dir, "page.md")
	args := []string{"-results", dir, "-page", page}
	if err := run(args, io.Discard); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| some peer | server | clean | 2 | 1 |",
		"| Case | server, clean | client, lossy |",
		"| ping | yes | yes |", "| echo | fault 1 |  |", "| idle |  | yes |", "1. it is mute",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the page does not say %q:\n%s", want, b)
		}
	}
	if err := run(append(args, "-check"), io.Discard); err != nil {
		t.Errorf("the page that was just made is refused: %v", err)
	}

	write(t, dir, "b.json", interop.Report{Peer: "some peer", Role: interop.AsClient, Path: "lossy", Results: []interop.Result{
		{Case: "ping", Fault: "it sleeps"}, {Case: "idle", OK: true},
	}})
	if err := run(append(args, "-check"), io.Discard); err == nil {
		t.Error("a page with other results passes")
	}
	write(t, dir, "b.json", interop.Report{Peer: "some peer", Role: interop.AsClient, Path: "lossy", Results: []interop.Result{{Case: "ping"}}})
	if err := run(args, io.Discard); err == nil {
		t.Error("a failure makes a page")
	}
}

func TestWithoutResultsThereIsNoPage(t *testing.T) {
	if err := run([]string{"-results", t.TempDir()}, io.Discard); err == nil {
		t.Error("no results make a page")
	}
}
