package arq

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/protocol"
)

func (l *lossTest) wantReceipts(what string, want ...ReceiptEvent) {
	l.t.Helper()
	var r ReceiptEvent
	for _, w := range want {
		if !l.e.NextReceipt(&r) || r != w {
			l.t.Fatalf("%s: receipt %+v, want %+v", what, r, w)
		}
	}
	if l.e.NextReceipt(&r) {
		l.t.Fatalf("%s: receipt %+v, want no more", what, r)
	}
}

func TestASplitMessageIsAcknowledgedWhenAllItsFragmentsAre(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		l := newLossTest(t, c)
		if err := l.e.Send(l.now, &Message{Payload: payload(0, 4000), Reliability: protocol.ReliableOrderedWithReceipt, ReceiptID: 7}); err != nil {
			t.Fatal(err)
		}
		l.want("three fragments", 0, c.FirstReliable, 1, c.FirstReliable+1, 2, c.FirstReliable+2)
		t.Logf("# the original reports it at the last fragment, whatever the others did")
		l.ack(2, 2)
		l.wantReceipts("one of three")
		l.ack(0, 0)
		l.wantReceipts("two of three")
		l.ack(1, 1)
		l.wantReceipts("all", ReceiptEvent{7, true})
	})
}

func TestReceiptsOfEveryMode(t *testing.T) {
	l := newLossTest(t, Config{})
	for i, mode := range []protocol.Reliability{protocol.ReliableWithReceipt, protocol.UnreliableWithReceipt, protocol.ReliableOrderedWithReceipt} {
		if err := l.e.Send(l.now, &Message{Payload: payload(0, 1300), Reliability: mode, ReceiptID: uint64(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	l.want("a datagram each, the channels in turn", 0, 0, 1, 1, 2, -1)
	l.pass(50 * time.Millisecond)
	l.ack(0, 2)
	l.wantReceipts("all three", ReceiptEvent{1, true}, ReceiptEvent{3, true}, ReceiptEvent{2, true})
}

func TestAnUnreliableMessageThatIsLostSaysSo(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	if err := l.e.Send(l.now, &Message{Payload: payload(0, 1300), Reliability: protocol.UnreliableWithReceipt, ReceiptID: 5}); err != nil {
		t.Fatal(err)
	}
	l.want("it leaves", n, -1)
	l.pass(l.e.rtt.rto() + time.Millisecond)
	l.want("nothing is resent")
	l.wantReceipts("lost by silence", ReceiptEvent{5, false})
	l.ack(n, n)
	l.wantReceipts("a late ACK changes nothing")
	if l.e.inFlight != 0 || l.e.Deadline() != 1<<63-1 {
		t.Errorf("in flight %d, deadline %v", l.e.inFlight, l.e.Deadline())
	}
}

func TestOneReceiptPerMessageWhenItsDatagramIsResent(t *testing.T) {
	l := newLossTest(t, Config{})
	n := l.settleRTT(50 * time.Millisecond)
	if err := l.e.Send(l.now, &Message{Payload: payload(0, 1300), Reliability: protocol.ReliableWithReceipt, ReceiptID: 5}); err != nil {
		t.Fatal(err)
	}
	l.want("sent", n, n)
	l.pass(60 * time.Millisecond)
	l.nack(n, n)
	l.want("resent", n+1, n)
	l.ack(n, n+1)
	l.wantReceipts("once", ReceiptEvent{5, true})
}
