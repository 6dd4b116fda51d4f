package netsim

import (
	"fmt"
	"strings"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// trace is a ring of the last things that happened, in words. A World has none unless
// somebody wants to know: equal scenarios happen equally, so that a failure can be
// looked at in a second run.
type trace struct {
	lines []string
	next  int
	full  bool
}

func newTrace(n int) *trace { return &trace{lines: make([]string, max(n, 1))} }

func (t *trace) add(line string) {
	t.lines[t.next] = line
	t.next++
	if t.next == len(t.lines) {
		t.next, t.full = 0, true
	}
}

func (t *trace) tail() []string {
	if t == nil {
		return nil
	}
	if !t.full {
		return t.lines[:t.next]
	}
	return append(append([]string(nil), t.lines[t.next:]...), t.lines[:t.next]...)
}

// note adds a line to the trace. Callers ask whether there is one first: that keeps the
// arguments from being made.
func (w *World) note(format string, args ...any) {
	w.trace.add(fmt.Sprintf("%14v  ", w.now.Sub(startTime)) + fmt.Sprintf(format, args...))
}

// noteRecords adds to the trace what the engine has written down since, but for what the
// datagrams themselves tell.
func (p *peer) noteRecords() {
	if p.trace == nil {
		return
	}
	older, newer := p.trace.Records()
	for _, part := range [][]arq.TraceRecord{older, newer} {
		for i := range part {
			switch r := &part[i]; r.Kind {
			case arq.TraceSent, arq.TraceReceived, arq.TraceAcked, arq.TraceNacked, arq.TraceMetrics:
			default:
				p.w.note("%s: %v", p, r)
			}
		}
	}
	p.trace.Clear()
}

// arrivals says what a path made of a datagram.
func arrivals(now monotime.Time, list []Arrival) string {
	if len(list) == 0 {
		return " (lost)"
	}
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, " (in %v)", a.At.Sub(now))
	}
	return b.String()
}

// describe says in terms of the protocol what a datagram is.
func describe(data []byte) string {
	switch wire.Classify(data) {
	case wire.KindACK:
		return "ACK" + describeRanges(data)
	case wire.KindNACK:
		return "NACK" + describeRanges(data)
	case wire.KindFrameSet:
		return describeFrames(data)
	case wire.KindOffline:
		return fmt.Sprintf("%v, %d bytes", protocol.ID(data[0]), len(data))
	}
	return fmt.Sprintf("%d bytes: %x", len(data), data)
}

func describeRanges(data []byte) string {
	it, err := wire.ParseRanges(data)
	if err != nil {
		return " malformed"
	}
	var b strings.Builder
	for r, ok := it.Next(); ok; r, ok = it.Next() {
		if r.First == r.Last {
			fmt.Fprintf(&b, " %d", r.First)
		} else {
			fmt.Fprintf(&b, " %d-%d", r.First, r.Last)
		}
	}
	return b.String()
}

func describeFrames(data []byte) string {
	number, frames, _ := wire.ParseDatagramHeader(data)
	var b strings.Builder
	fmt.Fprintf(&b, "datagram %d, %d bytes:", number, len(data))
	it := wire.Frames(frames)
	var f wire.Frame
	for n := 0; it.Next(&f); n++ {
		if n == 6 {
			b.WriteString(" ...")
			break
		}
		fmt.Fprintf(&b, " [%v", f.Reliability)
		if f.Reliability.IsReliable() {
			fmt.Fprintf(&b, " index %d", f.Reliable)
		}
		if f.Reliability.IsSequenced() {
			fmt.Fprintf(&b, " sequence %d", f.Sequence)
		}
		if f.Reliability.HasChannel() {
			fmt.Fprintf(&b, " order %d channel %d", f.Order, f.Channel)
		}
		switch {
		case f.Split:
			fmt.Fprintf(&b, " split %d part %d of %d", f.SplitID, f.SplitIndex+1, f.SplitCount)
		case protocol.ID(f.Payload[0]).IsControl():
			fmt.Fprintf(&b, " %v", protocol.ID(f.Payload[0]))
		}
		fmt.Fprintf(&b, " %d bytes]", len(f.Payload))
	}
	if it.Err() != nil {
		fmt.Fprintf(&b, " (%v)", it.Err())
	}
	return b.String()
}
