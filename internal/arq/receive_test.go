package arq

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// hostileVector is one entry of testdata/hostile.json.
type hostileVector struct {
	ID      string
	Hex     any
	Context string
	State   string
	Expect  string
	Why     string
}

func (v *hostileVector) datagrams(t *testing.T) (out [][]byte) {
	t.Helper()
	add := func(s string) {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	switch h := v.Hex.(type) {
	case string:
		add(h)
	case []any:
		for _, s := range h {
			add(s.(string))
		}
	}
	return out
}

func loadVectors(t *testing.T) []hostileVector {
	t.Helper()
	b, err := os.ReadFile("../../testdata/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []hostileVector }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
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
	for _, v := range loadVectors(t) {
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
			state := v.State
			if v.Context == "client-connected" {
				state = "handshaking"
			}
			o := play(t, inState(t, state), v.datagrams(t))
			if !o.meets(t, v.Expect) {
				t.Errorf("%s: got %+v, want %s", v.Why, o, v.Expect)
			}
		})
	}
	if n < 65 {
		t.Errorf("only %d vectors ran", n)
	}
}

// instant is a test whose cleanups are run by hand: a million of them would take memory.
type instant struct {
	testing.TB
	cleanups []func()
}

func (i *instant) Cleanup(f func()) { i.cleanups = append(i.cleanups, f) }

func (i *instant) finish() {
	for _, f := range slices.Backward(i.cleanups) {
		f()
	}
	i.cleanups = i.cleanups[:0]
}

func TestEveryPrefixAndEveryChangedByteOfAVector(t *testing.T) {
	changes := 255
	if raceEnabled || testing.Short() {
		changes = 3
	}
	runs := 0
	for _, v := range loadVectors(t) {
		if v.Context != "server-connected" && v.Context != "client-connected" {
			continue
		}
		in := v.datagrams(t)
		if len(in) > 10 || len(in) == 0 || len(in[len(in)-1]) > 64 {
			continue // floods and long bodies: their shapes are in the short ones
		}
		last := in[len(in)-1]
		now := &instant{TB: t}
		try := func(b []byte) {
			runs++
			play(now, inState(now, v.State), append(append([][]byte(nil), in[:len(in)-1]...), b))
			now.finish()
		}
		for n := range last {
			try(last[:n])
		}
		for i := range last {
			for x := 1; x <= changes; x++ {
				b := append([]byte(nil), last...)
				b[i] ^= byte(x * 0x55 % 256)
				try(b)
			}
		}
	}
	t.Logf("%d runs", runs)
}

func TestAFullReaderMakesThePeerSlowDown(t *testing.T) {
	l := newLossTest(t, Config{MTU: 1492, Limits: Limits{ReceiveBuffer: 1000}})
	l.e.SetUnread(1000)
	if v := l.receive("84000000" + "600010" + "000000" + "000000" + "00" + "fe00"); v != VerdictRefused {
		t.Fatalf("reliable: %v", v)
	}
	if v := l.receive("84010000" + "000010" + "fe00"); v != VerdictAccepted {
		t.Fatalf("unreliable: %v", v)
	}
	if s := l.stats(); s.FramesDropped != 1 || s.DatagramsRefused != 1 {
		t.Errorf("dropped %d, refused %d, want 1 and 1", s.FramesDropped, s.DatagramsRefused)
	}
	l.e.SetUnread(0)
	if v := l.receive("84020000" + "600010" + "000000" + "000000" + "00" + "fe00"); v != VerdictAccepted {
		t.Fatalf("after the reader caught up: %v", v)
	}
}

func TestHeldMessagesAreBounded(t *testing.T) {
	l := newLossTest(t, Config{MTU: 1492, Limits: Limits{HeldMessages: 10}})
	frame := func(i uint32) string {
		f := wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: i, Order: i}
		b := wire.AppendDatagramHeader(nil, wire.FrameSetID, i)
		return hex.EncodeToString(append(wire.AppendFrameHeader(b, &f, 1), 0xfe))
	}
	refused := 0
	for i := uint32(1); i < 30; i++ {
		if l.receive(frame(i)) == VerdictRefused {
			refused++
		}
	}
	if refused != 19 {
		t.Errorf("refused %d of 29, want 19", refused)
	}
	t.Logf("# the one that everybody waits for is taken though the bound is reached")
	if v := l.receive(frame(0)); v != VerdictAccepted {
		t.Fatalf("index 0: %v", v)
	}
	n := 0
	var d Delivery
	for ; l.e.NextDelivery(&d); n++ {
		d.Release()
	}
	if n != 11 {
		t.Errorf("%d delivered, want 11", n)
	}
}

func TestAMessageThatIsNeverCompletedBreaksThePromise(t *testing.T) {
	l := newLossTest(t, Config{})
	l.receive("84000000" + "700008" + "000000" + "000000" + "00" + "00000002" + "0000" + "00000000" + "fe")
	if l.e.Deadline() == 0 || l.e.Broken() {
		t.Fatal("too early")
	}
	l.now = l.now.Add(31 * time.Second)
	l.e.Advance(l.now)
	if !l.e.Broken() {
		t.Error("half a reliable message was acknowledged and then forgotten, and nobody says so")
	}
}

func TestAForgedJumpSilencesNobody(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		l := newLossTest(t, c)
		n := uint32(0)
		set := func(number uint32, mode protocol.Reliability, reliable uint32) Verdict {
			f := wire.Frame{Reliability: mode, Reliable: wire24(c.FirstReliable) + reliable, Order: wire24(c.FirstOrder) + reliable}
			b := wire.AppendDatagramHeader(nil, wire.FrameSetID, wire24(c.FirstDatagram+int64(number)))
			return l.receive(hex.EncodeToString(append(wire.AppendFrameHeader(b, &f, 1), 0xfe)))
		}
		for ; n < 5; n++ {
			if v := set(n, protocol.ReliableOrdered, n); v != VerdictAccepted {
				t.Fatalf("datagram %d: %v", n, v)
			}
		}
		t.Logf("# while the peer's own datagrams come, a number far above them is somebody else's")
		if v := set(n+40_000, protocol.Unreliable, 0); v != VerdictTooFar {
			t.Fatalf("forged: %v", v)
		}
		t.Logf("# after a pause it may be the peer's, and is taken")
		l.now = l.now.Add(jumpPause)
		if v := set(n+40_000, protocol.Unreliable, 0); v != VerdictAccepted {
			t.Fatalf("after a pause: %v", v)
		}
		t.Logf("# even so what the peer goes on sending is reliable still")
		if v := set(n, protocol.ReliableOrdered, 5); v != VerdictAccepted {
			t.Fatalf("the peer's next: %v", v)
		}
		t.Logf("# but what anybody could have sent proves nothing")
		if v := set(n, protocol.ReliableOrdered, 5); v != VerdictLate || v.Alive() {
			t.Fatalf("repeated: %v", v)
		}
		if v := set(n+1, protocol.Unreliable, 0); v != VerdictLate {
			t.Fatalf("unreliable: %v", v)
		}
		var d Delivery
		got := 0
		for ; l.e.NextDelivery(&d); got++ {
			d.Release()
		}
		if got != 7 {
			t.Errorf("%d messages delivered, want 6 reliable and 1 unreliable", got)
		}
	})
}

func TestControlMessagesPassAFullReader(t *testing.T) {
	l := newLossTest(t, Config{MTU: 1492, Limits: Limits{ReceiveBuffer: 1000}})
	l.e.SetUnread(1000)
	l.receive("84000000" + "000008" + "15" + "000008" + "fe")
	var d Delivery
	if !l.e.NextDelivery(&d) || d.First() != 0x15 {
		t.Error("an unreliable disconnect was dropped because the application does not read")
	}
	d.Release()
	if l.e.NextDelivery(&d) {
		t.Error("more was delivered")
	}
}
