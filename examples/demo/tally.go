package main

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/raknet-go/raknet"
)

// messageSize is the length of each message: about what a player's movement takes.
const messageSize = 120

// appendMessage appends the n-th message of a client in a mode, with the time of sending.
func appendMessage(dst []byte, client, mode int, n uint32, sent time.Duration) []byte {
	dst = append(dst, 0xfe, byte(client), byte(mode))
	dst = binary.BigEndian.AppendUint32(dst, n)
	dst = binary.BigEndian.AppendUint64(dst, uint64(sent))
	return append(dst, make([]byte, messageSize-len(dst))...)
}

var errGarbled = errors.New("a message arrived garbled")

func parseMessage(b []byte) (client, mode int, n uint32, sent time.Duration, err error) {
	if len(b) != messageSize || b[0] != 0xfe || b[2] >= modes {
		return 0, 0, 0, 0, errGarbled
	}
	return int(b[1]), int(b[2]), binary.BigEndian.Uint32(b[3:]), time.Duration(binary.BigEndian.Uint64(b[7:])), nil
}

// modes is the number of delivery modes.
const modes = 8

// row is what the table says of one mode, over all clients.
type row struct {
	sent, arrived int
	gaps          int // not arrived although something newer has
	twice         int // arrived again
	overtaken     int // arrived after something newer
	receipts      int
	p50, p99      time.Duration
	broken        string // how the mode's promise was broken
}

// stream is what arrived of one client in one mode.
type stream struct {
	seen    []bool
	newest  int // -1: nothing yet
	arrived int
	acked   []uint32
}

// tally counts one mode and watches over its promise.
type tally struct {
	mode raknet.Reliability

	mu      sync.Mutex
	row     row
	streams []stream
	took    []time.Duration
}

func newTally(mode raknet.Reliability, clients int) *tally {
	t := &tally{mode: mode, streams: make([]stream, clients)}
	for i := range t.streams {
		t.streams[i].newest = -1
	}
	return t
}

func (t *tally) sent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row.sent++
}

func (t *tally) arrived(client int, n uint32, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if client >= len(t.streams) {
		t.breaks("a message of no client arrived")
		return
	}
	s := &t.streams[client]
	for len(s.seen) <= int(n) {
		s.seen = append(s.seen, false)
	}
	if s.seen[n] {
		t.row.twice++
		t.breaks("a message arrived twice")
		return
	}
	s.seen[n] = true
	s.arrived++
	t.row.arrived++
	t.took = append(t.took, took)
	if int(n) < s.newest {
		t.row.overtaken++
		if t.mode.IsOrdered() || t.mode.IsSequenced() {
			t.breaks("a message arrived out of order")
		}
		return
	}
	if t.mode.IsOrdered() && int(n) != s.newest+1 {
		t.breaks("a message was left out")
	}
	s.newest = int(n)
}

// receipt notes what a receipt said of a message.
func (t *tally) receipt(client int, n uint32, acked bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row.receipts++
	if acked {
		t.streams[client].acked = append(t.streams[client].acked, n)
	} else if t.mode.IsReliable() {
		t.breaks("a reliable message was reported lost")
	}
}

// complete reports whether, of the given number of messages, everything was sent and
// has arrived that has to, and every receipt has come.
func (t *tally) complete(total int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.missing(total) == ""
}

// missing says what complete waits for.
func (t *tally) missing(total int) string {
	switch {
	case t.row.sent < total:
		return "not everything was sent"
	case t.mode.WithReceipt() && t.row.receipts < t.row.sent:
		return "a receipt never came"
	case t.mode == raknet.ReliableSequenced:
		for _, s := range t.streams {
			if s.newest != total/len(t.streams)-1 {
				return "the last message never arrived"
			}
		}
	case t.mode.IsReliable() && t.row.arrived < t.row.sent:
		return "a reliable message never arrived"
	}
	return ""
}

// end checks what has to hold once nothing is on its way any more.
func (t *tally) end(total int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if what := t.missing(total); what != "" {
		t.breaks(what)
	}
	for _, s := range t.streams {
		for _, n := range s.acked {
			if int(n) >= len(s.seen) || !s.seen[n] {
				t.breaks("a message was acknowledged and never arrived")
			}
		}
	}
}

func (t *tally) breaks(how string) {
	if t.row.broken == "" {
		t.row.broken = how
	}
}

func (t *tally) snapshot() row {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.row
	for i := range t.streams {
		r.gaps += t.streams[i].newest + 1 - t.streams[i].arrived
	}
	if len(t.took) > 0 {
		sorted := slices.Clone(t.took)
		slices.Sort(sorted)
		r.p50, r.p99 = sorted[len(sorted)/2], sorted[len(sorted)*99/100]
	}
	return r
}
