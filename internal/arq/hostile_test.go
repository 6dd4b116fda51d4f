package arq

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
)

func connectedVectors(t *testing.T) []hostile.Vector {
	t.Helper()
	all, err := hostile.Load(hostile.ServerConnected, hostile.ClientConnected)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// stateOf returns the state in which an engine meets a vector.
func stateOf(v *hostile.Vector) string {
	if v.Context == hostile.ClientConnected {
		return "handshaking"
	}
	return v.State
}

// inState brings an engine to the state that the vectors of context server-connected
// start from: the peer's next datagram, reliable index and ordering index are 2; ours
// are 4, with datagrams 2 and 3 unacknowledged.
func inState(t testing.TB, state string) *lossTest {
	if strings.HasPrefix(state, "next datagram fffffe") {
		l := newLossTest(t, Config{MTU: 1400, FirstDatagram: 1<<24 - 2, FirstReliable: 1<<24 - 2, FirstOrder: 1<<24 - 2})
		return l
	}
	l := newLossTest(t, Config{MTU: 1400})
	if strings.HasPrefix(state, "sent fffffe") {
		l = newLossTest(t, Config{MTU: 1400, FirstDatagram: 1<<24 - 2})
		for range 4 {
			l.send(100)
			l.e.Transmit(l.now).Release()
		}
		return l
	}
	if state == "handshaking" {
		return l
	}
	l.receive("84000000" + "600010" + "000000" + "000000" + "00" + "fe00")
	l.receive("84010000" + "600010" + "010000" + "010000" + "00" + "fe00")
	for range 4 {
		l.send(100)
		b := l.e.Transmit(l.now)
		for b.B[0] != wire.FrameSetID { // an ACK leaves with the first
			b.Release()
			b = l.e.Transmit(l.now)
		}
		b.Release()
	}
	l.pass(10 * time.Millisecond)
	l.ack(0, 1)
	for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
		b.Release()
	}
	var d Delivery
	for l.e.NextDelivery(&d) {
		d.Release()
	}
	return l
}

// outcome is what a vector did to the engine.
type outcome struct {
	verdict   Verdict
	acked     bool // the last datagram is in the ACK that leaves
	nacks     int
	delivered []string
	resent    int
	released  int
	st        Stats
}

func play(t testing.TB, l *lossTest, in [][]byte) (o outcome) {
	out := l.e.sent.out
	var last []byte
	for _, data := range in {
		b := pool.Get(max(len(data), 1))
		b.N = copy(b.B, data)
		o.verdict = l.e.Receive(l.now, b, b.Bytes())
		b.Release()
		last = data
	}
	o.released = out - l.e.sent.out
	l.e.Stats(&o.st)
	var d Delivery
	for l.e.NextDelivery(&d) {
		o.delivered = append(o.delivered, hex.EncodeToString(d.AppendTo(nil)))
		d.Release()
	}
	l.now = l.now.Add(maxAckDelay)
	l.e.Advance(l.now)
	for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
		switch wire.Classify(b.Bytes()) {
		case wire.KindACK:
			it, err := wire.ParseRanges(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			for r, ok := it.Next(); ok; r, ok = it.Next() {
				if len(last) >= 4 {
					n := wire.Uint24(last[1:])
					o.acked = o.acked || n >= r.First && n <= r.Last
				}
			}
		case wire.KindNACK:
			o.nacks++
		case wire.KindFrameSet:
			o.resent++
		}
		b.Release()
	}
	return o
}

// meets reports whether an outcome is what a vector names, as far as the engine decides it.
func (o *outcome) meets(t *testing.T, expect string) bool {
	has := func(s string) bool { return strings.Contains(expect, s) }
	want := ""
	for _, part := range strings.FieldsFunc(expect, func(r rune) bool { return r == '|' || r == ';' }) {
		if at := strings.Index(part, "deliver:"); at >= 0 {
			want = strings.TrimSuffix(part[at+len("deliver:"):], ",close")
			want, _, _ = strings.Cut(want, ",nack")
		}
	}
	if dropped := !o.acked && len(o.delivered) == 0 && (o.st.Violations > 0 || o.st.DatagramsRefused > 0); dropped && has("drop-datagram") {
		return true
	}
	switch {
	case has("deliver:"):
		if strings.Join(o.delivered, ",") != want && !(has("deliver-none") && len(o.delivered) == 0) {
			return false
		}
		return (o.acked || !has("ack,deliver")) && o.nacks <= 1
	case has("deliver-none"), has("drop-message"), has("bounded"):
		return len(o.delivered) == 0 && (o.acked || !has("ack"))
	case has("release:"):
		return o.released == len(strings.Split(strings.TrimPrefix(expect, "release:"), ",")) && len(o.delivered) == 0
	case has("ignore"):
		return o.released == 0 && o.resent == 0
	case has("resend"):
		return o.resent <= 2
	}
	t.Fatalf("no rule for %q", expect)
	return false
}

func TestHostileVectors(t *testing.T) {
	n := 0
	for _, v := range connectedVectors(t) {
		engine := strings.HasPrefix(v.ID, "SC-") || strings.HasPrefix(v.ID, "HS-seq-jump") || strings.HasPrefix(v.ID, "CC-split")
		session := false // decided above the engine: control messages, offline packets, what closes a connection
		for _, id := range []string{"SC-cping", "SC-cpong", "SC-09", "SC-10", "SC-13", "SC-15", "SC-04", "SC-user", "SC-offline", "SC-empty"} {
			session = session || strings.HasPrefix(v.ID, id)
		}
		if !engine || session {
			continue
		}
		n++
		t.Run(v.ID, func(t *testing.T) {
			o := play(t, inState(t, stateOf(&v)), v.Datagrams)
			if !o.meets(t, v.Expect) {
				t.Errorf("%s: got %+v, want %s", v.Why, o, v.Expect)
			}
		})
	}
	if n < 65 {
		t.Errorf("only %d vectors ran", n)
	}
}
