package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/raknet-go/raknet"
)

// screen draws the table: again and again in place on a terminal, once at the end
// elsewhere, with a line now and then to show that something happens.
type screen struct {
	out   io.Writer
	live  bool
	lines int // drawn before, to go back over
	set   settings
}

func newScreen(out io.Writer, live bool, s settings) *screen {
	sc := &screen{out: out, live: live, set: s}
	l := s.link
	fmt.Fprintf(out, "One server, %d clients. Every datagram of theirs crosses a link with %.0f%% loss, %v delay (+ up to %v),\n"+
		"%.0f%% doubled and %.0f%% overtaken. Each client sends %d messages a second in each of the eight delivery modes.\n\n",
		s.clients, l.Loss*100, l.Delay, l.Jitter, l.Duplicate*100, l.Reorder*100, s.rate)
	return sc
}

func (sc *screen) interval() time.Duration {
	if sc.live {
		return 100 * time.Millisecond
	}
	return 2 * time.Second
}

// draw shows how things stand.
func (sc *screen) draw(p picture) {
	if sc.live {
		sc.redraw(sc.table(p, false))
		return
	}
	sent, arrived := 0, 0
	for _, r := range p.rows {
		sent += r.sent
		arrived += r.arrived
	}
	fmt.Fprintf(sc.out, "%s  %d messages sent, %d arrived, %d frames resent\n", bar(p), sent, arrived, p.resent)
}

// finish shows the end.
func (sc *screen) finish(p picture) {
	if !sc.live {
		fmt.Fprintln(sc.out)
	}
	sc.redraw(sc.table(p, true))
}

// redraw writes text over what redraw wrote before.
func (sc *screen) redraw(text []byte) {
	if !sc.live {
		sc.out.Write(text)
		return
	}
	var b bytes.Buffer
	if sc.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", sc.lines)
	}
	b.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\x1b[K\n")))
	sc.lines = bytes.Count(text, []byte("\n"))
	sc.out.Write(b.Bytes())
}

// bar is the progress: of the sending, then of the last messages arriving.
func bar(p picture) string {
	const width = 30
	share := min(float64(p.elapsed)/float64(p.total), 1)
	full := int(share * width)
	return fmt.Sprintf("[%s%s] %3.0f%%", strings.Repeat("#", full), strings.Repeat(".", width-full), share*100)
}

func (sc *screen) table(p picture, end bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-30s %7s %8s %6s %9s %6s %10s %8s %8s  %s\n",
		"delivery mode", "sent", "arrived", "lost", "outdated", "twice", "overtaken", "p50", "p99", "promise")
	for i, r := range p.rows {
		mode := raknet.Reliability(i)
		lost, outdated := missing(mode, r, p)
		promise := "..."
		switch {
		case r.broken != "":
			promise = "BROKEN: " + r.broken
		case end:
			promise = "kept"
		}
		fmt.Fprintf(&b, "%-30s %7d %8d %6d %9d %6d %10d %8s %8s  %s\n",
			mode, r.sent, r.arrived, lost, outdated, r.twice, r.overtaken, millis(r.p50), millis(r.p99), promise)
	}
	fmt.Fprintf(&b, "\nnetwork: %d datagrams, %d lost, %d doubled    recovery: %d frames resent    round trip: %s\n",
		p.datagrams, p.lost, p.doubled, p.resent, millis(p.rtt))
	if end {
		fmt.Fprintf(&b, "Reliable modes lose nothing, ordered ones let nothing overtake, sequenced ones drop what is outdated, no mode delivers twice.\n")
	} else {
		fmt.Fprintf(&b, "%s\n", bar(p))
	}
	return b.Bytes()
}

// missing splits what has not arrived into lost and outdated. What a reliable mode
// has not delivered yet is on its way; of the sequenced modes the receiver counts the
// outdated ones together.
func missing(mode raknet.Reliability, r row, p picture) (lost, outdated int) {
	switch mode {
	case raknet.ReliableSequenced:
		return 0, r.gaps
	case raknet.UnreliableSequenced:
		outdated = min(max(p.outdated-p.rows[raknet.ReliableSequenced].gaps, 0), r.gaps)
		return r.gaps - outdated, outdated
	}
	if mode.IsReliable() {
		return 0, 0
	}
	return r.gaps, 0
}

func millis(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
}
