package arq

import (
	"fmt"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// nearPair is two engines that see each other on one machine.
func nearPair(t testing.TB, c Config, p path) *pair {
	w := newPair(t, 1, c, p)
	for _, e := range w.end {
		e.TakeWide()
		e.MayWiden()
	}
	return w
}

// loopback is a path without a network.
var loopback = path{delay: 30 * time.Microsecond}

// transfer sends messages as endpoints do, who let what is queued wait until it is worth a system call.
func transfer(t testing.TB, w *pair, size, count int) {
	t.Helper()
	e, sent, got := w.end[0], 0, 0
	w.onGot = func(end int, b []byte) {
		if end == 1 {
			if sum(b) != sum(payload(got, size)) {
				t.Fatalf("message %d arrived wrong", got)
			}
			got++
			w.got[1] = w.got[1][:0]
		}
	}
	feed := func() bool {
		for sent < count && !e.Ahead() {
			if err := e.Send(w.now, &Message{Payload: payload(sent, size), Reliability: protocol.ReliableOrdered}); err != nil {
				break
			}
			sent++
			if !e.Flowing() || e.Plenty() {
				w.flush(0)
			}
		}
		if sent == count {
			w.flush(0)
		}
		return got == count
	}
	w.runUntil(time.Minute, feed)
}

// frameSets counts the frame sets of more than the given bytes on a path, and all bytes of frame sets.
type frameSets struct {
	longer, all, bytes int
	longest            int
}

func (s *frameSets) watch(p *path, than int) {
	p.drop = func(_ int, b []byte) bool {
		if wire.Classify(b) == wire.KindFrameSet {
			s.all++
			s.bytes += len(b)
			s.longest = max(s.longest, len(b))
			if len(b) > than {
				s.longer++
			}
		}
		return false
	}
}

func TestATransferOnOneMachineGoesOverToWideDatagrams(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		for _, size := range []int{100, 1024, 1432, 1433, 5000, 8088, 8089, 10 << 10, 100 << 10, 1 << 20} {
			w := nearPair(t, c, loopback)
			transfer(t, w, size, max(2, (1<<20)/size))
			var seen frameSets
			seen.watch(&w.path[0], 1464)
			transfer(t, w, size, max(2, (2<<20)/size))
			if seen.longest > WideMTU-protocol.UDPOverhead {
				t.Errorf("%d B: a datagram of %d bytes", size, seen.longest)
			}
			if mean := seen.bytes / seen.all; mean < 4000 {
				t.Errorf("%d B: %d datagrams of %d bytes in the mean", size, seen.all, mean)
			}
			var st Stats
			w.end[0].Stats(&st)
			if st.DatagramsLost+st.FramesResent > 0 {
				t.Errorf("%d B: %d datagrams lost, %d frames resent", size, st.DatagramsLost, st.FramesResent)
			}
			w.run(time.Second)
			w.close()
		}
	})
}

func TestNothingIsWideWhereItMayNotBe(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(e *Engine)
		path    path
	}{
		"the peer may be elsewhere":     {func(e *Engine) { e.MayWiden() }, loopback},
		"the peer cannot receive it":    {func(e *Engine) { e.TakeWide() }, loopback},
		"there is a network in between": {func(e *Engine) { e.TakeWide(); e.MayWiden() }, path{delay: 5 * time.Millisecond}},
	} {
		w := newPair(t, 1, Config{MTU: 1492}, c.path)
		c.prepare(w.end[0])
		var seen frameSets
		seen.watch(&w.path[0], 1464)
		transfer(t, w, 1000, 3000)
		if seen.longer > 0 {
			t.Errorf("%s: %d of %d datagrams are wide", name, seen.longer, seen.all)
		}
		w.run(time.Second)
		w.close()
	}
}

// A relay that drops or cuts what is long is found by two datagrams without a message in them, whose loss is not
// taken for congestion.
func TestARelayWithoutRoomForWideDatagramsIsLeftAlone(t *testing.T) {
	for _, cut := range []bool{false, true} {
		bothStarts(t, 1492, func(t *testing.T, c Config) {
			w := nearPair(t, c, loopback)
			soundings := 0
			w.path[0].drop = func(_ int, b []byte) bool {
				if len(b) <= 1464 {
					return false
				}
				soundings++
				it := wire.Frames(b[wire.DatagramHeaderSize:])
				var f wire.Frame
				for n := 0; it.Next(&f); n++ {
					if n > 0 || f.Reliability != protocol.Unreliable || f.Payload[0] != byte(protocol.IDDetectLostConnections) {
						t.Errorf("frame %d of a sounding: %v", n, f.Reliability)
					}
					for i, x := range f.Payload[1:] {
						if x != 0 {
							t.Fatalf("byte %d of a sounding is somebody's", i)
						}
					}
				}
				return !cut
			}
			if cut {
				w.path[0].cut = 2048
			}
			window := 0
			for range 10 {
				transfer(t, w, 1000, 1000)
				window = max(window, w.end[0].cc.Window())
			}
			if soundings != 2 {
				t.Errorf("cut %v: %d soundings", cut, soundings)
			}
			var st, peer Stats
			w.end[0].Stats(&st)
			w.end[1].Stats(&peer)
			if st.DatagramsLost+st.FramesResent > 0 || st.CongestionWindow < window {
				t.Errorf("cut %v: %d datagrams lost, %d frames resent, window %d of %d", cut, st.DatagramsLost, st.FramesResent, st.CongestionWindow, window)
			}
			if cut && peer.Violations != 2 {
				t.Errorf("%d violations", peer.Violations)
			}
			w.run(time.Second)
			w.close()
		})
	}
}

func TestASecondSoundingWillDo(t *testing.T) {
	w := nearPair(t, Config{MTU: 1492}, loopback)
	lost := 0
	w.path[0].drop = func(_ int, b []byte) bool {
		if lost > 0 || len(b) <= 1464 {
			return false
		}
		lost++
		return true
	}
	transfer(t, w, 1000, 3000)
	if lost != 1 || !w.end[0].wide() {
		t.Errorf("%d soundings lost, wide %v", lost, w.end[0].wide())
	}
	w.run(time.Second)
	w.close()
}

func TestWideDatagramsThatAreLostComeAgain(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bothStarts(t, 1492, func(t *testing.T, c Config) {
				w := nearPair(t, c, path{delay: 30 * time.Microsecond, loss: 0.02, dup: 0.01, reorder: 0.02, reorderBy: 200 * time.Microsecond})
				w.rnd.Uint64N(seed + 1)
				for _, size := range []int{1000, 10 << 10, 300} {
					transfer(t, w, size, (1<<20)/size)
				}
				w.run(time.Second)
				w.close()
			})
		})
	}
}

// When wide datagrams get no answer any more, what is new is as long as was negotiated.
func TestAPathThatTakesNoMoreWideDatagrams(t *testing.T) {
	w := nearPair(t, Config{MTU: 1492}, loopback)
	transfer(t, w, 1000, 2000)
	if !w.end[0].wide() {
		t.Fatal("not wide")
	}
	from, sent := w.now, w.end[0]
	w.path[0].drop = func(_ int, b []byte) bool { return w.now.Sub(from) < 2*time.Second && len(b) > 1464 }
	transfer(t, w, 1000, 500)
	transfer(t, w, 1000, 2000)
	if !sent.wide() {
		t.Error("the path takes them again, and was not asked")
	}
	w.run(time.Second)
	w.close()
}

// The same where small messages go through, so that nothing times out: their ACKs show that only wide ones are lost.
func TestAPathThatTakesOnlySmallDatagramsAnyMore(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		w := nearPair(t, c, loopback)
		transfer(t, w, 1000, 2000)
		e := w.end[0]
		hole := func(_ int, b []byte) bool { return len(b) > 1464 }
		w.path[0].drop = hole
		got := 0
		w.onGot = func(end int, b []byte) { got += end }
		big, ticks := 0, 0
		for range 2000 {
			if e.SendSpace() > 40_000 && ticks%200 == 0 {
				if err := w.send(0, Message{Payload: payload(big, 20_000), Reliability: protocol.ReliableOrdered, Channel: 1}); err != nil {
					t.Fatal(err)
				}
				big++
			}
			if err := w.send(0, Message{Payload: payload(ticks, 100), Reliability: protocol.ReliableOrdered}); err != nil {
				t.Fatal(err)
			}
			ticks++
			w.run(5 * time.Millisecond)
		}
		if e.wide() || e.CutMTU() != 1492 {
			t.Error("still wide")
		}
		if got < ticks-10 {
			t.Errorf("%d of %d small messages arrived", got, ticks)
		}
		var seen frameSets
		seen.watch(&w.path[0], 1464)
		watch := w.path[0].drop
		w.path[0].drop = func(n int, b []byte) bool { watch(n, b); return hole(n, b) }
		w.run(time.Second)
		for i := range 50 {
			if err := w.send(0, Message{Payload: payload(i, 1200), Reliability: protocol.Unreliable}); err != nil {
				t.Fatal(err)
			}
		}
		if e.queue.spares != nil {
			t.Error("spare buffers of the other size")
		}
		w.path[0].drop = nil
		w.runUntil(time.Minute, e.Drained)
		w.run(time.Second)
		w.close()
	})
}

// A peer that stands still for a moment says nothing about the path.
func TestAStallDoesNotEndWideDatagrams(t *testing.T) {
	for _, stall := range []time.Duration{20 * time.Millisecond, 50 * time.Millisecond, 500 * time.Millisecond} {
		w := nearPair(t, Config{MTU: 1492}, loopback)
		transfer(t, w, 1000, 2000)
		for range 5 {
			from := w.now
			w.path[0].drop = func(_ int, b []byte) bool { return w.now.Sub(from) < stall }
			transfer(t, w, 1000, 3000)
		}
		if !w.end[0].wide() {
			t.Errorf("not wide after stalls of %v", stall)
		}
		w.run(time.Second)
		w.close()
	}
}

// A message is as reliable as it is where there are no wide datagrams: larger than a usual one means reliable.
func TestWhatWouldBeSplitIsReliableInAWideDatagram(t *testing.T) {
	w := nearPair(t, Config{MTU: 1492}, loopback)
	transfer(t, w, 1000, 2000)
	lost := false
	w.path[0].drop = func(_ int, b []byte) bool {
		lose := !lost && len(b) > 5000
		lost = lost || lose
		return lose
	}
	got := 0
	w.onGot = func(end int, b []byte) { got += len(b) }
	if err := w.send(0, Message{Payload: payload(0, 5000), Reliability: protocol.Unreliable, ReceiptID: 7}); err != nil {
		t.Fatal(err)
	}
	w.runUntil(time.Second, func() bool { return len(w.receipts[0]) > 0 })
	if !lost || got != 5000 || !w.receipts[0][0].Acked {
		t.Errorf("lost %v, got %d bytes, receipts %v", lost, got, w.receipts[0])
	}
	w.run(time.Second)
	w.close()
}

// What waits for its ACK holds no more than four times its bytes.
func TestWhatLeavesFitsItsBuffer(t *testing.T) {
	w := nearPair(t, Config{MTU: 1492}, loopback)
	transfer(t, w, 1000, 2000)
	w.onGot = nil
	e := w.end[0]
	w.path[1].drop = func(int, []byte) bool { return true }
	for i, size := range []int{1500, 900, 700, 2500, 1432, 7000, 100} {
		for n := range 40 {
			if err := w.send(0, Message{Payload: payload(n, size), Reliability: protocol.Reliable, Priority: protocol.Priority(i % 4)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for p := e.oldest; p != nil; p = p.newer {
		if have := len(p.buf.B); have > pool.ClassDatagram && have > 4*p.buf.N {
			t.Errorf("%d bytes in a buffer of %d", p.buf.N, have)
		}
	}
	w.path[1].drop = nil
	w.runUntil(time.Minute, e.Drained)
	w.run(time.Second)
	w.close()
}

// Memory that only a transfer needs goes with it, and the next one asks the path again.
func TestAfterARestThePathIsAskedAgain(t *testing.T) {
	w := nearPair(t, Config{MTU: 1492}, loopback)
	for round := range 3 {
		transfer(t, w, 1000, 2000)
		if !w.end[0].wide() {
			t.Errorf("round %d is not wide", round)
		}
		w.run(time.Second)
		w.end[0].Rest(w.now)
		if w.end[0].queue != nil || w.end[0].wide() {
			t.Errorf("round %d: there is a queue after a rest", round)
		}
	}
	w.close()
}

// What was cut for one size is taken while the other one holds.
func TestFragmentsOfEitherSizeAreTaken(t *testing.T) {
	w := nearPair(t, Config{MTU: 1492}, loopback)
	transfer(t, w, 1000, 2000)
	got := 0
	w.onGot = func(end int, b []byte) {
		if end == 1 {
			if sum(b) != sum(payload(got, 20_000)) {
				t.Fatalf("message %d arrived wrong", got)
			}
			got++
		}
	}
	for i, mtu := range []int{1492, WideMTU, 1492} {
		cut := Cut(payload(i, 20_000), mtu, protocol.ReliableOrdered)
		if err := w.send(0, Message{Fragments: cut, Reliability: protocol.ReliableOrdered}); err != nil {
			t.Fatal(err)
		}
	}
	w.runUntil(time.Second, func() bool { return got == 3 })
	w.end[0].queue.wide = false
	if err := w.send(0, Message{Fragments: Cut(payload(3, 20_000), WideMTU, protocol.ReliableOrdered), Reliability: protocol.ReliableOrdered}); err != nil {
		t.Fatal(err)
	}
	w.runUntil(time.Second, func() bool { return got == 4 })
	w.run(time.Second)
	w.close()
}

func TestAWideMessageIsCutIntoEqualParts(t *testing.T) {
	for size := WideMTU; size < 60_000; size += 977 {
		cut := Cut(make([]byte, size), WideMTU, protocol.ReliableOrdered)
		least, most, sum := 1<<20, 0, 0
		header := wire.DatagramHeaderSize + wire.FrameHeaderSize(protocol.ReliableOrdered, true)
		for _, b := range cut.bufs {
			least, most, sum = min(least, b.N), max(most, b.N), sum+b.N-header
		}
		if sum != size || most-least > len(cut.bufs) || most > WideMTU-protocol.UDPOverhead {
			t.Errorf("%d bytes: parts of %d to %d, together %d", size, least, most, sum)
		}
		cut.Release()
	}
}

func BenchmarkWideTransfer(b *testing.B) {
	w := nearPair(b, Config{MTU: 1492}, loopback)
	e := w.end[0]
	m := Message{Payload: payload(0, 1000), Reliability: protocol.ReliableOrdered}
	w.onGot = func(end int, _ []byte) { w.got[end] = w.got[end][:0] }
	b.SetBytes(1000)
	for b.Loop() {
		if err := e.Send(w.now, &m); err != nil {
			b.Fatal(err)
		}
		if !e.Flowing() || e.Plenty() {
			w.flush(0)
		}
		if e.Ahead() || e.SendSpace() < 2000 {
			w.runUntil(time.Second, e.Drained)
		}
	}
	w.flush(0)
	w.runUntil(time.Second, e.Drained)
	w.run(time.Second)
	w.close()
}
