package arq

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

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

func TestADatagramThatBringsNothingNewIsAnsweredWithEverything(t *testing.T) {
	l := newLossTest(t, Config{MTU: 1492})
	l.e.acks.told = helloAcks // the first are said again
	acks := func() (all []string) {
		l.now = l.now.Add(10 * time.Millisecond)
		l.e.Advance(l.now)
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			all = append(all, hex.EncodeToString(b.Bytes()))
			b.Release()
		}
		return all
	}
	for _, d := range []string{"84000000" + "400008000000fe", "84010000" + "400008010000fe", "84020000" + "400008020000fe"} {
		l.receive(d)
	}
	if got := acks(); len(got) != 1 || got[0] != "c0000100000000020000" {
		t.Fatalf("%v", got)
	}
	t.Logf("# the ACK is lost; one of them comes again under a new number")
	l.receive("84030000" + "400008000000fe")
	if got := acks(); len(got) != 1 || got[0] != "c0000100000000030000" {
		t.Errorf("%v", got)
	}
	t.Logf("# one with something new among it tells nothing of the kind")
	l.e.acks.lossy, l.e.acks.echoes = 0, nil
	l.receive("84040000" + "400008000000fe" + "400008030000fe")
	if got := acks(); len(got) != 1 || got[0] != "c0000101040000" {
		t.Errorf("%v", got)
	}
}

func TestWhatWaitedForOrderIsNoFaultOfTheReader(t *testing.T) {
	l := newLossTest(t, Config{MTU: 1492, Limits: Limits{ReceiveBuffer: 1000, HeldBytes: 5000}})
	frame := func(i uint32) string {
		f := wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: i, Order: i}
		b := wire.AppendDatagramHeader(nil, wire.FrameSetID, i)
		return hex.EncodeToString(append(wire.AppendFrameHeader(b, &f, 500), payload(0, 500)...))
	}
	for i := uint32(1); i < 8; i++ {
		l.receive(frame(i))
	}
	l.receive(frame(0))
	unread := 0
	var d Delivery
	for l.e.NextDelivery(&d) {
		unread += d.Charge()
		d.Release()
		l.e.SetUnread(unread)
	}
	if unread < 8*500 {
		t.Fatalf("%d bytes came", unread)
	}
	if v := l.receive(frame(8)); v != VerdictAccepted {
		t.Errorf("%v though all but one message had waited", v)
	}
	for l.e.NextDelivery(&d) {
		unread += d.Charge()
		d.Release()
		l.e.SetUnread(unread)
	}
	if v := l.receive(frame(9)); v != VerdictRefused {
		t.Errorf("%v: 1000 bytes came in order and were not read", v)
	}
	t.Logf("# what is read is taken off both")
	l.e.SetUnread(600)
	if v := l.receive(frame(9)); v != VerdictAccepted {
		t.Errorf("%v: 600 bytes are unread", v)
	}
}

// One peer numbers all its datagrams alike. What is reliable in them has a number of its own, and
// is taken; what is not might be the same again.
func TestANumberThatCameBeforeMayBringNewReliableFrames(t *testing.T) {
	l := newLossTest(t, Config{})
	frame := func(mode protocol.Reliability, index uint32, payload byte) []byte {
		f := wire.Frame{Reliability: mode, Reliable: index}
		b := wire.AppendDatagramHeader(nil, wire.FrameSetID, 0)
		return append(wire.AppendFrameHeader(b, &f, 1), payload)
	}
	want := func(what string, b []byte, verdict Verdict, message int) {
		t.Helper()
		if v := l.e.Receive(l.now, nil, b); v != verdict {
			t.Errorf("%s: %v, want %v", what, v, verdict)
		}
		got := -1
		var d Delivery
		for l.e.NextDelivery(&d) {
			got = int(d.First())
			d.Release()
		}
		if got != message {
			t.Errorf("%s: delivered %x, want %x", what, got, message)
		}
		ack := l.e.Transmit(l.now)
		if ack == nil || wire.Classify(ack.Bytes()) != wire.KindACK {
			t.Fatalf("%s: was not acknowledged", what)
		}
		ack.Release()
	}
	want("the first", frame(protocol.Reliable, 0, 0xa0), VerdictAccepted, 0xa0)
	want("the same again", frame(protocol.Reliable, 0, 0xa0), VerdictDuplicate, -1)
	want("another with its number", frame(protocol.Reliable, 1, 0xa1), VerdictAccepted, 0xa1)
	want("an unreliable one", frame(protocol.Unreliable, 0, 0xa2), VerdictDuplicate, -1)
	both := append(frame(protocol.Unreliable, 0, 0xa3), frame(protocol.Reliable, 2, 0xa4)[wire.DatagramHeaderSize:]...)
	want("both", both, VerdictAccepted, 0xa4)
}
