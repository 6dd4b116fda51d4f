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

// Whoever opens a transcript reads first what it shows, and who else does it so.
func TestTranscriptsSayWhatTheyShow(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(scripts, "*.txt"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(string(text), "\n\n")
		lines := strings.Split(head, "\n")
		source := false
		for _, l := range lines {
			if !strings.HasPrefix(l, "# ") {
				t.Errorf("%s: %q stands in its head", filepath.Base(file), l)
			}
			source = source || strings.HasPrefix(l, "# Source: ")
		}
		if len(lines) < 2 || len(lines) > 4 || !source {
			t.Errorf("%s has a head of %d lines, or no source", filepath.Base(file), len(lines))
		}
		if !strings.Contains(rest, "\n"+indent) {
			t.Errorf("%s records nothing", filepath.Base(file))
		}
	}
}

func TestOutputIsLeftOutAndRecordedAnew(t *testing.T) {
	const story = "# A comment.\n\nlisten\ninject s request1 mtu=300\n    something old\n"
	got, err := Play(story)
	want := "# A comment.\n\nlisten\ninject s request1 mtu=300\n" +
		"        0.00 *->s  request1 version=11 mtu=300\n        0.00 s     drops it: small mtu\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if again, err := Play(got); err != nil || again != got {
		t.Errorf("played again it is another: %v\n%s", err, again)
	}
}

func TestMistakesNameTheirLine(t *testing.T) {
	for story, want := range map[string]string{
		"connect\nexpect s got \"x\"\n":            "line 2: expect s got \"x\": is []",
		"connect\nexpect s state handshaking\n":    "line 2: expect s state handshaking: is [connected]",
		"connect\nsend c reliable wrong=1 \"x\"\n": "line 2: send c reliable wrong=1 \"x\": no such thing here: wrong",
		"\nnonsense c\n":                           "line 2: nonsense c: c has no connection",
		"close s\n":                                "line 1: close s: s has no connection",
		"listen\ndrop c some\n":                    "line 2: drop c some: \"some\" is neither a number of datagrams nor all",
		"  listen\n":                               "line 1: neither a command nor recorded output",
		"    0.00 c\n":                             "line 1: recorded output without a command",
	} {
		if _, err := Play(story); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", story, err, want)
		}
	}
}
