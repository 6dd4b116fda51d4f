package arq

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// wantHex checks the next datagram byte for byte; "" is none.
func (l *lossTest) wantHex(what, want string) {
	l.t.Helper()
	got := ""
	if b := l.e.Transmit(l.now); b != nil {
		got = hex.EncodeToString(b.Bytes())
		b.Release()
	}
	if got != want {
		l.t.Fatalf("%s: sent %q, want %q", what, got, want)
	}
}

// receive hands the engine a datagram in hex.
func (l *lossTest) receive(h string) Verdict {
	l.t.Helper()
	data, err := hex.DecodeString(h)
	if err != nil {
		l.t.Fatal(err)
	}
	b := pool.Get(pool.ClassRead)
	defer b.Release()
	b.N = copy(b.B, data)
	return l.e.Receive(l.now, b, b.Bytes())
}

func TestTheFirstMessageLooksLikeTheOriginals(t *testing.T) {
	l := newLossTest(t, Config{})
	if err := l.e.Send(l.now, &Message{Payload: []byte{0xfe, 1}, Reliability: protocol.ReliableOrdered, Channel: 5}); err != nil {
		t.Fatal(err)
	}
	l.wantHex("datagram 0, reliable 0, order 0 on channel 5", "84000000600010000000000000"+"05fe01")
	t.Logf("# while more waits, the flags say so")
	for range 2 {
		l.send(1000)
	}
	b := l.e.Transmit(l.now)
	if b.B[0] != 0x8c {
		t.Errorf("flags %#x with more waiting, want 0x8c", b.B[0])
	}
	b.Release()
	b = l.e.Transmit(l.now)
	if b.B[0] != 0x84 {
		t.Errorf("flags %#x with nothing waiting, want 0x84", b.B[0])
	}
	b.Release()
}

func TestCountersWrapOnTheWire(t *testing.T) {
	l := newLossTest(t, Config{MTU: 1492, FirstDatagram: 1<<24 - 1, FirstReliable: 1<<24 - 1, FirstOrder: 1<<24 - 1})
	one := func() error {
		return l.e.Send(l.now, &Message{Payload: []byte{0xfe}, Reliability: protocol.ReliableOrdered})
	}
	if err := one(); err != nil {
		t.Fatal(err)
	}
	l.wantHex("last", "84ffffff600008ffffffffffff00fe")
	if err := one(); err != nil {
		t.Fatal(err)
	}
	l.wantHex("first again", "84000000600008000000000000"+"00fe")
	l.receive("c0000200ffffffffffff00000000000000")
	if !l.e.Drained() {
		t.Error("an ACK across the wrap in two ranges was not understood")
	}
}

func TestAnAckRidesWithData(t *testing.T) {
	l := newLossTest(t, Config{})
	l.e.acks.told = helloAcks // the first are said again
	for i := range promptAcks {
		l.receive("84" + hex.EncodeToString(wire.AppendUint24(nil, uint32(i))) + "000008fe")
		b := l.e.Transmit(l.now)
		if b == nil || b.B[0] != wire.ACKID {
			t.Fatalf("datagram %d of a new connection was not acknowledged at once", i)
		}
		b.Release()
	}
	l.receive("84100000000008fe")
	l.wantHex("a lone datagram waits", "")
	if d := l.e.Deadline().Sub(l.now); d != maxAckDelay {
		t.Errorf("for %v, want %v", d, maxAckDelay)
	}
	l.send(100)
	l.want("a fresh ACK does not ride", 0, 0)
	l.now = l.now.Add(rideAge)
	l.send(100)
	b := l.e.Transmit(l.now)
	if b == nil || b.B[0] != wire.FrameSetID {
		t.Fatal("the data leaves first")
	}
	b.Release()
	l.wantHex("and the ACK with it", "c0000101100000")
	t.Logf("# alone it leaves in time")
	l.receive("84110000000008fe")
	l.now = l.now.Add(maxAckDelay)
	l.wantHex("due", "c0000101110000")
	t.Logf("# two full ones are acknowledged at once")
	full := fmt.Sprintf("%04x", 1400*8) + "fe" + strings.Repeat("00", 1399)
	l.receive("8412000000" + full)
	l.receive("8413000000" + full)
	l.wantHex("two", "c0000100120000130000")
}

func TestAGapIsReportedAtOnceAndALateArrivalCancels(t *testing.T) {
	l := newLossTest(t, Config{})
	l.receive("84000000000008fe")
	l.receive("84030000000008fe")
	l.receive("84020000000008fe")
	l.wantHex("2 came in the same batch: only 1 is missing", "a0000101010000")
	l.wantHex("the others are acknowledged", "c0000201000000"+"00020000030000")
	l.wantHex("each number is reported once", "")
	l.receive("84010000000008fe")
	t.Logf("# it came late; on a path that loses, an ACK says again what the last ones said")
	l.wantHex("1 to 3, and 0", "c0000100000000030000")
}

func TestNothingLeavesBeyondTheWindow(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(4)})
	for range 20 {
		l.send(1400)
	}
	l.want("four", 0, 0, 1, 1, 2, 2, 3, 3)
	if l.e.inFlight > l.e.cc.Window() {
		t.Errorf("%d bytes in flight, window %d", l.e.inFlight, l.e.cc.Window())
	}
	l.ack(0, 1)
	l.want("two more", 4, 4, 5, 5)
}

func TestTheSendBufferPushesBack(t *testing.T) {
	l := newLossTest(t, Config{MTU: 1492, Limits: Limits{SendBuffer: 10_000}})
	n := 0
	for ; l.e.Send(l.now, &Message{Payload: payload(0, 1000), Reliability: protocol.Reliable}) == nil; n++ {
	}
	if n != 9 || l.e.SendSpace() >= 1000 {
		t.Errorf("took %d messages of 1000, %d bytes left of 10000", n, l.e.SendSpace())
	}
	if err := l.e.Send(l.now, &Message{Payload: []byte{0x15}, Reliability: protocol.ReliableOrdered, Control: true}); err != nil {
		t.Errorf("control messages pass a full buffer: %v", err)
	}
	for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
		b.Release()
	}
	l.ack(0, 100)
	if l.e.SendSpace() != 10_000 {
		t.Errorf("%d bytes free after everything was acknowledged", l.e.SendSpace())
	}
	t.Logf("# a message larger than the buffer passes while it is empty")
	if err := l.e.Send(l.now, &Message{Payload: payload(0, 50_000), Reliability: protocol.Reliable}); err != nil {
		t.Error(err)
	}
}

func TestUserErrorsChangeNothing(t *testing.T) {
	l := newLossTest(t, Config{})
	for what, tc := range map[string]struct {
		m    Message
		want error
	}{
		"empty":       {Message{}, ErrEmpty},
		"channel 32":  {Message{Payload: []byte{1}, Channel: 32}, ErrChannel},
		"mode 8":      {Message{Payload: []byte{1}, Reliability: 8}, ErrReliability},
		"priority 4":  {Message{Payload: []byte{1}, Priority: 4}, ErrPriority},
		"2049 pieces": {Message{Payload: make([]byte, 2048*1432+1), Reliability: protocol.Reliable}, ErrMessageTooLarge},
	} {
		if err := l.e.Send(l.now, &tc.m); err != tc.want {
			t.Errorf("%s: %v, want %v", what, err, tc.want)
		}
	}
	if b := l.e.Transmit(l.now); b != nil || l.e.SendSpace() != 4<<20 || l.e.Deadline() != monotime.Never {
		t.Error("an error left something behind")
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	var a, b Engine
	c := Config{MTU: 1492}
	a.Init(1, &c)
	b.Init(1, &c)
	now := monotime.Time(1)
	msg := Message{Payload: payload(0, 1000), Reliability: protocol.ReliableOrdered}
	round := func() {
		now = now.Add(100 * time.Microsecond)
		for range 8 {
			if err := a.Send(now, &msg); err != nil {
				t.Fatal(err)
			}
		}
		for x := a.Transmit(now); x != nil; x = a.Transmit(now) {
			r := pool.Get(pool.ClassRead)
			r.N = copy(r.B, x.Bytes())
			x.Release()
			b.Receive(now, r, r.Bytes())
			r.Release()
		}
		var d Delivery
		for b.NextDelivery(&d) {
			d.Release()
		}
		for x := b.Transmit(now); x != nil; x = b.Transmit(now) {
			a.Receive(now, nil, x.Bytes())
			x.Release()
		}
		a.Advance(now)
		b.Advance(now)
	}
	for range 2000 {
		round()
	}
	if n := testing.AllocsPerRun(500, round); n > 0.1 {
		t.Errorf("%v allocations for 8 messages, sender and receiver together", n)
	}
	a.Close()
	b.Close()
}

func TestWavesOfMessagesReuseMemoryUntilTheConnectionRests(t *testing.T) {
	w := newPair(t, 1, Config{MTU: 1492, Controller: NewFixed(512)}, path{delay: time.Millisecond})
	wave := func() { bulk(t, w, 1000, 300, time.Second) }
	e := w.end[0]
	wave()
	w.runUntil(time.Second, e.Drained)
	slots, free := len(e.sent.slots), e.freeCount
	if slots < 300 || free < 300 {
		t.Fatalf("a wave left %d slots and %d packets", slots, free)
	}
	wave()
	w.runUntil(time.Second, e.Drained)
	if len(e.sent.slots) != slots || e.freeCount < free {
		t.Errorf("the next wave made %d slots and %d packets of %d and %d", len(e.sent.slots), e.freeCount, slots, free)
	}
	e.Rest(1 << 50)
	if e.sent.slots != nil || e.free != nil || e.freeCount != 0 {
		t.Error("memory is kept at rest")
	}
	wave()
}

func BenchmarkOneWay(b *testing.B) {
	for _, size := range []int{100, 1000, 10_000, 100_000} {
		b.Run(byteName(size), func(b *testing.B) {
			var x, y Engine
			c := Config{MTU: 1492, Controller: NewFixed(256)}
			x.Init(1, &c)
			y.Init(1, &c)
			now := monotime.Time(1)
			msg := Message{Payload: payload(0, size), Reliability: protocol.ReliableOrdered}
			var d Delivery
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for x.Send(now, &msg) == ErrSendBufferFull || x.queue.bytes > 64<<10 {
					now = now.Add(50 * time.Microsecond)
					for out := x.Transmit(now); out != nil; out = x.Transmit(now) {
						r := pool.Get(pool.ClassRead)
						r.N = copy(r.B, out.Bytes())
						out.Release()
						y.Receive(now, r, r.Bytes())
						r.Release()
					}
					for y.NextDelivery(&d) {
						d.Release()
					}
					for out := y.Transmit(now); out != nil; out = y.Transmit(now) {
						x.Receive(now, nil, out.Bytes())
						out.Release()
					}
					if x.queue.bytes <= 64<<10 {
						break
					}
				}
			}
			x.Close()
			y.Close()
		})
	}
}

func byteName(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%dkB", n/1000)
	}
	return fmt.Sprintf("%dB", n)
}
