package arq

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// drain lets datagrams leave one at a time, acknowledging each at once, and returns
// the priority that each first frame's payload names in its second byte.
func drainOrder(t *testing.T, e *Engine) (order []protocol.Priority) {
	t.Helper()
	for {
		b := e.Transmit(1)
		if b == nil {
			return order
		}
		number, frames, _ := wire.ParseDatagramHeader(b.Bytes())
		var f wire.Frame
		if _, err := f.Parse(frames); err != nil {
			t.Fatal(err)
		}
		order = append(order, protocol.Priority(f.Payload[1]))
		b.Release()
		a := wire.StartRanges(nil, wire.ACKID, 100)
		a.Add(number, number)
		e.Receive(1, nil, a.Finish())
	}
}

func TestPrioritiesShareTheLink(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(1)})
	const each = 400
	for range each {
		for pr := range protocol.Priority(protocol.Priorities) {
			b := payload(0, 1400)
			b[1] = byte(pr)
			if err := l.e.Send(l.now, &Message{Payload: b, Reliability: protocol.Reliable, Priority: pr}); err != nil {
				t.Fatal(err)
			}
		}
	}
	order := drainOrder(t, l.e)
	if len(order) != 4*each {
		t.Fatalf("%d datagrams left, want %d", len(order), 4*each)
	}
	t.Logf("# while all four wait, shares are 1/1 : 1/5 : 1/14 : 1/35")
	count := map[protocol.Priority]int{}
	for _, pr := range order[:450] {
		count[pr]++
	}
	for pr, want := range map[protocol.Priority]int{protocol.PriorityImmediate: 335, protocol.PriorityHigh: 67, protocol.PriorityMedium: 24, protocol.PriorityLow: 9} {
		if got := count[pr]; got < want*8/10 || got > want*13/10+2 {
			t.Errorf("%v: %d of 450, want about %d", pr, got, want)
		}
	}
	if count[protocol.PriorityLow] == 0 {
		t.Error("low starves")
	}
}

func TestALevelThatWasIdleDoesNotCatchUp(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(1)})
	send := func(pr protocol.Priority, n int) {
		for range n {
			b := payload(0, 1400)
			b[1] = byte(pr)
			if err := l.e.Send(l.now, &Message{Payload: b, Reliability: protocol.Reliable, Priority: pr}); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(protocol.PriorityLow, 50)
	for range 40 {
		b := l.e.Transmit(l.now)
		n, _, _ := wire.ParseDatagramHeader(b.Bytes())
		b.Release()
		l.ack(int64(n), int64(n))
	}
	send(protocol.PriorityMedium, 50)
	low := 0
	for _, pr := range drainOrder(t, l.e)[:20] {
		if pr == protocol.PriorityLow {
			low++
		}
	}
	if low < 3 {
		t.Errorf("medium, which came late, let only %d of the low 10 through in 20", low)
	}
}

func TestMessagesThatWaitTogetherLeaveTogether(t *testing.T) {
	l := newLossTest(t, Config{})
	for range 5 {
		l.send(100)
	}
	b := l.e.Transmit(l.now)
	if b.N != 4+5*(10+100) {
		t.Errorf("five messages of 100 left in %d bytes", b.N)
	}
	b.Release()
	l.want("nothing else")
	t.Logf("# a datagram is filled to MTU - 28 and not beyond")
	for range 14 {
		l.send(100)
	}
	for _, n := range []int{4 + 13*110, 4 + 110} {
		b := l.e.Transmit(l.now)
		if b.N != n {
			t.Errorf("%d bytes left, want %d", b.N, n)
		}
		b.Release()
	}
}

func TestUnreliableMessagesExpireInsteadOfQueueing(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(1)})
	l.send(1400)
	l.want("fills the window", 0, 0)
	for range 3 {
		if err := l.e.Send(l.now, &Message{Payload: payload(0, 300), Reliability: protocol.UnreliableWithReceipt, ReceiptID: 9}); err != nil {
			t.Fatal(err)
		}
	}
	l.send(200)
	l.now = l.now.Add(time.Second + 1)
	l.ack(0, 0)
	b := l.e.Transmit(l.now)
	if b == nil || b.N != 4+10+200 {
		t.Fatalf("only the reliable one should leave: %v", b)
	}
	b.Release()
	if s := l.stats(); s.MessagesExpired != 3 {
		t.Errorf("%d expired, want 3", s.MessagesExpired)
	}
	var r ReceiptEvent
	n := 0
	for l.e.NextReceipt(&r) {
		if r.Acked || r.ID != 9 {
			t.Errorf("receipt %+v", r)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d receipts, want 3", n)
	}
	t.Logf("# a packet of nothing else goes as a whole")
	l.sendMode(1400, protocol.Unreliable)
	l.now = l.now.Add(time.Second + 1)
	l.want("nothing")
	if l.e.queue.bytes != 0 {
		t.Errorf("%d bytes still queued", l.e.queue.bytes)
	}
}

func TestReliableIndexesStayWithinWhatPeersHold(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		c.Controller = NewFixed(8000)
		l := newLossTest(t, c)
		for range 5000 {
			l.send(700) // two to a datagram
		}
		n := 0
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			b.Release()
			n += 2
		}
		if n != reliableInFlight {
			t.Fatalf("%d reliable frames left, want %d", n, reliableInFlight)
		}
		t.Logf("# an ACK of anything but the lowest frees nothing")
		l.ack(1, 100)
		if b := l.e.Transmit(l.now); b != nil {
			t.Fatal("the range of indexes grew")
		}
		l.ack(0, 0)
		n = 0
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			b.Release()
			n++
		}
		if n != 101 {
			t.Errorf("%d datagrams left after the lowest 101 were acknowledged", n)
		}
	})
}

func TestSplitMessagesInFlightAreBounded(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(8000)})
	for range splitsInFlight + 10 {
		l.send(2000)
	}
	n := int64(0)
	for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
		b.Release()
		n++
	}
	if n != 2*splitsInFlight {
		t.Fatalf("%d fragments left, want %d", n, 2*splitsInFlight)
	}
	l.ack(0, 1)
	l.want("one done, one more starts", n, n, n+1, n+1)
}

func TestALoneMessageDoesNotWaitBehindATransferOnAnotherChannel(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(2)})
	if err := l.e.Send(l.now, &Message{Payload: payload(0, 200_000), Reliability: protocol.ReliableOrdered, Channel: 1}); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := l.e.Send(l.now, &Message{Payload: payload(0, 1400), Reliability: protocol.ReliableOrdered, Channel: 2}); err != nil {
			t.Fatal(err)
		}
	}
	l.want("the window", 0, 0, 1, 1)
	l.send(200) // on channel 0
	for n := int64(2); n < 6; n++ {
		l.ack(n-2, n-2)
		b := l.e.Transmit(l.now)
		var f wire.Frame
		_, frames, _ := wire.ParseDatagramHeader(b.Bytes())
		if _, err := f.Parse(frames); err != nil {
			t.Fatal(err)
		}
		b.Release()
		if f.Channel == 0 {
			return
		}
	}
	t.Error("it waited for more than one datagram of each channel")
}

func TestMessagesOfSeveralChannelsShareADatagram(t *testing.T) {
	l := newLossTest(t, Config{Controller: NewFixed(1)})
	l.send(1432)
	l.want("fills the window", 0, 0)
	for ch := range uint8(8) {
		for _, pr := range []protocol.Priority{protocol.PriorityHigh, protocol.PriorityLow} {
			m := Message{Payload: payload(int(ch), 50), Reliability: protocol.ReliableOrderedWithReceipt, Channel: ch, Priority: pr, ReceiptID: uint64(ch) + 1}
			if err := l.e.Send(l.now, &m); err != nil {
				t.Fatal(err)
			}
		}
	}
	held := l.e.held
	l.ack(0, 0)
	b := l.e.Transmit(l.now)
	if b == nil || b.N != 4+16*60 {
		t.Fatalf("16 messages of 50 left in %v", b)
	}
	b.Release()
	l.want("nothing is left")
	if l.e.held != held-1442 || l.e.queue.bytes != 0 {
		t.Errorf("%d bytes charged, %d queued", l.e.held, l.e.queue.bytes)
	}
	l.ack(1, 1)
	n := 0
	for r := (ReceiptEvent{}); l.e.NextReceipt(&r); n++ {
	}
	if n != 16 || l.e.held != 0 {
		t.Errorf("%d receipts, %d bytes charged", n, l.e.held)
	}
}

// On a short path the short last fragments of messages leave behind the full ones of the next, several in
// one datagram; elsewhere every message leaves as it was written.
func TestShortFragmentsGatherOnAShortPath(t *testing.T) {
	for _, tc := range []struct {
		delay time.Duration
		known bool   // the peer is this library
		want  string // f: a full fragment, and how many short ones are in one datagram
	}{
		{100 * time.Microsecond, true, "ffffffffffffffffff9ffffff3"},
		{100 * time.Microsecond, false, "ff1ff1ff1ff1ff1ff1ff1ff1ff1ff1ff1ff1"},
		{20 * time.Millisecond, true, "ff1ff1ff1ff1ff1ff1ff1ff1ff1ff1ff1ff1"},
	} {
		w := newPair(t, 1, Config{MTU: 1492, Controller: NewFixed(512)}, path{delay: tc.delay})
		e := w.end[0]
		if err := w.send(0, Message{Payload: payload(9, 100), Reliability: protocol.ReliableOrdered}); err != nil {
			t.Fatal(err)
		}
		w.run(time.Second)
		e.reach.echoes = tc.known
		var want [][]byte
		for i := range 12 {
			p := payload(i, 2*MaxFrame(1492)+100)
			want = append(want, p)
			if err := e.Send(w.now, &Message{Payload: p, Reliability: protocol.ReliableOrdered}); err != nil {
				t.Fatal(err)
			}
		}
		var sent strings.Builder
		for b := e.Transmit(w.now); b != nil; b = e.Transmit(w.now) {
			if b.N > MaxFrame(1492) {
				sent.WriteByte('f')
			} else {
				fmt.Fprint(&sent, (b.N-wire.DatagramHeaderSize)/(100+wire.FrameHeaderSize(protocol.ReliableOrdered, true)))
			}
			w.carry(0, b.Bytes())
			b.Release()
		}
		if sent.String() != tc.want {
			t.Errorf("%+v: %s leave", tc, sent.String())
		}
		got := len(w.got[1])
		w.run(time.Second)
		if len(w.got[1])-got != len(want) {
			t.Fatalf("%d messages came", len(w.got[1])-got)
		}
		for i, g := range w.got[1][got:] {
			if !bytes.Equal(g.data, want[i]) {
				t.Errorf("message %d is another", i)
			}
		}
		w.close()
	}
}

// Messages that are large are not kept unfinished for the sake of a run: else their receiver, which has room
// for some only, would refuse what it must have.
func TestLargeMessagesAreFinishedInTurn(t *testing.T) {
	w := newPair(t, 1, Config{MTU: 1492, Controller: NewFixed(512)}, path{delay: 100 * time.Microsecond})
	if err := w.send(0, Message{Payload: payload(9, 100), Reliability: protocol.ReliableOrdered}); err != nil {
		t.Fatal(err)
	}
	w.run(time.Second)
	e := w.end[0]
	e.reach.echoes = true
	for i, sizes := 0, []int{10_000, 1_000_000}; i < 20; i++ {
		size := sizes[i%2]/MaxFrame(1492)*MaxFrame(1492) + 100
		if err := e.Send(w.now, &Message{Payload: payload(i, size), Reliability: protocol.ReliableOrdered}); err == ErrSendBufferFull {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	overtaken := -1 // bytes since a short fragment was at the head of its flow
	flow := e.queue.level[protocol.Priority(0)].flows[0]
	for {
		switch {
		case !flow.head.tail:
			overtaken = -1
		case overtaken < 0:
			overtaken = 0
		}
		b := e.Transmit(w.now)
		if b == nil {
			break // the window is full
		}
		if overtaken >= 0 && b.N > MaxFrame(1492) {
			if overtaken += b.N; overtaken > plentyBytes+1492 {
				t.Fatalf("%d bytes overtook a message's last fragment", overtaken)
			}
		}
		w.carry(0, b.Bytes())
		b.Release()
	}
	w.runUntil(10*time.Second, e.Drained)
	if !e.Drained() {
		t.Error("not all has arrived")
	}
	w.close()
}
