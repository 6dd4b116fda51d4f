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
	fmt.Fprintf(out, "A server and %d clients, over a link that loses %.0f%% of all datagrams, takes\n"+
		"%v and up to %v more, doubles %.0f%% and lets %.0f%% be overtaken. Each client\n"+
		"sends %d messages a second in each of RakNet's eight delivery modes.\n\n",
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

// table fits a terminal of 80 columns: a line that wraps could not be redrawn in place.
func (sc *screen) table(p picture, end bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-26s%5s%8s%5s%5s%6s%6s%5s%5s %s\n",
		"delivery mode", "sent", "arrived", "lost", "late", "mixed", "twice", "p50", "p99", "promise")
	for i, r := range p.rows {
		mode := raknet.Reliability(i)
		lost, late := missing(mode, r, p)
		promise := "..."
		switch {
		case r.broken != "":
			promise = "BROKEN"
		case end:
			promise = "kept"
		}
		fmt.Fprintf(&b, "%-26s%5d%8d%5d%5d%6d%6d%5d%5d %s\n",
			strings.Replace(mode.String(), "with", "+", 1), r.sent, r.arrived, lost, late, r.overtaken, r.twice,
			r.p50.Milliseconds(), r.p99.Milliseconds(), promise)
	}
	fmt.Fprintf(&b, "\nnetwork: %d datagrams, %d lost, %d doubled, round trip %d ms\n", p.datagrams, p.lost, p.doubled, p.rtt.Milliseconds())
	fmt.Fprintf(&b, "recovery: %d frames sent again\n", p.resent)
	if !end {
		fmt.Fprintf(&b, "%s\n\n\n", bar(p))
		return b.Bytes()
	}
	fmt.Fprint(&b, "late: dropped, a newer one had arrived; mixed: overtaken by a newer one; p50,\n"+
		"p99: ms from Send to Receive. Reliable modes lose nothing, ordered ones mix\n"+
		"nothing up, sequenced ones deliver nothing late, and none delivers twice.\n")
	return b.Bytes()
}

// missing splits what has not arrived into lost and dropped for being late. What a
// reliable mode has not delivered yet is on its way; of the sequenced modes the
// receiver counts the late ones together.
func missing(mode raknet.Reliability, r row, p picture) (lost, late int) {
	switch mode {
	case raknet.ReliableSequenced:
		return 0, r.gaps
	case raknet.UnreliableSequenced:
		late = min(max(p.outdated-p.rows[raknet.ReliableSequenced].gaps, 0), r.gaps)
		return r.gaps - late, late
	}
	if mode.IsReliable() {
		return 0, 0
	}
	return r.gaps, 0
}
