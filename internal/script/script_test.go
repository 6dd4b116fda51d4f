package script

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "record the transcripts anew")

const scripts = "../../testdata/script"

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(scripts, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", scripts, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Play(string(text))
			if err != nil {
				t.Errorf("%s: %v\nplayed so far:\n%s", filepath.Base(file), err, got)
				return
			}
			if got == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Error(difference(string(text), got))
		})
	}
}

// difference shows the first line that differs, below what led to it.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	at := 0
	for at < len(w) && at < len(g) && w[at] == g[at] {
		at++
	}
	line := func(l []string) string {
		if at < len(l) {
			return l[at]
		}
		return "(the end)"
	}
	return "from line " + strconv.Itoa(at+1) + " on the transcript is another (-update records it):\n" +
		strings.Join(w[max(0, at-5):at], "\n") + "\n- " + line(w) + "\n+ " + line(g)
}
