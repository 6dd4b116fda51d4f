package arq

import (
	"strings"
	"testing"

	"github.com/raknet-go/raknet/internal/monotime"
)

// numbers returns what a ring holds, by Number.
func (r *TraceRing) numbers() (list []int64) {
	older, newer := r.Records()
	for _, part := range [][]TraceRecord{older, newer} {
		for i := range part {
			list = append(list, part[i].Number)
		}
	}
	return list
}

func (r *TraceRing) note(n int64) { *r.push() = TraceRecord{Number: n} }

func from(lo, hi int64) (list []int64) {
	for ; lo < hi; lo++ {
		list = append(list, lo)
	}
	return list
}

func TestARingKeepsTheLatestRecords(t *testing.T) {
	r := NewTraceRing(200) // which is 256
	if r.last() != nil || r.Len() != 0 || len(r.numbers()) != 0 {
		t.Error("a new ring is not empty")
	}
	for n := range int64(1000) {
		r.note(n)
		if want := from(max(n-255, 0), n+1); !equal(r.numbers(), want) || r.Len() != len(want) {
			t.Fatalf("after %d the ring holds %v", n, r.numbers())
		}
		if r.last().Number != n || r.Overwritten() != uint64(max(n-255, 0)) {
			t.Fatalf("after %d: the last is %d, %d were overwritten", n, r.last().Number, r.Overwritten())
		}
	}
}

func TestARingIsEmptiedWithoutCopying(t *testing.T) {
	r, o := NewTraceRing(64), NewTraceRing(64)
	for n := range int64(70) {
		r.note(n)
	}
	at := r.last()
	r.MoveTo(o)
	if !equal(o.numbers(), from(6, 70)) || o.Overwritten() != 6 || o.last() != at {
		t.Errorf("what was moved: %v, %d overwritten", o.numbers(), o.Overwritten())
	}
	if r.Len() != 0 || r.Overwritten() != 0 {
		t.Errorf("%d records are left, %d overwritten", r.Len(), r.Overwritten())
	}
	t.Logf("# the next records go into the other storage, and leave what was moved alone")
	r.note(70)
	if !equal(o.numbers(), from(6, 70)) || !equal(r.numbers(), from(70, 71)) {
		t.Errorf("moved %v, there %v", o.numbers(), r.numbers())
	}
	r.MoveTo(o)
	if !equal(o.numbers(), from(70, 71)) || o.Overwritten() != 0 {
		t.Errorf("then moved %v, %d overwritten", o.numbers(), o.Overwritten())
	}
}

func TestARingGivesBackWhatABurstLeft(t *testing.T) {
	r, o := NewTraceRing(4096), NewTraceRing(4096)
	for n := range int64(2000) {
		r.note(n)
	}
	for range 4 * slackRounds {
		r.note(0)
		r.MoveTo(o)
	}
	if len(r.slots)+len(o.slots) > 2*leastTrace {
		t.Errorf("rings that hold one record at a time have room for %d and %d", len(r.slots), len(o.slots))
	}
}

func TestARecordSaysWhatItIsInWords(t *testing.T) {
	for k := range TraceKind(len(traceKinds)) {
		r := TraceRecord{Kind: k, Number: 12345, Count: 1, Bytes: 678, Class: DatagramFrames}
		if s := r.String(); !strings.HasPrefix(s, k.String()) || k > 0 && k.String() == traceKinds[0] {
			t.Errorf("kind %d: %s", k, s)
		}
	}
	for _, c := range []struct {
		r    TraceRecord
		want string
	}{
		{TraceRecord{Kind: TraceSent, Number: -1, Bytes: 7, Class: DatagramACK}, "sent ACK, 7 bytes"},
		{TraceRecord{Kind: TraceSent, Number: 9, Bytes: 700, Class: DatagramResent, InFlight: 1400, Resent: 2, Repeated: 1, Probe: true},
			"sent resent frame set, 700 bytes, number 9, 1400 in flight, 2 frames resent, 1 repeated, probe true"},
		{TraceRecord{Kind: TraceDiscarded, Number: 4, Bytes: 60, Class: DatagramFrames, Verdict: VerdictDuplicate},
			"discarded frame set, 60 bytes, number 4, duplicate"},
		{TraceRecord{Kind: TraceAcked, Number: 4, Count: 3, Bytes: 60}, "acknowledged 4 to 6, 60 bytes"},
		{TraceRecord{Kind: TraceLost, Number: 4, Bytes: 60, Reason: LossNack, InFlight: 5}, "lost 4 by NACK, 60 bytes, 5 in flight"},
		{TraceRecord{Kind: TracePhase, Phase: PhaseDrain}, "phase drain"},
		{TraceRecord{Kind: TraceTimeout, Count: 2}, "timeout 2"},
		{TraceRecord{Kind: 99, Number: -1}, "number 99 0"},
	} {
		if s := c.r.String(); s != c.want {
			t.Errorf("%q, want %q", s, c.want)
		}
	}
}

func BenchmarkTraceRecord(b *testing.B) {
	r := NewTraceRing(4096)
	tr := tracer{ring: r}
	b.ReportAllocs()
	for n := int64(0); b.Loop(); n++ {
		tr.record(monotime.Time(n), TraceSent).Number = n
	}
}
