package arq

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Without a buffer to keep, nothing is taken the short way. So one of two engines gets every
// datagram in a buffer and the other without, and nobody must be able to tell which.
func TestTheShortWayOfWhatIsInOrderLeadsToTheSame(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		wantNoLeak(t)
		for seed := range uint64(200) {
			s := newSameWays(t, c, seed)
			for range 200 {
				s.step()
			}
			s.finish()
		}
	})
}

type sameWays struct {
	t        *testing.T
	seed     uint64
	r        *rand.Rand
	now      monotime.Time
	short    Engine
	long     Engine
	number   int64
	reliable int64
	order    [2]int64
	old      [][]byte
}

func newSameWays(t *testing.T, c Config, seed uint64) *sameWays {
	s := &sameWays{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 1)), now: 1}
	s.number, s.reliable, s.order = c.FirstDatagram, c.FirstReliable, [2]int64{c.FirstOrder, c.FirstOrder}
	c.Limits.HeldMessages = 20
	s.short.Init(s.now, &c)
	s.long.Init(s.now, &c)
	return s
}

// datagram is mostly the next of a transfer.
func (s *sameWays) datagram() []byte {
	if len(s.old) > 0 && s.r.IntN(10) == 0 {
		return s.old[s.r.IntN(len(s.old))]
	}
	if s.r.IntN(15) == 0 {
		s.number++
	}
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, wire24(s.number))
	s.number++
	for range 1 + s.r.IntN(4) {
		f := wire.Frame{Reliability: protocol.ReliableOrdered}
		switch s.r.IntN(20) {
		case 0:
			f.Reliability = protocol.Reliability(s.r.IntN(8))
		case 1:
			f.Channel = 1
		case 2:
			s.reliable++ // one that is missing
		case 3:
			s.order[0]++
		}
		f.Reliable, f.Order = wire24(s.reliable), wire24(s.order[f.Channel])
		if f.Reliability.Wire().IsReliable() {
			s.reliable++
		}
		if f.Reliability.Wire() == protocol.ReliableOrdered {
			s.order[f.Channel]++
		}
		part := payload(s.r.IntN(1000), 1+s.r.IntN(60))
		b = append(wire.AppendFrameHeader(b, &f, len(part)), part...)
	}
	switch s.r.IntN(20) {
	case 0:
		b[s.r.IntN(len(b))] ^= byte(1 << s.r.IntN(8))
	case 1:
		b = b[:s.r.IntN(len(b))]
	case 2:
		b = append(b, make([]byte, 1+s.r.IntN(5))...)
	}
	s.old = append(s.old, b)
	return b
}

func (s *sameWays) step() {
	s.now += monotime.Time(s.r.IntN(1e6))
	data := s.datagram()
	in := pool.Get(pool.ClassRead)
	in.N = copy(in.B, data)
	got := s.short.Receive(s.now, in, in.Bytes())
	in.Release()
	if want := s.long.Receive(s.now, nil, data); got != want {
		s.t.Fatalf("seed %d: %v and %v of %x", s.seed, got, want, data)
	}
	if s.r.IntN(3) == 0 {
		s.compare()
	}
}

func (s *sameWays) compare() {
	var a, b Delivery
	for s.short.NextDelivery(&a) {
		if !s.long.NextDelivery(&b) || a.Reliability != b.Reliability || a.Channel != b.Channel || !bytes.Equal(a.AppendTo(nil), b.AppendTo(nil)) {
			s.t.Fatalf("seed %d: different messages", s.seed)
		}
		a.Release()
		b.Release()
	}
	if s.long.NextDelivery(&b) {
		s.t.Fatalf("seed %d: a message less", s.seed)
	}
	for {
		x, y := s.short.Transmit(s.now), s.long.Transmit(s.now)
		if x == nil && y == nil {
			break
		}
		if x == nil || y == nil || !bytes.Equal(x.Bytes(), y.Bytes()) {
			s.t.Fatalf("seed %d: different answers", s.seed)
		}
		x.Release()
		y.Release()
	}
	x, y := &s.short, &s.long
	var statsX, statsY Stats
	x.Stats(&statsX)
	y.Stats(&statsY)
	statsX.HeldBytes, statsY.HeldBytes = 0, 0 // copies for the one, and buffers for the other
	if statsX != statsY || x.arrivals.next != y.arrivals.next || x.arrivals.full != y.arrivals.full || x.reliable.base != y.reliable.base ||
		x.reliable.ahead() != y.reliable.ahead() || x.inWindowAt != y.inWindowAt || x.accepted != y.accepted || x.Deadline() != y.Deadline() {
		s.t.Fatalf("seed %d: different states", s.seed)
	}
	for ch := range uint8(2) {
		if x.order.next(ch) != y.order.next(ch) {
			s.t.Fatalf("seed %d: different orders", s.seed)
		}
	}
}

func (s *sameWays) finish() {
	s.compare()
	s.short.Close()
	s.long.Close()
}

// The short way is taken, too.
func TestAMessageInOrderTakesTheShortWay(t *testing.T) {
	var e Engine
	e.Init(1, &Config{MTU: 1492})
	defer e.Close()
	for i := range uint32(3) {
		f := wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: i, Order: i}
		b := pool.Get(pool.ClassRead)
		data := append(wire.AppendFrameHeader(wire.AppendDatagramHeader(b.B[:0], wire.FrameSetID, i), &f, 1), 0xfe)
		if i == 0 { // makes the channel
			e.Receive(1, b, data)
		} else if !e.receiveInOrder(1, b, int64(i), len(data), data[wire.DatagramHeaderSize:]) {
			t.Errorf("datagram %d does not", i)
		}
		b.Release()
	}
}

// What leaves is the same whether a message goes the short way or, for its receipt, the long one.
func TestTheShortWayOfSendingLeadsToTheSame(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		wantNoLeak(t)
		r := rand.New(rand.NewPCG(1, 2))
		var short, long Engine
		short.Init(1, &c)
		long.Init(1, &c)
		for i := range 300 {
			m := Message{Payload: payload(i, 1+r.IntN(400)), Reliability: protocol.ReliableOrdered, Channel: uint8(r.IntN(3)), Priority: protocol.Priority(r.IntN(4))}
			if r.IntN(5) == 0 {
				m.Reliability = protocol.ReliableSequenced
			}
			if r.IntN(10) == 0 {
				m.Control = true
			}
			if err := short.Send(1, &m); err != nil {
				t.Fatal(err)
			}
			m.ReceiptID = 1
			if err := long.Send(1, &m); err != nil {
				t.Fatal(err)
			}
		}
		if short.stats != long.stats || short.held != long.held || short.queue.bytes != long.queue.bytes || short.queue.n != long.queue.n {
			t.Error("different counts")
		}
		for left := true; left; {
			x, y := short.Transmit(1), long.Transmit(1)
			if left = x != nil; left != (y != nil) || left && !bytes.Equal(x.Bytes(), y.Bytes()) {
				t.Fatal("different datagrams")
			}
			if left {
				x.Release()
				y.Release()
			}
		}
		short.Close()
		long.Close()
	})
}
