package script

import (
	"fmt"
	"strings"
)

// indent begins every recorded line, and only those.
const indent = "    "

// step is a line of a script that is not recorded: a comment, nothing, or a command.
type step struct {
	line int // from 1
	text string
}

// command reports whether the line does something.
func (s step) command() bool { return s.text != "" && s.text[0] != '#' }

// parse splits a script into its steps and leaves out what was recorded.
func parse(text string) ([]step, error) {
	var steps []step
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, indent) {
			if len(steps) == 0 || !steps[len(steps)-1].command() {
				return nil, fmt.Errorf("line %d: recorded output without a command", i+1)
			}
			continue
		}
		if line != strings.TrimSpace(line) {
			return nil, fmt.Errorf("line %d: neither a command nor recorded output", i+1)
		}
		steps = append(steps, step{line: i + 1, text: line})
	}
	return steps, nil
}

// Play plays a script and returns it with its output as it should have been
// recorded. An error names the line of a command that cannot be done, or whose
// expectation does not hold; what was played before it is returned as well.
func Play(text string) (string, error) {
	steps, err := parse(text)
	if err != nil {
		return "", err
	}
	w := newWorld()
	defer w.close()
	var out strings.Builder
	for _, s := range steps {
		out.WriteString(s.text + "\n")
		if !s.command() {
			continue
		}
		err := w.do(s.text)
		for _, line := range w.said() {
			out.WriteString(indent + line + "\n")
		}
		if err != nil {
			return out.String(), fmt.Errorf("line %d: %s: %w", s.line, s.text, err)
		}
	}
	if err := w.close(); err != nil {
		return out.String(), err
	}
	return out.String(), nil
}
