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
		libraries = slices.DeleteFunc(libraries, func(l string) bool { return !selected(p.Libraries, l) })
		for i := range libraries {
			c.Library = libraries[(i+run)%len(libraries)]
			cells = append(cells, c)
		}
	}
	bulk := func(size int, libraries ...string) {
		row(Cell{Work: Bulk, Size: size, Warm: 300 * time.Millisecond, Measure: time.Second}, libraries...)
	}
	bulk(sizeDatagram, udpSingle, udpBatch, udpOffload)
	bulk(size100, ours, boundName, tcp, tcpUnbuf, quicGo, kcpGo, sctpName, goRaknet, enetName)
	bulk(size1k, ours, boundName, tcp, tcpUnbuf, quicGo, kcpGo, sctpName, goRaknet, enetName, oursBatch, boundBatch, oursPlain, boundPlain)
	bulk(size10k, ours, boundName, tcp, quicGo, kcpGo, sctpName, goRaknet, enetName)
	bulk(size100k, ours, boundName, tcp, quicGo, kcpGo, sctpName, goRaknet, enetName)
	bulk(size1m, ours, boundName, tcp, quicGo, kcpGo, sctpName, enetName)
	ping := func(libraries ...string) {
		row(Cell{Work: Ping, Size: size100, Warm: 300 * time.Millisecond, Measure: 2 * time.Second}, libraries...)
	}
	ping(udpSingle, ours, oursHandlers, tcpUnbuf, quicGo, kcpGo, sctpName, goRaknet, enetName)
	for _, n := range []int{1, 16, 256} {
		row(Cell{Work: Connect, Count: n, Warm: 300 * time.Millisecond, Measure: 2 * time.Second}, ours, tcp, quicGo, kcpGo, goRaknet, enetName)
	}
	row(Cell{Work: Pong, Count: pingerCount, Warm: 300 * time.Millisecond, Measure: 2 * time.Second}, ours, rawEcho)
	for _, n := range []int{1000, 10000} {
		row(Cell{Work: Idle, Count: n, Reads: true, Warm: time.Second, Measure: 5 * time.Second}, ours)
	}
	row(Cell{Work: Players, Count: 200, Warm: time.Second, Measure: 4 * time.Second}, ours, goRaknet)
	row(Cell{Work: Players, Count: 1000, Warm: 2 * time.Second, Measure: 4 * time.Second}, ours)
	return cells
}

const pingerCount = 64

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
