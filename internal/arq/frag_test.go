package arq

import (
	"testing"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func TestSplitBoundary(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		for _, tc := range []struct{ mtu, size, datagrams, last int }{
			{1492, 1432, 1, 4 + 10 + 1432}, // as seen of the original engine
			{1492, 1433, 2, 4 + 20 + 1},
			{1200, 1140, 1, 4 + 10 + 1140},
			{1200, 2281, 3, 4 + 20 + 1},
			{576, 516, 1, 4 + 10 + 516},
			{400, 341, 2, 4 + 20 + 1},
		} {
			c.MTU = tc.mtu
			l := newLossTest(t, c)
			l.send(tc.size)
			n, last := 0, 0
			for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
				if b.N > tc.mtu-protocol.UDPOverhead {
					t.Errorf("%d bytes at MTU %d", b.N, tc.mtu)
				}
				n, last = n+1, b.N
				b.Release()
			}
			if n != tc.datagrams || last != tc.last {
				t.Errorf("%d bytes at MTU %d: %d datagrams, the last of %d bytes; want %d and %d", tc.size, tc.mtu, n, last, tc.datagrams, tc.last)
			}
		}
	})
}

func TestUnreliableModesBecomeReliableWhenSplit(t *testing.T) {
	for mode, want := range map[protocol.Reliability]protocol.Reliability{
		protocol.Unreliable: protocol.Reliable, protocol.UnreliableSequenced: protocol.ReliableSequenced,
		protocol.UnreliableWithReceipt: protocol.Reliable, protocol.Reliable: protocol.Reliable,
		protocol.ReliableOrdered: protocol.ReliableOrdered, protocol.ReliableOrderedWithReceipt: protocol.ReliableOrdered,
		protocol.ReliableSequenced: protocol.ReliableSequenced, protocol.ReliableWithReceipt: protocol.Reliable,
	} {
		l := newLossTest(t, Config{})
		l.sendMode(3000, mode)
		for i := uint32(0); ; i++ {
			b := l.e.Transmit(l.now)
			if b == nil {
				if i != 3 {
					t.Errorf("%v: %d fragments", mode, i)
				}
				break
			}
			var f wire.Frame
			_, frames, _ := wire.ParseDatagramHeader(b.Bytes())
			if _, err := f.Parse(frames); err != nil || f.Reliability != want || !f.Split || f.SplitIndex != i || f.SplitCount != 3 || f.Reliable != i || f.Order != 0 {
				t.Errorf("%v: fragment %d is %+v (%v), want mode %v", mode, i, f, err, want)
			}
			b.Release()
		}
	}
}

func TestCutBeforeTheLockEqualsCutInside(t *testing.T) {
	msg := payload(3, 10_000)
	var sent [2][]string
	for i := range 2 {
		l := newLossTest(t, Config{})
		m := Message{Payload: msg, Reliability: protocol.ReliableOrdered, Channel: 9}
		if i == 1 {
			m.Fragments, m.Payload = Cut(msg, 1492, m.Reliability), nil
		}
		if err := l.e.Send(l.now, &m); err != nil {
			t.Fatal(err)
		}
		for b := l.e.Transmit(l.now); b != nil; b = l.e.Transmit(l.now) {
			sent[i] = append(sent[i], string(b.Bytes()))
			b.Release()
		}
	}
	if len(sent[0]) != 7 || len(sent[1]) != 7 {
		t.Fatalf("%d and %d fragments", len(sent[0]), len(sent[1]))
	}
	for i := range sent[0] {
		if sent[0][i] != sent[1][i] {
			t.Errorf("fragment %d differs", i)
		}
	}
}

func TestUnsentFragmentsGoBack(t *testing.T) {
	before := pool.InUse()
	f := Cut(payload(0, 5000), 1492, protocol.Reliable)
	if pool.InUse() != before+4 {
		t.Errorf("%d buffers for 5000 bytes", pool.InUse()-before)
	}
	f.Release()
	f.Release()
	if pool.InUse() != before {
		t.Error("not all came back")
	}
}
