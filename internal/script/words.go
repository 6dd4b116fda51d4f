package script

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// split cuts a line into words at spaces. Quotes, braces and angle brackets keep
// the spaces between them.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		end := byte(' ')
		switch line[0] {
		case '"':
			end = '"'
		case '{':
			end = '}'
		case '<':
			end = '>'
		}
		n := strings.IndexByte(line[1:], end) + 1
		switch {
		case n > 0 && end != ' ':
			n++
		case n == 0 && end == ' ':
			n = len(line)
		case n == 0:
			return nil, fmt.Errorf("no %c after %s", end, line)
		}
		words = append(words, line[:n])
		line = line[n:]
	}
	return words, nil
}

// fields are the words of the form key=value behind a command's or packet's name. Each
// use takes one away, so that what is left over at the end is a mistake.
type fields struct {
	values map[string]string
	plain  []string // words without =, in order
	err    error
}

func newFields(words []string) *fields {
	f := &fields{values: map[string]string{}}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok || strings.ContainsAny(key, "\"<{") {
			f.plain = append(f.plain, w)
			continue
		}
		f.values[key] = value
	}
	return f
}

func (f *fields) fail(key, value, what string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s=%s is not %s", key, value, what)
	}
}

// word takes the next word without =, or "".
func (f *fields) word() string {
	if len(f.plain) == 0 {
		return ""
	}
	w := f.plain[0]
	f.plain = f.plain[1:]
	return w
}

func (f *fields) has(key string) bool { _, ok := f.values[key]; return ok }

func (f *fields) text(key, otherwise string) string {
	v, ok := f.values[key]
	delete(f.values, key)
	if !ok {
		return otherwise
	}
	return v
}

func (f *fields) number(key string, otherwise int64) int64 {
	if !f.has(key) {
		return otherwise
	}
	v := f.text(key, "")
	n, err := strconv.ParseInt(v, 0, 64)
	if err != nil {
		f.fail(key, v, "a number")
	}
	return n
}

func (f *fields) duration(key string, otherwise time.Duration) time.Duration {
	if !f.has(key) {
		return otherwise
	}
	v := f.text(key, "")
	d, err := time.ParseDuration(v)
	if err != nil {
		f.fail(key, v, "a duration")
	}
	return d
}

func (f *fields) address(key string, otherwise netip.AddrPort) netip.AddrPort {
	if !f.has(key) {
		return otherwise
	}
	v := f.text(key, "")
	a, err := netip.ParseAddrPort(v)
	if err != nil {
		f.fail(key, v, "an address")
	}
	return a
}

// done reports the first mistake, or words that nobody asked for.
func (f *fields) done() error {
	if f.err != nil {
		return f.err
	}
	for key := range f.values {
		return fmt.Errorf("no such thing here: %s", key)
	}
	if len(f.plain) > 0 {
		return fmt.Errorf("no such thing here: %s", f.plain[0])
	}
	return nil
}
