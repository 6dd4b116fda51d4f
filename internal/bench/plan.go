package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Plan is what is measured.
type Plan struct {
	Runs                    int
	Quick                   bool
	Works, Sizes, Libraries string // lists to choose from what there is; empty: all
	Profile                 string
	Time                    time.Duration // of each measurement; zero: as the plan says
}

// The sizes of messages.
const (
	size100  = 100
	size1k   = 1 << 10
	size10k  = 10 << 10
	size100k = 100 << 10
	size1m   = 1 << 20
	// sizeDatagram is what bare sockets send.
	sizeDatagram = 1460
)

const pingerCount = 64

// rareRuns is in how many of the runs the long measurements are made.
const rareRuns = 3

// slowRivals are left out of quick runs.
var slowRivals = []string{oursNarrow, narrowBatch, tcpUnbuf, kcpGo, sctpName, udpSingle, udpBatch}

// cells returns what a run measures, in order. The libraries take turns in every row, and in
// every run another begins.
func (p *Plan) cells(run int) (cells []Cell) {
	row := func(c Cell, libraries ...string) {
		c.Profile, c.Run = p.Profile, run
		if p.Time > 0 {
			c.Measure = p.Time
		}
		if !chosen(p.Works, string(c.Work)) || c.Work == Bulk && !chosen(p.Sizes, strconv.Itoa(c.Size)) {
			return
		}
		libraries = slices.DeleteFunc(libraries, func(l string) bool {
			return !selected(p.Libraries, l) || p.Quick && slices.Contains(slowRivals, l) && !(c.Work == Ping && l == udpSingle)
		})
		for i := range libraries {
			c.Library = libraries[(i+run)%len(libraries)]
			cells = append(cells, c)
		}
	}
	p.bulk(row)
	if p.Quick {
		p.quick(row, run)
		return cells
	}
	row(Cell{Work: Ping, Size: size100, Warm: shortWarm, Measure: 2 * time.Second},
		ours, oursHandlers, udpSingle, tcpUnbuf, quicGo, kcpGo, sctpName, goRaknet, enetName)
	for _, n := range []int{1, 16, 256} {
		row(Cell{Work: Connect, Count: n, Warm: shortWarm, Measure: 2 * time.Second}, ours, bareUDP, tcp, quicGo, kcpGo, goRaknet, enetName)
	}
	row(Cell{Work: Pong, Count: pingerCount, Warm: shortWarm, Measure: 2 * time.Second}, ours, rawEcho)
	if run >= rareRuns {
		return cells
	}
	for _, reads := range []bool{true, false} {
		row(Cell{Work: Idle, Count: 1000, Reads: reads, Warm: time.Second, Measure: 10 * time.Second}, ours)
	}
	if run == 0 {
		row(Cell{Work: Idle, Count: 10000, Reads: true, Warm: time.Second, Measure: 10 * time.Second}, ours)
	}
	row(Cell{Work: Players, Count: 200, Warm: 2 * time.Second, Measure: 5 * time.Second}, ours, bareUDP, goRaknet)
	row(Cell{Work: Players, Count: 1000, Warm: 2 * time.Second, Measure: 5 * time.Second}, ours, bareUDP)
	return cells
}

const shortWarm = 300 * time.Millisecond

// bulk lists the messages of all sizes.
func (p *Plan) bulk(row func(Cell, ...string)) {
	bulk := func(size int, libraries ...string) {
		c := Cell{Work: Bulk, Size: size, Warm: shortWarm, Measure: time.Second}
		if p.Quick {
			c.Measure = 500 * time.Millisecond
		}
		row(c, libraries...)
	}
	bulk(sizeDatagram, udpOffload, udpBatch, udpSingle)
	most := []string{ours, oursNarrow, boundName, tcp}
	others := []string{quicGo, kcpGo, sctpName, goRaknet, enetName}
	if p.Quick {
		others = []string{quicGo}
	}
	bulk(size100, slices.Concat(most, []string{tcpUnbuf}, others)...)
	at1k := slices.Concat(most, []string{tcpUnbuf}, others)
	if p.Quick {
		at1k = append(at1k, enetName)
	}
	bulk(size1k, append(at1k, oursBatch, narrowBatch, boundBatch, oursPlain, boundPlain)...)
	if p.Quick {
		others = nil
	}
	bulk(size10k, slices.Concat(most, others)...)
	if p.Quick {
		others = []string{quicGo}
	}
	bulk(size100k, slices.Concat(most, others)...)
	if p.Quick {
		return
	}
	// go-raknet takes no message of a megabyte.
	bulk(size1m, ours, oursNarrow, boundName, tcp, quicGo, kcpGo, sctpName, enetName)
}

// quick lists what is measured beside bulk in a quick run: what there is a requirement for.
func (p *Plan) quick(row func(Cell, ...string), run int) {
	row(Cell{Work: Ping, Size: size100, Warm: shortWarm, Measure: time.Second}, ours, oursHandlers, udpSingle)
	row(Cell{Work: Connect, Count: 16, Warm: shortWarm, Measure: time.Second}, ours, tcp)
	row(Cell{Work: Pong, Count: pingerCount, Warm: shortWarm, Measure: time.Second}, ours, rawEcho)
	if run > 0 {
		return
	}
	row(Cell{Work: Idle, Count: 1000, Reads: true, Warm: time.Second, Measure: 5 * time.Second}, ours)
	row(Cell{Work: Players, Count: 200, Warm: time.Second, Measure: 3 * time.Second}, ours, goRaknet)
	row(Cell{Work: Players, Count: 1000, Warm: time.Second, Measure: 3 * time.Second}, ours)
}

// chosen reports whether a list has a word. An empty one has all.
func chosen(list, word string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), word)
}

// selected reports whether a list names a library, by its name in small letters.
func selected(list, name string) bool {
	return list == "" || slices.ContainsFunc(strings.Split(list, ","), func(l string) bool {
		return strings.EqualFold(l, name) || strings.HasPrefix(strings.ToLower(name), strings.ToLower(l))
	})
}

// line says in a line what came of a measurement.
func (r *Result) line() string {
	c := &r.Cell
	s := fmt.Sprintf("%s %d %s:", c.Work, max(c.Size, c.Count), c.Library)
	for _, m := range []string{mRate, mMessages, mCPU, mServerGB, mAllocs, mPerSecond, mP50, mP99, mP999, mMax, mServerUS, mSrvAllocs, mHeap, mStack, mRSS, mServerCPU, mClientCPU, mOthers} {
		if v, ok := r.Values[m]; ok {
			s += fmt.Sprintf(" %s %.4g,", m, v)
		}
	}
	if r.Skipped != "" {
		s += " skipped: " + r.Skipped
	}
	if r.Error != "" {
		s += " FAILED: " + r.Error
	}
	return s + " " + r.Note
}
