package qlog

import (
	"encoding/json"
	"strconv"
	"time"
)

// open begins an event: what follows are the members of its data.
func (t *trace) open(at time.Time, name string) {
	t.b = append(t.b, "\x1e{\"time\":"...)
	t.b = appendMillis(t.b, at.Sub(t.start))
	t.b = append(t.b, `,"name":"`...)
	t.b = append(t.b, name...)
	t.b = append(t.b, `","data":{`...)
}

// close ends an event.
func (t *trace) close() { t.b = append(t.b, "}}\n"...) }

// key begins a member.
func (t *trace) key(name string) {
	if t.b[len(t.b)-1] != '{' {
		t.b = append(t.b, ',')
	}
	t.b = append(t.b, '"')
	t.b = append(t.b, name...)
	t.b = append(t.b, `":`...)
}

// text writes a member that is a word of this package's, which needs no escaping.
func (t *trace) text(key, word string) {
	t.key(key)
	t.b = append(t.b, '"')
	t.b = append(t.b, word...)
	t.b = append(t.b, '"')
}

func (t *trace) number(key string, n int64) {
	t.key(key)
	t.b = strconv.AppendInt(t.b, n, 10)
}

// whole writes an event of which there is one in a trace, with data that is a struct.
func (t *trace) whole(at time.Time, name string, data any) {
	t.open(at, name)
	t.b = append(t.b[:len(t.b)-1], appendJSON(nil, data)...)
	t.b = append(t.b, "}\n"...)
}

// appendJSON is for what is written once: what is written often needs no reflection.
func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of strings and numbers
	}
	return append(b, text...)
}

// appendMillis appends a duration in milliseconds, to the microsecond.
func appendMillis(b []byte, d time.Duration) []byte {
	us := d.Microseconds()
	if us < 0 {
		b = append(b, '-')
		us = -us
	}
	b = strconv.AppendInt(b, us/1000, 10)
	if us %= 1000; us > 0 {
		b = append(b, '.', byte('0'+us/100), byte('0'+us/10%10), byte('0'+us%10))
	}
	return b
}
