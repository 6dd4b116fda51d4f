package arq

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// traced is a lossTest whose engine is traced.
type traced struct {
	*lossTest
	ring *TraceRing
}

func newTraced(t testing.TB, c Config) *traced {
	ring := NewTraceRing(1 << 14)
	c.Trace = ring
	if c.Controller == nil {
		c.Controller = NewFixed(16)
	}
	return &traced{newLossTest(t, c), ring}
}

// wantEvents checks what was recorded since it was called last, metrics left out.
// Datagram numbers count from the engine's first.
func (l *traced) wantEvents(what string, want ...string) {
	l.t.Helper()
	var got []string
	for _, r := range l.records() {
		if r.Kind != TraceMetrics {
			if r.Number >= 0 {
				r.Number -= l.first
			}
			got = append(got, r.String())
		}
	}
	if !slices.Equal(got, want) {
		l.t.Fatalf("%s:\n%q, want\n%q", what, got, want)
	}
}

// records takes what was recorded.
func (l *traced) records() []TraceRecord {
	older, newer := l.ring.Records()
	all := append(slices.Clone(older), newer...)
	l.ring.Clear()
	return all
}

// begin settles the round trip and forgets what that left.
func (l *traced) begin(rtt time.Duration) (n, r int64) {
	l.t.Helper()
	n = l.settleRTT(rtt)
	l.records()
	return n, l.e.nextReliable
}

func (l *traced) transmitAll() {
	for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
		b.Release()
	}
}

func sentEvent(number, inFlight int64) string {
	return fmt.Sprintf("sent frame set, 1414 bytes, number %d, %d in flight, 0 frames resent, 0 repeated, probe false", number, 1414*inFlight)
}

func resentEvent(number, inFlight int64, probe bool) string {
	return fmt.Sprintf("sent resent frame set, 1414 bytes, number %d, %d in flight, 1 frames resent, 0 repeated, probe %v", number, 1414*inFlight, probe)
}

func TestATraceTellsOfALossByThreshold(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		c.Controller = NewFixed(16)
		l := newTraced(t, c)
		n, r := l.begin(50 * time.Millisecond)
		for i := range int64(5) {
			l.send(1400)
			l.want("data", n+i, r+i)
			l.wantEvents("a datagram leaves", sentEvent(n+i, i+1))
		}
		l.pass(50 * time.Millisecond)
		l.ack(n+1, n+4)
		l.wantEvents("four were acknowledged in a row, the first was lost", "received ACK, 10 bytes",
			fmt.Sprintf("acknowledged %d to %d, 5656 bytes", n+1, n+4), fmt.Sprintf("lost %d by packet threshold, 1414 bytes, 0 in flight", n))
		l.want("it goes again", n+5, r)
		l.wantEvents("it goes again", resentEvent(n+5, 1, false))
		t.Logf("# it was only late: both copies are acknowledged, and the tolerance grows")
		l.ack(n, n)
		l.wantEvents("a spurious loss", "received ACK, 7 bytes", fmt.Sprintf("lost by mistake %d to %d, 1414 bytes", n, n), "tolerance 1")
		l.ack(n+5, n+5)
		l.wantEvents("the other copy", "received ACK, 7 bytes", fmt.Sprintf("acknowledged %d to %d, 1414 bytes", n+5, n+5))
		l.ack(n+5, n+5)
		l.wantEvents("nobody knows of it any more", "received ACK, 7 bytes", "discarded ACK, 7 bytes, nothing new")
		t.Logf("# from now on it takes time to be lost")
		for i := int64(6); i < 10; i++ {
			l.send(1400)
		}
		l.want("more data", n+6, r+5, n+7, r+6, n+8, r+7, n+9, r+8)
		l.pass(50 * time.Millisecond)
		l.ack(n+7, n+9)
		l.records()
		l.pass(13 * time.Millisecond)
		l.wantEvents("the tolerance ran out", fmt.Sprintf("lost %d by reordering tolerance, 1414 bytes, 0 in flight", n+6))
	})
}

func TestATraceTellsOfANack(t *testing.T) {
	l := newTraced(t, Config{})
	n, r := l.begin(50 * time.Millisecond)
	for range 3 {
		l.send(1400)
	}
	l.want("data", n, r, n+1, r+1, n+2, r+2)
	l.records()
	l.pass(10 * time.Millisecond)
	l.nack(n, n+1)
	l.wantEvents("too early to believe it", "received NACK, 10 bytes", fmt.Sprintf("reported missing %d to %d, 2828 bytes", n, n+1))
	l.pass(40 * time.Millisecond)
	l.wantEvents("a round trip later", fmt.Sprintf("lost %d by NACK, 1414 bytes, 2828 in flight", n), fmt.Sprintf("lost %d by NACK, 1414 bytes, 1414 in flight", n+1))
}

func TestATraceTellsOfTimeouts(t *testing.T) {
	l := newTraced(t, Config{})
	n, r := l.begin(50 * time.Millisecond)
	for range 3 {
		l.send(1400)
	}
	l.want("data", n, r, n+1, r+1, n+2, r+2)
	l.records()
	l.pass(l.e.rtt.rto())
	l.want("probes", n+3, r, n+4, r+1)
	l.wantEvents("silence", "timeout 1", resentEvent(n+3, 4, true), resentEvent(n+4, 5, true))
	l.pass(2 * l.e.rtt.rto())
	var lost []string
	for i := range int64(5) {
		lost = append(lost, fmt.Sprintf("lost %d by timeout, 1414 bytes, %d in flight", n+i, 1414*(4-i)))
	}
	l.wantEvents("more of it", append([]string{"timeout 2"}, lost...)...)
	t.Logf("# the connection ends while two probes are out")
	l.want("probes", n+5, r, n+6, r+1, n+7, r+2)
	l.records()
	l.e.Abandon()
	l.wantEvents("the end", "abandoned 3")
	l.e.Abandon()
	l.wantEvents("nothing is left")
}

func TestATraceTellsOfRepeats(t *testing.T) {
	l := newTraced(t, Config{})
	l.begin(50 * time.Millisecond)
	l.lossy(0.05)
	repeated := 0
	for range 4 {
		l.send(200)
		l.frames()
		l.pass(5 * time.Millisecond)
		for _, r := range l.records() {
			if r.Kind == TraceSent {
				repeated += int(r.Repeated)
			}
		}
	}
	if s := l.stats(); repeated == 0 || repeated != int(s.FramesRepeated) {
		t.Errorf("%d frames rode along, of %d", repeated, s.FramesRepeated)
	}
}

func TestATraceTellsWhatCameAndWhatWasDiscarded(t *testing.T) {
	l := newTraced(t, Config{Limits: Limits{ReceiveBuffer: 100}})
	l.records()
	frame := func(number int64) []byte {
		b := wire.AppendDatagramHeader(nil, wire.FrameSetID, wire24(number))
		f := wire.Frame{Reliability: protocol.Reliable, Reliable: wire24(number)}
		return append(wire.AppendFrameHeader(b, &f, 1), 0xfe)
	}
	l.e.Receive(l.now, nil, frame(0))
	l.wantEvents("a frame set", "received frame set, 11 bytes, number 0")
	l.transmitAll()
	l.wantEvents("its ACK", "sent ACK, 7 bytes")
	for _, c := range []struct {
		what    string
		data    []byte
		verdict Verdict
		words   string
	}{
		{"twice", frame(0), VerdictDuplicate, "frame set, 11 bytes, number 0, duplicate"},
		{"cut off", frame(1)[:10], VerdictMalformed, "frame set, 10 bytes, number 1, malformed"},
		{"half a header", []byte{wire.FrameSetID, 1}, VerdictMalformed, "unknown, 2 bytes, malformed"},
		{"no datagram at all", []byte{1, 2, 3}, VerdictMalformed, "unknown, 3 bytes, malformed"},
		{"an ACK of nothing", []byte{wire.ACKID, 0, 1, 1, 5, 0, 0}, VerdictUnsent, "ACK, 7 bytes, never sent"},
	} {
		if v := l.e.Receive(l.now, nil, c.data); v != c.verdict {
			t.Errorf("%s: %v", c.what, v)
		}
		received := c.words[:len(c.words)-len(c.verdict.String())-2]
		l.wantEvents(c.what, "received "+received, "discarded "+c.words)
	}
	l.e.SetUnread(100)
	l.e.Receive(l.now, nil, frame(1))
	l.wantEvents("no room", "received frame set, 11 bytes, number 1", "discarded frame set, 11 bytes, number 1, refused")
	l.e.SetUnread(0)
	l.e.Receive(l.now, nil, frame(3))
	l.records()
	l.transmitAll()
	l.wantEvents("a gap is reported", "sent NACK, 7 bytes", "sent ACK, 11 bytes")
}

func TestMetricsAreRecordedWhenTheyChange(t *testing.T) {
	l := newTraced(t, Config{Controller: NewSliding})
	first := l.records()
	if len(first) != 2 || first[0].Kind != TracePhase || first[0].Phase != PhaseStartup || first[1].Kind != TraceMetrics || first[1].Window != int32(l.e.cc.Window()) {
		t.Fatalf("at first: %v", first)
	}
	l.begin(50 * time.Millisecond)
	l.send(1400)
	l.want("data", 8, 8)
	metrics := func() (list []TraceRecord) {
		for _, r := range l.records() {
			if r.Kind == TraceMetrics {
				list = append(list, r)
			}
		}
		return list
	}
	got := metrics()
	e := l.e
	if len(got) != 1 || got[0].InFlight != 1414 || got[0].At != l.now || got[0].SRTT != 50*time.Millisecond || got[0].MinRTT != 50*time.Millisecond ||
		got[0].RTT != 50*time.Millisecond || got[0].RTTVar != e.rtt.rttvar || got[0].Rate != int64(float64(2*e.cc.Window())/0.05) {
		t.Errorf("something is in flight: %v", got)
	}
	l.want("nothing more leaves")
	if got := metrics(); len(got) != 0 {
		t.Errorf("nothing has changed: %v", got)
	}
	l.pass(60 * time.Millisecond)
	l.ack(8, 8)
	if got := metrics(); len(got) != 1 || got[0].InFlight != 0 || got[0].RTT != 60*time.Millisecond || got[0].SRTT != e.rtt.srtt {
		t.Errorf("an ACK came: %v", got)
	}
	t.Logf("# the connection ends while something is in flight, and nothing comes after it")
	l.send(1400)
	l.want("data", 9, 9)
	metrics()
	e.Abandon()
	if got := metrics(); len(got) != 1 || got[0].InFlight != 0 {
		t.Errorf("all was forgotten: %v", got)
	}
}

// sums are what a trace adds up to.
type sums struct {
	sent, bytesSent, frameSets, acks, nacks uint64
	received, bytesReceived, duplicates     uint64
	acked, lost, spurious, abandoned        uint64
	resent, repeated, probes                uint64
	inFlight                                int64 // bytes
	latest                                  TraceRecord
	reasons                                 map[LossReason]int
	wrong                                   string
}

func (s *sums) add(r *TraceRecord) {
	n, bytes := uint64(r.Count), int64(r.Bytes)
	switch r.Kind {
	case TraceSent:
		s.sent++
		s.bytesSent += uint64(r.Bytes)
		switch r.Class {
		case DatagramACK:
			s.acks++
			return
		case DatagramNACK:
			s.nacks++
			return
		}
		s.frameSets++
		s.resent += uint64(r.Resent)
		s.repeated += uint64(r.Repeated)
		if r.Probe {
			s.probes++
		}
		s.inFlight += bytes
	case TraceReceived:
		s.received++
		s.bytesReceived += uint64(r.Bytes)
		return
	case TraceDiscarded:
		if r.Verdict == VerdictDuplicate {
			s.duplicates++
		}
		return
	case TraceAcked:
		s.acked += n
		s.inFlight -= bytes
	case TraceLost:
		s.lost++
		s.inFlight -= bytes
		if s.reasons == nil {
			s.reasons = map[LossReason]int{}
		}
		s.reasons[r.Reason]++
	case TraceSpurious:
		s.spurious += n
		return
	case TraceAbandoned:
		s.abandoned += n
		s.inFlight -= bytes
		return
	case TraceMetrics:
		s.latest = *r
	default:
		return
	}
	if int64(r.InFlight) != s.inFlight && s.wrong == "" {
		s.wrong = fmt.Sprintf("%v: the records add up to %d in flight", r, s.inFlight)
	}
}

func (s *sums) take(r *TraceRing) {
	older, newer := r.Records()
	for i := range older {
		s.add(&older[i])
	}
	for i := range newer {
		s.add(&newer[i])
	}
	r.Clear()
}

// check compares the sums with the engine's own.
func (s *sums) check(t *testing.T, e *Engine) {
	t.Helper()
	var st Stats
	e.Stats(&st)
	for _, c := range []struct {
		what      string
		got, want uint64
	}{
		{"datagrams sent", s.sent, st.DatagramsSent}, {"bytes sent", s.bytesSent, st.BytesSent},
		{"ACKs", s.acks, st.AcksSent}, {"NACKs", s.nacks, st.NacksSent},
		{"datagrams received", s.received, st.DatagramsReceived}, {"bytes received", s.bytesReceived, st.BytesReceived},
		{"lost", s.lost, st.DatagramsLost}, {"spurious", s.spurious, st.SpuriousLosses},
		{"frames resent", s.resent, st.FramesResent}, {"frames repeated", s.repeated, st.FramesRepeated}, {"probes", s.probes, st.Probes},
		{"in flight at the end", s.frameSets - s.acked - s.lost - s.abandoned, uint64(e.sent.out)},
		{"bytes in flight", uint64(s.inFlight), uint64(st.BytesInFlight)}, {"and by the gauge", uint64(s.latest.InFlight), uint64(st.BytesInFlight)},
		{"window", uint64(s.latest.Window), uint64(st.CongestionWindow)}, {"round trip", uint64(s.latest.SRTT), uint64(st.RTT)},
	} {
		if c.got != c.want {
			t.Errorf("%s: the trace says %d, the engine %d", c.what, c.got, c.want)
		}
	}
	if s.wrong != "" {
		t.Error(s.wrong)
	}
	if st.DatagramsSent == 0 || s.lost == 0 || s.spurious == 0 || s.resent == 0 || s.probes == 0 || s.acked == 0 || len(s.reasons) < 3 {
		t.Errorf("the weather was too good: %+v", s)
	}
}

// A bad path, both ends with much and with little to send, and a blackout in the middle.
func TestATraceAddsUpToTheStatistics(t *testing.T) {
	for name, cc := range map[string]func(int) Controller{"model": NewModel, "cubic": NewCubic, "sliding": NewSliding, "fixed": NewFixed(40)} {
		t.Run(name, func(t *testing.T) {
			bothStarts(t, 1492, func(t *testing.T, c Config) {
				var traces [2]sums
				c.Controller = cc
				w := badWeather(t, c, func(w *pair, end int) {
					if c.Trace == nil {
						traces[end].take(w.end[end].trace.ring)
					}
				}, true)
				for i, e := range w.end {
					traces[i].take(e.trace.ring)
					traces[i].check(t, e)
				}
				w.close()
			})
		})
	}
}

// badWeather plays a conversation; after each of its parts look may look at either end.
func badWeather(t *testing.T, c Config, look func(w *pair, end int), trace bool) *pair {
	w := newPair(t, 3, c, path{delay: 20 * time.Millisecond, jitter: 5 * time.Millisecond, loss: 0.05, dup: 0.02, reorder: 0.05, reorderBy: 30 * time.Millisecond})
	for i := range w.end {
		if trace {
			c.Trace = NewTraceRing(1 << 16)
		}
		w.end[i].Init(w.now, &c)
	}
	dark := false
	for i := range w.path {
		w.path[i].drop = func(int, []byte) bool { return dark }
	}
	for part := range 40 {
		dark = part == 20 || part == 21
		for end := range w.end {
			if err := w.send(end, Message{Payload: payload(part, 200+end), Reliability: protocol.ReliableOrdered}); err != nil {
				t.Fatal(err)
			}
			if part%10 == 5 {
				if err := w.send(end, Message{Payload: payload(part, 200_000), Reliability: protocol.Reliable}); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.run(300 * time.Millisecond)
		for end := range w.end {
			look(w, end)
		}
	}
	w.runUntil(time.Minute, func() bool { return w.end[0].Drained() && w.end[1].Drained() })
	return w
}

func TestTracingChangesNothing(t *testing.T) {
	var stats [2][2]Stats
	for i, trace := range []bool{false, true} {
		w := badWeather(t, Config{MTU: 1492}, func(*pair, int) {}, trace)
		for end, e := range w.end {
			e.Stats(&stats[i][end])
		}
		w.close()
	}
	if stats[0] != stats[1] {
		t.Errorf("untraced %+v\ntraced   %+v", stats[0], stats[1])
	}
}

// lane is a sender and a receiver without a path between them.
type lane struct {
	x, y Engine
	now  monotime.Time
	msg  Message
}

func newLane(trace bool) *lane {
	l := &lane{now: 1, msg: Message{Payload: payload(0, 1000), Reliability: protocol.ReliableOrdered}}
	for _, e := range []*Engine{&l.x, &l.y} {
		c := Config{MTU: 1492, Controller: NewFixed(256)}
		if trace {
			c.Trace = NewTraceRing(1024)
		}
		e.Init(l.now, &c)
	}
	return l
}

// round sends eight messages, each in a datagram of its own.
func (l *lane) round() {
	l.now = l.now.Add(100 * time.Microsecond)
	for range 8 {
		_ = l.x.Send(l.now, &l.msg)
	}
	for b := l.x.Transmit(l.now); b != nil; b = l.x.Transmit(l.now) {
		r := pool.Get(pool.ClassRead)
		r.N = copy(r.B, b.Bytes())
		b.Release()
		l.y.Receive(l.now, r, r.Bytes())
		r.Release()
	}
	var d Delivery
	for l.y.NextDelivery(&d) {
		d.Release()
	}
	for b := l.y.Transmit(l.now); b != nil; b = l.y.Transmit(l.now) {
		l.x.Receive(l.now, nil, b.Bytes())
		b.Release()
	}
	l.x.Advance(l.now)
	l.y.Advance(l.now)
}

func (l *lane) close() {
	l.x.Close()
	l.y.Close()
}

func TestTracingDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	l := newLane(true)
	defer l.close()
	for range 500 {
		l.round()
	}
	before := l.x.trace.ring.Overwritten()
	if n := testing.AllocsPerRun(500, l.round); n > 0.1 {
		t.Errorf("%v allocations a round", n)
	}
	if l.x.trace.ring.Overwritten()-before < 500*9 || l.x.trace.ring.Len() != 1024 {
		t.Error("nothing was recorded")
	}
}

// What a trace costs: nothing when there is none.
func BenchmarkTrace(b *testing.B) {
	for _, c := range []struct {
		name  string
		trace bool
	}{{"off", false}, {"on", true}} {
		b.Run(c.name, func(b *testing.B) {
			l := newLane(c.trace)
			defer l.close()
			b.ReportAllocs()
			for b.Loop() {
				l.round()
			}
			b.ReportMetric(math.Round(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8), "ns/datagram")
		})
	}
}
