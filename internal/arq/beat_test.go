package arq

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

// rhythm is two engines over a path, of which the first sends.
type rhythm struct {
	*pair
	n byte
}

func newRhythm(t *testing.T, kin bool, p path) *rhythm {
	w := &rhythm{pair: newPair(t, 1, Config{MTU: 1400}, p)}
	if kin {
		w.end[0].MeetKin()
		w.end[1].MeetKin()
	}
	t.Cleanup(func() {
		w.end[0].Close()
		w.end[1].Close()
	})
	return w
}

func (w *rhythm) say() {
	w.n++
	m := Message{Reliability: protocol.ReliableOrdered, Payload: append([]byte{0xfe, w.n}, make([]byte, 300)...)}
	require.NoError(w.t, w.send(0, m))
}

// game sends a message every tick, for so long.
func (w *rhythm) game(tick, d time.Duration) {
	for ; d > 0; d -= tick {
		w.say()
		w.run(tick)
	}
}

// stats are those of both ends.
func (w *rhythm) stats() (sent, took Stats) {
	w.end[0].Stats(&sent)
	w.end[1].Stats(&took)
	return sent, took
}

func TestASteadyBeatIsAcknowledgedEverySecondTime(t *testing.T) {
	far := path{delay: 20 * time.Millisecond, jitter: 3 * time.Millisecond}
	for _, c := range []struct {
		name string
		path path
		tick time.Duration
		kin  bool
		part float64 // ACKs for each datagram
	}{
		{"60 a second, near", path{}, time.Second / 60, true, 0.5},
		{"60 a second, far", far, time.Second / 60, true, 0.5},
		{"50 a second", path{}, time.Second / 50, true, 0.5},
		{"90 a second", path{}, time.Second / 90, true, 0.5},
		{"20 a second", path{}, time.Second / 20, true, 1},
		{"200 a second draw an ACK every 8 ms anyway", path{}, time.Second / 200, true, 0.5},
		{"60 a second, to somebody who may not grant the time", far, time.Second / 60, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newRhythm(t, c.kin, c.path)
			w.game(c.tick, 10*time.Second)
			sent, took := w.stats()
			require.InDelta(t, c.part, float64(took.AcksSent)/float64(sent.DatagramsSent), 0.05)
			require.Zero(t, sent.FramesResent, "who sends grants the time")
			require.Zero(t, sent.Probes)
			if c.kin && c.part < 1 && c.tick > beatLeast {
				require.Less(t, sent.RTT, 2*c.path.delay+2*c.path.jitter+time.Millisecond, "the ACK leaves with the second")
			}
			t.Log("# the last of all waits no longer than it may")
			w.run(beatDelay)
			w.run(2*c.path.delay + 2*c.path.jitter)
			sent, _ = w.stats()
			require.Zero(t, sent.BytesInFlight)
		})
	}
}

// Who sends the next message when the last was acknowledged has a beat of its own making, and must not be slowed by it.
func TestWhoWaitsForEachAckIsNoBeat(t *testing.T) {
	for _, delay := range []time.Duration{0, 500 * time.Microsecond, 2 * time.Millisecond, 4 * time.Millisecond, 8 * time.Millisecond, 20 * time.Millisecond} {
		took := map[bool]time.Duration{}
		for _, kin := range []bool{false, true} {
			w := newRhythm(t, kin, path{delay: delay})
			begin := w.now
			for n := 1; n <= 200; n++ {
				w.say()
				w.runUntil(time.Second, func() bool { return w.end[0].inFlight == 0 })
			}
			took[kin] = w.now.Sub(begin)
			sent, _ := w.stats()
			require.Zero(t, sent.FramesResent)
		}
		require.Less(t, took[true], took[false]*6/5, "one way takes %v", delay)
	}
}

// Where something is lost, every datagram is acknowledged soon: its loss must be seen.
func TestThereIsNoBeatOnAPathThatLoses(t *testing.T) {
	w := newRhythm(t, true, path{delay: 300 * time.Microsecond})
	w.game(time.Second/60, time.Second)
	require.GreaterOrEqual(t, w.end[0].rtt.rto(), beatDelay)
	w.path[0].drop = func(n int, _ []byte) bool { return n == w.path[0].count-1 }
	w.say()
	w.path[0].drop = nil
	w.run(time.Second / 60)
	_, before := w.stats()
	w.game(time.Second/60, 5*time.Second)
	_, after := w.stats()
	require.InDelta(t, 300, after.AcksSent-before.AcksSent, 10)
	t.Log("# until it has lost nothing for long")
	first, _ := w.stats()
	w.game(time.Second/60, 5*time.Second)
	_, before = w.stats()
	w.game(time.Second/60, 5*time.Second)
	sent, after := w.stats()
	require.InDelta(t, 150, after.AcksSent-before.AcksSent, 10)
	require.Zero(t, sent.Probes-first.Probes, "which who sends grants")
	t.Log("# who sends no more in a beat does not grant it any longer")
	for range 100 {
		w.say()
		w.run(50 * time.Millisecond)
	}
	require.Less(t, w.end[0].rtt.rto(), beatDelay)
}

// Who does not wait for the second datagram sends the first again, which says nothing of the path.
func TestAnAckThatIsHeldIsNotTakenForLost(t *testing.T) {
	w := newRhythm(t, true, path{delay: 300 * time.Microsecond})
	w.game(time.Second/60, time.Second)
	for w.end[0].inFlight == 0 { // the second of a pair is acknowledged at once
		w.run(time.Second/60 - time.Millisecond)
		w.say()
		w.run(time.Millisecond)
	}
	w.end[0].onTimeout(w.now)
	w.flush(0)
	w.run(time.Millisecond)
	require.Zero(t, w.end[0].inFlight, "it is acknowledged at once")
	_, took := w.stats()
	require.NotZero(t, took.DuplicatesReceived)
	require.Zero(t, w.end[1].acks.lossy)
	t.Log("# on a path that loses none is held, and what comes twice may mean that one was lost")
	w.run(time.Second/60 - 2*time.Millisecond)
	w.end[1].acks.lossy = 100
	w.say()
	w.run(time.Millisecond)
	require.NotZero(t, w.end[0].inFlight)
	w.end[0].onTimeout(w.now)
	w.flush(0)
	w.run(time.Millisecond)
	require.Greater(t, w.end[1].acks.lossy, int16(100))
}

// The path may hide that a tick was late, and then the receiver goes on to hold ACKs while the sender is out of its beat. It grants
// the time nevertheless: for messages that nobody sends again a timeout is the end.
func TestALateTickIsNoLoss(t *testing.T) {
	for _, kin := range []bool{false, true} {
		w := newRhythm(t, kin, path{delay: 1500 * time.Microsecond})
		say := func(d time.Duration) {
			m := Message{Reliability: protocol.Unreliable, ReceiptID: 1, Payload: append([]byte{0xfe}, make([]byte, 300)...)}
			require.NoError(t, w.send(0, m))
			w.run(d)
		}
		for range 61 {
			say(time.Second / 60)
		}
		say(24400 * time.Microsecond)
		w.path[0].delay = 700 * time.Microsecond
		for range 60 {
			say(time.Second / 60)
		}
		require.Greater(t, len(w.receipts[0]), 118)
		for _, r := range w.receipts[0] {
			require.True(t, r.Acked)
		}
	}
	for _, tick := range []time.Duration{16, 18, 20, 22} {
		for _, late := range []time.Duration{4, 8} {
			for _, jitter := range []time.Duration{500, 1000, 3000} {
				w := newRhythm(t, true, path{delay: 300 * time.Microsecond, jitter: jitter * time.Microsecond})
				for range 3000 {
					w.say()
					w.run(tick*time.Millisecond + time.Duration(w.rnd.Int64N(int64(2*late*time.Millisecond))) - late*time.Millisecond)
				}
				sent, _ := w.stats()
				require.Zero(t, sent.Probes, "a tick of %d ms, %d more or less", tick, late)
			}
		}
	}
}

func TestJitterEndsABeatAndALatePairDoesNot(t *testing.T) {
	var b beat
	now := monotime.Time(1 << 40)
	beats := func(gaps ...time.Duration) bool {
		for _, gap := range gaps {
			now = now.Add(gap)
			b.note(now, 0)
		}
		return b.steady()
	}
	tick := 16 * time.Millisecond
	require.False(t, beats(time.Second, tick, tick, tick, tick, tick, tick, tick))
	require.True(t, beats(tick))
	require.True(t, beats(23*time.Millisecond, 9*time.Millisecond, tick), "one was late, and the next in time")
	require.True(t, beats(tick, 100*time.Microsecond), "two at once are one")
	require.False(t, beats(26*time.Millisecond))
	require.True(t, beats(tick, tick, tick, tick, tick, tick, tick, tick))
	now = now.Add(beatUnit << 16) // once around
	require.False(t, beats(time.Second))
}
