package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// A peer that counts datagrams has a clock of its own: whatever span of ten milliseconds it
// counts over, there are never more than were allowed in it, ACKs and NACKs and resends
// included, and all of it arrives nevertheless.
func TestNoSpanHoldsMoreDeparturesThanAllowed(t *testing.T) {
	const allowed, span = 150, 10 * time.Millisecond
	for name, p := range map[string]path{
		"a clean path": {delay: 200 * time.Microsecond},
		"a lossy path": {delay: 5 * time.Millisecond, jitter: 2 * time.Millisecond, loss: 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			c := Config{MTU: 1492, Controller: NewFixed(4000), Limits: Limits{Departures: allowed}}
			w := newPair(t, 1, c, p)
			defer w.close()
			var left [2][]monotime.Time
			for i := range w.path {
				w.path[i].drop = func(int, []byte) bool { left[i] = append(left[i], w.now); return false }
			}
			const messages = 2000
			for i := range messages {
				if err := w.send(i%2, Message{Payload: payload(i, 1400), Reliability: protocol.ReliableOrdered}); err != nil {
					t.Fatal(err)
				}
			}
			w.runUntil(time.Minute, func() bool { return len(w.got[0])+len(w.got[1]) == messages })
			full := false
			for end := range left {
				for i := allowed; i < len(left[end]); i++ {
					if d := left[end][i].Sub(left[end][i-allowed]); d < span {
						t.Fatalf("end %d: %d datagrams within %v", end, allowed+1, d)
					} else if d < 2*span {
						full = true
					}
				}
			}
			if !full {
				t.Error("the limit was never felt")
			}
		})
	}
}

func TestDeparturesThatWaitDoNotKeepTheDriverBusy(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(100), Limits: Limits{Departures: 3, DepartureSpan: 20 * time.Millisecond}})
	begin := l.now
	for range 5 {
		l.send(1432)
	}
	l.want("three may leave", 0, 0, 1, 1, 2, 2)
	// What came meanwhile is due to be acknowledged, and has to wait as well.
	l.e.Receive(l.now, nil, append(wire.AppendFrameHeader(wire.AppendDatagramHeader(nil, wire.FrameSetID, uint32(0)),
		&wire.Frame{Reliability: protocol.Unreliable}, 1), 0xfe))
	l.want("not even an ACK")
	if d := l.e.Deadline(); d != begin.Add(20*time.Millisecond) {
		t.Fatalf("looked at again %v after the first, want 20ms", d.Sub(begin))
	}
	l.now = l.e.Deadline()
	l.e.Advance(l.now)
	b := l.e.Transmit(l.now)
	if b == nil || wire.Classify(b.Bytes()) != wire.KindACK {
		t.Fatalf("the ACK does not leave first: %v", b)
	}
	b.Release()
	l.want("and what waited", 3, 3, 4, 4)
	var d Delivery
	for l.e.NextDelivery(&d) {
		d.Release()
	}
}

// What a peer is said to take replaces what was learned of it.
func TestTheUsersBoundsOnWhatIsUnderWay(t *testing.T) {
	count := func(l *lossTest) (n int) {
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			b.Release()
			n++
		}
		return n
	}
	l := newLossTest(t, Config{Controller: NewFixed(8000), Limits: Limits{SplitsInFlight: 4}})
	for range 10 {
		l.send(2000)
	}
	if n := count(l); n != 2*4 {
		t.Errorf("%d fragments of 4 messages left, want 8", n)
	}
	l.ack(0, 1)
	if n := count(l); n != 2 {
		t.Errorf("one message arrived, and %d fragments of the next left", n)
	}
	for limit, want := range map[int]int{100: 100, -1: wideInFlight} {
		l := newLossTest(t, Config{Controller: NewFixed(16000), Limits: Limits{ReliableInFlight: limit, SendBuffer: 64 << 20}})
		for range wideInFlight/2 + 100 {
			l.send(500)
			l.send(500)
		}
		n := 0
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			it := wire.Frames(b.Bytes()[wire.DatagramHeaderSize:])
			for f := (wire.Frame{}); it.Next(&f); n++ {
			}
			b.Release()
		}
		if n > want || n < want-2 {
			t.Errorf("bound %d: %d frames left, want %d", limit, n, want)
		}
	}
}
