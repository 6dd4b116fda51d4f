package arq

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/raknet-go/raknet/protocol"
)

// wrapConfig starts every counter so close to its end that a short test crosses it.
func wrapConfig(mtu int) Config {
	return Config{MTU: mtu, FirstDatagram: 1<<24 - 20, FirstReliable: 1<<24 - 30, FirstOrder: 1<<24 - 10, FirstSplit: 1<<16 - 2}
}

// bothStarts runs a test with counters at zero and about to wrap.
func bothStarts(t *testing.T, mtu int, f func(t *testing.T, c Config)) {
	t.Run("from zero", func(t *testing.T) { f(t, Config{MTU: mtu}) })
	t.Run("across the wrap", func(t *testing.T) { f(t, wrapConfig(mtu)) })
}

func payload(n, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(n*7 + i)
	}
	b[0] = 0xfe
	if size >= 9 {
		binary.BigEndian.PutUint64(b[1:], uint64(n))
	}
	return b
}

func sum(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// testBytes is n, or less under the race detector, which finds nothing in what one
// goroutine does alone and takes ten times as long.
func testBytes(n int) int {
	if raceEnabled {
		return n / 8
	}
	return n
}

// bulk sends count ordered messages of a size from end 0, as fast as the send buffer
// takes them, and checks that they arrive whole and in order. It returns how long it took.
func bulk(t *testing.T, w *pair, size, count int, limit time.Duration) time.Duration {
	t.Helper()
	start, sent := w.now, 0
	feed := func() {
		for sent < count {
			if err := w.send(0, Message{Payload: payload(sent, size), Reliability: protocol.ReliableOrdered}); err == ErrSendBufferFull {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			sent++
		}
	}
	n := 0
	w.onGot = func(end int, b []byte) {
		if end != 1 {
			return
		}
		if sum(b) != sum(payload(n, size)) {
			t.Fatalf("message %d arrived wrong", n)
		}
		n++
		w.got[1] = w.got[1][:0]
	}
	feed()
	w.runUntil(limit, func() bool { feed(); return n == count })
	return w.now.Sub(start)
}

func TestBulkArrivesWholeOnACleanPath(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		for _, size := range []int{1, 100, 1024, 1432, 1433, 100_000, 2 << 20} {
			w := newPair(t, 1, c, path{delay: 10 * time.Millisecond})
			took := bulk(t, w, size, max(1, min(testBytes(4<<20)/size, 20_000)), time.Minute)
			var st Stats
			w.end[0].Stats(&st)
			t.Logf("%7d B: %8v, lost %d, resent %d, probes %d, window %d", size, took, st.DatagramsLost, st.FramesResent, st.Probes, st.CongestionWindow)
			if st.FramesResent > 0 {
				t.Errorf("%d B: %d frames resent on a path that loses nothing", size, st.FramesResent)
			}
			w.run(time.Second)
			w.close()
		}
	})
}

func TestBulkSurvivesLossAndReordering(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		for seed := range uint64(2) {
			for _, size := range []int{100, 1024, 100_000, 2 << 20} {
				p := path{delay: 10 * time.Millisecond, loss: 0.05, dup: 0.01, reorder: 0.1, reorderBy: 5 * time.Millisecond}
				w := newPair(t, seed, c, p)
				total := testBytes(2 << 20)
				took := bulk(t, w, size, max(1, min(total/size, 20_000)), 5*time.Minute)
				var st Stats
				w.end[0].Stats(&st)
				t.Logf("seed %d %7d B: %8v, sent %d, lost %d, spurious %d, resent %d, probes %d, window %d rtt %v min %v tol %d", seed, size, took, st.DatagramsSent, st.DatagramsLost, st.SpuriousLosses, st.FramesResent, st.Probes, st.CongestionWindow, st.RTT, st.MinRTT, w.end[0].loss.tolerance)
				w.run(5 * time.Second)
				if !w.end[0].Drained() {
					t.Errorf("seed %d: not drained%s", seed, w.describe())
				}
				w.close()
			}
		}
	})
}

func TestAllModesOnAllChannelsThroughABadPath(t *testing.T) {
	bothStarts(t, 1400, func(t *testing.T, c Config) {
		for seed := range uint64(10) {
			t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { mixedTraffic(t, seed, c) })
		}
	})
}

// mixedTraffic sends every mode on every channel both ways and checks what each promises.
func mixedTraffic(t *testing.T, seed uint64, c Config) {
	p := path{delay: 15 * time.Millisecond, jitter: 3 * time.Millisecond, loss: 0.1, dup: 0.1, reorder: 0.1, reorderBy: 20 * time.Millisecond}
	w := newPair(t, seed, c, p)
	const rounds = 60
	type key struct {
		mode protocol.Reliability
		ch   uint8
	}
	var sent [2]map[key]int
	var seen [2]map[key][]int
	for i := range 2 {
		sent[i], seen[i] = map[key]int{}, map[key][]int{}
	}
	w.onGot = func(end int, b []byte) {
		k := key{protocol.Reliability(b[9]), b[10]}
		seen[end][k] = append(seen[end][k], int(binary.BigEndian.Uint64(b[1:])))
		if want := payload(int(binary.BigEndian.Uint64(b[1:])), len(b)); sum(want[11:]) != sum(b[11:]) {
			t.Fatalf("%v: payload changed", k)
		}
	}
	for range rounds {
		for range 40 {
			end := w.rnd.IntN(2)
			k := key{protocol.Reliability(w.rnd.IntN(8)), uint8(w.rnd.IntN(32))}
			n := sent[end][k]
			sent[end][k]++
			size := 11 + w.rnd.IntN(200)
			if w.rnd.IntN(20) == 0 && k.mode.IsReliable() {
				size = 1000 + w.rnd.IntN(5000)
			}
			b := payload(n, size)
			b[9], b[10] = byte(k.mode), k.ch
			if err := w.send(end, Message{Payload: b, Reliability: k.mode, Channel: k.ch, Priority: protocol.Priority(w.rnd.IntN(4))}); err != nil {
				t.Fatal(err)
			}
		}
		w.run(16 * time.Millisecond)
	}
	w.runUntil(time.Minute, func() bool { return w.end[0].Drained() && w.end[1].Drained() })
	w.run(time.Second)
	for end := range 2 {
		for k, n := range sent[1-end] {
			got := seen[end][k]
			switch {
			case k.mode.IsOrdered():
				for i, v := range got {
					if v != i {
						t.Fatalf("%v: message %d came at place %d", k, v, i)
					}
				}
				fallthrough
			case k.mode.IsReliable() && !k.mode.IsSequenced():
				once := map[int]int{}
				for _, v := range got {
					once[v]++
				}
				if len(got) != n || len(once) != n {
					t.Fatalf("%v: sent %d, got %d, %d different", k, n, len(got), len(once))
				}
			case k.mode.IsSequenced():
				for i := 1; i < len(got); i++ {
					if got[i] <= got[i-1] {
						t.Fatalf("%v: %d came after %d", k, got[i], got[i-1])
					}
				}
				if k.mode.IsReliable() && n >= 5 && len(got) == 0 { // fewer may all be passed by an ordered one
					t.Fatalf("%v: none of %d came", k, n)
				}
			default:
				once := map[int]bool{}
				for _, v := range got {
					if once[v] {
						t.Fatalf("%v: message %d came twice", k, v)
					}
					once[v] = true
				}
				if n > 10 && len(got) == 0 {
					t.Fatalf("%v: none of %d came", k, n)
				}
			}
		}
	}
	w.close()
}
