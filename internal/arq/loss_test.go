package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// lossTest scripts one engine against a peer that the test plays by hand. Datagram
// and index numbers in it count from the engine's first.
type lossTest struct {
	t     testing.TB
	e     *Engine
	now   monotime.Time
	first int64
}

func newLossTest(t testing.TB, c Config) *lossTest {
	if c.MTU == 0 {
		c.MTU = 1492
	}
	if c.Controller == nil {
		c.Controller = NewSliding // the one whose window is easiest to foretell
	}
	l := &lossTest{t: t, e: new(Engine), now: 1, first: c.FirstDatagram}
	l.e.Init(l.now, &c)
	before := pool.InUse()
	t.Cleanup(func() {
		l.e.Close()
		if n := pool.InUse() - before; n != 0 {
			t.Errorf("%d buffers were not returned", n)
		}
	})
	return l
}

// send queues one reliable ordered message of a size and lets the window decide.
func (l *lossTest) send(size int) {
	l.t.Helper()
	l.sendMode(size, protocol.ReliableOrdered)
}

func (l *lossTest) sendMode(size int, mode protocol.Reliability) {
	l.t.Helper()
	if err := l.e.Send(l.now, &Message{Payload: payload(0, size), Reliability: mode}); err != nil {
		l.t.Fatal(err)
	}
}

// want checks which datagrams leave now: pairs of a datagram number and the reliable
// index of its first frame, -1 for none.
func (l *lossTest) want(what string, pairs ...int64) {
	l.t.Helper()
	for i := 0; ; i += 2 {
		b := l.e.Transmit(l.now)
		if b == nil {
			if i != len(pairs) {
				l.t.Fatalf("%s: %d datagrams left, want %d", what, i/2, len(pairs)/2)
			}
			return
		}
		number, frames, err := wire.ParseDatagramHeader(b.Bytes())
		var f wire.Frame
		if err == nil {
			_, err = f.Parse(frames)
		}
		b.Release()
		if err != nil {
			l.t.Fatalf("%s: %v", what, err)
		}
		if i == len(pairs) {
			l.t.Fatalf("%s: datagram %d left, want no more", what, expand24(number, l.first)-l.first)
		}
		index := int64(-1)
		if f.Reliability.IsReliable() {
			index = expand24(f.Reliable, l.e.nextReliable)
		}
		if n := expand24(number, l.e.sent.next) - l.first; n != pairs[i] || index >= 0 && index != pairs[i+1] || index < 0 && pairs[i+1] >= 0 {
			l.t.Fatalf("%s: datagram %d with reliable index %d left, want %d with %d", what, n, index, pairs[i], pairs[i+1])
		}
	}
}

func (l *lossTest) answer(id byte, spans ...int64) Verdict {
	l.t.Helper()
	a := wire.StartRanges(nil, id, 1400)
	for i := 0; i < len(spans); i += 2 {
		a.Add(wire24(l.first+spans[i]), wire24(l.first+spans[i+1]))
	}
	v := l.e.Receive(l.now, nil, a.Finish())
	return v
}

func (l *lossTest) ack(spans ...int64) Verdict  { l.t.Helper(); return l.answer(wire.ACKID, spans...) }
func (l *lossTest) nack(spans ...int64) Verdict { l.t.Helper(); return l.answer(wire.NACKID, spans...) }

// pass lets time pass, firing timers on the way.
func (l *lossTest) pass(d time.Duration) {
	for until := l.now.Add(d); ; {
		next := l.e.Deadline()
		if next > until {
			l.now = until
			return
		}
		l.now = max(l.now, next)
		l.e.Advance(l.now)
		if l.e.Deadline() <= l.now {
			return // somebody must transmit first
		}
	}
}

// settleRTT gives the engine eight samples of one round trip.
func (l *lossTest) settleRTT(rtt time.Duration) int64 {
	l.t.Helper()
	for i := range int64(ackDelaySamples) {
		l.send(100)
		l.want("sample", i, l.e.nextReliable)
		l.pass(rtt)
		l.ack(i, i)
	}
	return ackDelaySamples
}

func (l *lossTest) stats() (s Stats) { l.e.Stats(&s); return s }

func TestThreeNewerAcksExposeALoss(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		l := newLossTest(t, c)
		t.Logf("# RTT is 50 ms; five datagrams leave, the first is lost")
		n := l.settleRTT(50 * time.Millisecond)
		r := l.e.nextReliable
		for i := range int64(5) {
			l.send(1400)
			l.want("data", n+i, r+i)
		}
		l.pass(50 * time.Millisecond)
		l.ack(n+1, n+2)
		l.want("two newer ACKs are not enough")
		l.ack(n+3, n+3)
		l.want("three are", n+5, r)
		if s := l.stats(); s.DatagramsLost != 1 || s.FramesResent != 1 {
			t.Errorf("lost %d, resent %d, want 1 and 1", s.DatagramsLost, s.FramesResent)
		}
		l.ack(n+4, n+5)
		if !l.e.Drained() {
			t.Error("not drained after everything was acknowledged")
		}
	})
}

func TestATailIsProbedAndThenGivenUp(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	r := l.e.nextReliable
	for i := range int64(3) {
		l.send(1400)
		l.want("data", n+i, r+i)
	}
	t.Logf("# nothing is heard: the two oldest go again, and nothing counts as lost")
	l.pass(l.e.rtt.rto())
	l.want("probes", n+3, r, n+4, r+1)
	if s := l.stats(); s.DatagramsLost != 0 || s.Probes != 2 {
		t.Fatalf("lost %d, probes %d, want 0 and 2", s.DatagramsLost, s.Probes)
	}
	t.Logf("# still nothing, for twice as long: everything is given up, two datagrams leave")
	window := l.e.cc.Window()
	l.pass(2*l.e.rtt.rto() - time.Millisecond)
	l.want("not yet")
	l.pass(2 * time.Millisecond)
	l.want("the window is one datagram, and two may probe", n+5, r, n+6, r+1)
	if w := l.e.cc.Window(); w >= window || w != 1492 {
		t.Errorf("window %d after a timeout, was %d", w, window)
	}
	t.Logf("# an answer at last: the rest follows, the backoff is over")
	l.ack(n+5, n+6)
	l.want("the other", n+7, r+2)
	if l.e.loss.backoff != 0 {
		t.Error("backoff survived an answer")
	}
}

func TestTheAckOfAProbeTellsWhatWasLost(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	r := l.e.nextReliable
	for i := range int64(3) {
		l.send(1400)
		l.want("data", n+i, r+i)
	}
	l.pass(l.e.rtt.rto())
	l.want("probes", n+3, r, n+4, r+1)
	l.pass(50 * time.Millisecond)
	l.ack(n+3, n+4)
	l.pass(50 * time.Millisecond)
	l.want("only what the probes did not carry", n+5, r+2)
	l.ack(n+5, n+5)
	if !l.e.Drained() || l.e.inFlight != 0 {
		t.Errorf("drained %v, %d bytes in flight", l.e.Drained(), l.e.inFlight)
	}
}

func TestANackIsEvidence(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		l := newLossTest(t, c)
		n := l.settleRTT(50 * time.Millisecond)
		r := l.e.nextReliable
		l.send(1400)
		l.send(1400)
		l.want("data", n, r, n+1, r+1)
		t.Logf("# no honest answer comes within less than the least round trip")
		l.pass(10 * time.Millisecond)
		l.nack(n, n)
		l.want("too early")
		l.pass(40 * time.Millisecond)
		l.want("after a round trip", n+2, r)
		t.Logf("# a storm of NACKs within a round trip resends nothing twice")
		l.nack(n, n+2)
		l.want("the second datagram is a round trip old, too", n+3, r+1)
		for range 100 {
			l.nack(n, n+3)
			l.want("storm")
			l.pass(100 * time.Microsecond)
		}
		l.pass(41 * time.Millisecond)
		l.want("the storm named what was on its way: once each", n+4, r, n+5, r+1)
	})
}

func TestALateAckRaisesTheTolerance(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(40 * time.Millisecond)
	r := l.e.nextReliable
	for i := range int64(5) {
		l.send(1400)
		l.want("data", n+i, r+i)
	}
	l.pass(40 * time.Millisecond)
	l.ack(n+1, n+4)
	l.want("resent", n+5, r)
	t.Logf("# it was only late")
	l.pass(time.Millisecond)
	l.ack(n, n)
	if s := l.stats(); s.SpuriousLosses != 1 || l.e.loss.tolerance != 1 {
		t.Fatalf("spurious %d, tolerance %d, want 1 and 1", s.SpuriousLosses, l.e.loss.tolerance)
	}
	if !l.e.Drained() {
		t.Error("the message arrived, and still waits")
	}
	t.Logf("# from now on three newer ACKs are not enough: a quarter of the round trip more must pass")
	for i := int64(6); i < 11; i++ {
		l.send(1400)
		l.want("data", n+i, r+i-1)
	}
	l.pass(40 * time.Millisecond)
	l.ack(n+7, n+10)
	l.want("tolerated")
	l.pass(12 * time.Millisecond)
	l.want("given up", n+11, r+5)
}

func TestAcksOfWhatWasNeverSent(t *testing.T) {
	l := newLossTest(t, Config{})
	l.send(100)
	l.want("data", 0, 0)
	if v := l.ack(5, 9); v != VerdictUnsent || !v.Violation() {
		t.Errorf("ACK of 5 to 9: %v", v)
	}
	if v := l.nack(1, 1); v != VerdictUnsent {
		t.Errorf("NACK of 1: %v", v)
	}
	if v := l.ack(0, 7); v != VerdictUnsent || !l.e.Drained() {
		t.Errorf("ACK of 0 to 7: %v, drained %v: what was sent must count", v, l.e.Drained())
	}
	if v := l.ack(0, 0); v.Violation() {
		t.Errorf("an ACK that repeats: %v", v)
	}
	if s := l.stats(); s.Violations != 3 {
		t.Errorf("%d violations, want 3", s.Violations)
	}
}

func TestAnAckBombIsBoundedWork(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(4000)})
	for range 3000 {
		l.sendMode(1400, protocol.Unreliable)
		if b := l.e.Transmit(l.now); b != nil {
			b.Release()
		}
	}
	visit := func(spans ...uint32) (visited int, v Verdict) {
		a := wire.StartRanges(nil, wire.ACKID, 1400)
		for i := range 150 {
			k := 2 * i % len(spans)
			a.Add(spans[k], spans[k+1])
		}
		it, err := wire.ParseRanges(a.Finish())
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int64]bool{}
		v = l.e.eachSent(&it, ackWork, func(n int64, _ *sentDatagram) { visited++; seen[n] = true })
		if len(seen) != 3000 {
			t.Errorf("%d records of 3000 were visited", len(seen))
		}
		return visited, v
	}
	if n, v := visit(0, 2999); v != VerdictAccepted || n != 3000 {
		t.Errorf("all, 150 times: verdict %v after %d records", v, n)
	}
	if n, v := visit(1000, 1999, 0, 2999, 500, 2500, 2000, 4000); v != VerdictUnsent || n != 3000 {
		t.Errorf("all in pieces: verdict %v after %d records", v, n)
	}
	t.Logf("# what overlaps nothing that is as long is read again")
	if n, v := visit(0, 1499, 1500, 2999); v != VerdictUnsent || n > 2*int(l.e.sent.next-l.e.sent.base)+ackSlack {
		t.Errorf("halves in turn: verdict %v after %d records", v, n)
	}
}

func TestANackThatSaysNothingNewIsLittleWork(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(4000)})
	first := l.settleRTT(50 * time.Millisecond)
	last := first + 20
	for range 21 {
		l.send(1400)
		l.e.Transmit(l.now).Release()
	}
	l.nack(first, last)
	at := l.e.loss.lossAt
	if at == monotime.Never || at <= l.now {
		t.Fatalf("they are given up at %v, at the earliest a round trip after they left", at)
	}
	l.e.loss.lossAt = at + 1 // which looking at them all again would set right
	l.nack(first, last)
	if l.e.loss.lossAt != at+1 {
		t.Errorf("all were looked at again")
	}
	l.nack(first, first)
	l.pass(at.Sub(l.now) + 1)
	if s := l.stats(); s.DatagramsLost != 21 {
		t.Errorf("%d given up, want 21", s.DatagramsLost)
	}
}

func TestAPeerThatAcknowledgesEvery100ms(t *testing.T) {
	l := newLossTest(t, Config{})
	r := int64(0)
	t.Logf("# at 20 ms of distance and a 100 ms tick, ACKs take 20 to 120 ms")
	for i := range int64(40) {
		l.send(100)
		l.want("data", i, r)
		r++
		l.pass(time.Duration(20+i*37%100) * time.Millisecond)
		l.want("no probe while the peer waits for its tick")
		l.ack(i, i)
	}
	if s := l.stats(); s.Probes != 0 || s.FramesResent != 0 {
		t.Errorf("%d probes, %d resent", s.Probes, s.FramesResent)
	}
}

func TestUnreliableFramesAreNotResent(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	t.Logf("# three messages share a datagram: unreliable, reliable, unreliable")
	l.sendMode(100, protocol.Unreliable)
	l.send(200)
	l.sendMode(300, protocol.UnreliableWithReceipt)
	b := l.e.Transmit(l.now)
	if b.N != 4+3+100+10+200+3+300 {
		t.Fatalf("they left in %d bytes", b.N)
	}
	b.Release()
	l.pass(50 * time.Millisecond)
	l.nack(n, n)
	b = l.e.Transmit(l.now)
	if b == nil || b.N != 4+10+200 {
		t.Fatalf("resent: %v", b)
	}
	b.Release()
	l.ack(n+1, n+1)
	if !l.e.Drained() || l.e.held != 0 || l.e.inFlight != 0 {
		t.Errorf("drained %v, held %d, in flight %d", l.e.Drained(), l.e.held, l.e.inFlight)
	}
}

func TestResendKeepsBytesThatTheSocketStillHolds(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	l.send(100)
	first := l.e.Transmit(l.now) // never released in time: the socket is slow
	was := string(first.Bytes())
	l.pass(50 * time.Millisecond)
	l.nack(n, n)
	second := l.e.Transmit(l.now)
	if second == nil || second == first {
		t.Fatal("the resend shares a buffer that is still waiting to leave")
	}
	if string(first.Bytes()) != was {
		t.Error("the first transmission changed while it waited")
	}
	first.Release()
	second.Release()
}

func TestAProbeLeavesUnreliableFramesOut(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	r := l.e.nextReliable
	t.Logf("# a reliable and an unreliable message share a datagram whose ACK is lost")
	l.sendMode(300, protocol.Reliable)
	l.sendMode(100, protocol.Unreliable)
	l.want("both", n, r)
	l.pass(l.e.rtt.rto())
	b := l.e.Transmit(l.now)
	if b == nil {
		t.Fatal("no probe left")
	}
	_, frames, err := wire.ParseDatagramHeader(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var f wire.Frame
	size, err := f.Parse(frames)
	if err != nil || !f.Reliability.IsReliable() || len(f.Payload) != 300 || size != len(frames) {
		t.Errorf("the probe carries more than the reliable message: %d of %d bytes, %v", size, len(frames), err)
	}
	b.Release()
	l.ack(n, n)
	if !l.e.Drained() {
		t.Error("not drained after the late ACK")
	}
}

func TestABlackoutIsProbedSteadily(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	r := l.e.nextReliable
	l.send(1400)
	l.want("data", n, r)
	t.Logf("# for three seconds nothing is heard: never more than 300 ms between two attempts")
	last, attempts := l.now, 0
	for end := l.now.Add(3 * time.Second); l.now < end; {
		l.pass(10 * time.Millisecond)
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			b.Release()
			attempts++
			if pause := l.now.Sub(last); pause > maxPause+20*time.Millisecond {
				t.Fatalf("%v between two attempts", pause)
			}
			last = l.now
		}
	}
	if attempts < 10 || attempts > 20 {
		t.Errorf("%d attempts in 3 s", attempts)
	}
}

func TestAHintShortensTheFirstTimeout(t *testing.T) {
	l := newLossTest(t, Config{RoundTrip: 10 * time.Millisecond})
	l.send(20)
	l.want("sent", 0, 0)
	l.pass(hintedRTO + assumedAckDelay)
	l.want("repeated", 1, 0)
	if far := (rttEstimator{hint: time.Second}); far.rto() != initialRTO {
		t.Errorf("a far peer is given %v", far.rto())
	}
}

func TestTheToleranceFallsAgain(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(20 * time.Millisecond)
	l.e.loss.tolerance = 2
	for range 2 * calmLosses {
		for range 5 {
			l.send(1400)
			l.e.Transmit(l.now).Release()
		}
		l.pass(20 * time.Millisecond)
		l.ack(n+1, n+4)
		l.pass(20 * time.Millisecond)
		l.e.Transmit(l.now).Release()
		l.pass(20 * time.Millisecond)
		l.ack(n+5, n+5)
		n += 6
	}
	if l.e.loss.tolerance != 0 {
		t.Errorf("tolerance %d after %d real losses", l.e.loss.tolerance, 2*calmLosses)
	}
}

func TestANackExposesOnlyWhatItNames(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(20 * time.Millisecond)
	r := l.e.nextReliable
	for i := range int64(6) {
		l.send(1400)
		l.want("data", n+i, r+i)
	}
	t.Logf("# a peer with a slow tick reports a gap before it acknowledges what came around it")
	l.pass(25 * time.Millisecond)
	l.nack(n+4, n+4)
	l.want("only that one", n+6, r+4)
	l.ack(n, n+3)
	l.ack(n+5, n+6)
	if !l.e.Drained() || l.e.stats.FramesResent != 1 {
		t.Errorf("drained %v, resent %d", l.e.Drained(), l.e.stats.FramesResent)
	}
}

func TestALateAckTellsTheRoundTrip(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(10 * time.Millisecond)
	for i := range int64(3) {
		l.send(1400)
		l.want("data", n+i, n+i)
	}
	t.Logf("# a queue has grown: the answers take 800 ms, and everything is given up meanwhile")
	for end := l.now.Add(800 * time.Millisecond); l.now < end; {
		l.pass(5 * time.Millisecond)
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			b.Release()
		}
	}
	l.ack(n, n+2)
	if l.e.rtt.latest < 800*time.Millisecond || l.e.rtt.rto() < 800*time.Millisecond {
		t.Errorf("latest round trip %v, timeout %v", l.e.rtt.latest, l.e.rtt.rto())
	}
}

func TestAnEpisodeIsFalseOnlyIfAllOfItIs(t *testing.T) {
	var p episode
	for n := int64(10); n < 14; n++ {
		p.add(n, 20)
	}
	for n := int64(10); n < 13; n++ {
		if p.deny(n) {
			t.Fatalf("%d was not all", n)
		}
	}
	if p.deny(9) {
		t.Error("9 was not of this episode")
	}
	if !p.deny(13) {
		t.Error("all were false")
	}
	if p.deny(13) {
		t.Error("once")
	}
	t.Logf("# what left after the first losses came to light begins a new one")
	p.add(19, 25)
	p.add(20, 30)
	if p.deny(19) {
		t.Error("19 belongs to the old one")
	}
	if !p.deny(20) {
		t.Error("20 was all of the new one")
	}
}
