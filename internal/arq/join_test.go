package arq

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// What leaves is the same whether messages join the datagram before or are all sent one by one: through loss,
// between transfers, priorities, channels and every other mode.
func TestWhatJoinsLeavesAsIfItWereSent(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		wantNoLeak(t)
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 3))
			var joins, sends Engine
			joins.Init(1, &c)
			sends.Init(1, &c)
			joined := 0
			for i := range 2000 {
				m := Message{Payload: payload(i, 1+r.IntN(300)), Reliability: protocol.ReliableOrdered}
				switch r.IntN(20) {
				case 0:
					m.Channel = uint8(r.IntN(3))
				case 1:
					m.Priority = protocol.Priority(r.IntN(4))
				case 2:
					m.Reliability = protocol.Reliability(r.IntN(5))
				case 3:
					m.Payload = payload(i, 1+r.IntN(5000))
				case 4:
					m.ReceiptID = uint64(i) + 1
				}
				whole := m.Reliability == protocol.ReliableOrdered && m.ReceiptID == 0 && len(m.Payload) <= MaxFrame(c.MTU)
				if whole && joins.Join(m.Payload, m.Channel, m.Priority) {
					joined++
				} else if err := joins.Send(1, &m); err != nil {
					t.Fatal(err)
				}
				if err := sends.Send(1, &m); err != nil {
					t.Fatal(err)
				}
				for n := r.IntN(60) - 50; n > 0; n-- {
					x, y := joins.Transmit(1), sends.Transmit(1)
					if (x != nil) != (y != nil) || x != nil && !bytes.Equal(x.Bytes(), y.Bytes()) {
						t.Fatalf("seed %d, message %d: different datagrams", seed, i)
					}
					if x == nil {
						break
					}
					x.Release()
					y.Release()
				}
				if r.IntN(10) == 0 && joins.sent.next > joins.sent.base {
					lo := joins.sent.base + r.Int64N(joins.sent.next-joins.sent.base)
					a := wire.StartRanges(nil, wire.ACKID, 1400)
					a.Add(wire24(lo), wire24(min(lo+r.Int64N(8), joins.sent.next-1)))
					ack := a.Finish()
					if x, y := joins.Receive(2, nil, ack), sends.Receive(2, nil, ack); x != y {
						t.Fatalf("seed %d, message %d: verdicts %v and %v", seed, i, x, y)
					}
				}
				if joins.held != sends.held || joins.queue.waiting() != sends.queue.waiting() || joins.stats.MessagesSent != sends.stats.MessagesSent {
					t.Fatalf("seed %d, message %d: different counts", seed, i)
				}
			}
			if joined < 500 {
				t.Errorf("only %d of 2000 joined", joined)
			}
			joins.Close()
			sends.Close()
		}
	})
}

// Nothing joins what has left, what is full, what stands before something else, or what the send buffer has
// no room for.
func TestWhatCannotJoin(t *testing.T) {
	wantNoLeak(t)
	ordered := func(n int) *Message { return &Message{Payload: payload(1, n), Reliability: protocol.ReliableOrdered} }
	for name, prepare := range map[string]func(e *Engine){
		"nothing waits":   func(*Engine) {},
		"it has left":     func(e *Engine) { _ = e.Send(1, ordered(100)); e.Transmit(1).Release() },
		"it is full":      func(e *Engine) { _ = e.Send(1, ordered(1300)) },
		"another channel": func(e *Engine) { m := ordered(100); m.Channel = 1; _ = e.Send(1, m) },
		"another priority": func(e *Engine) {
			m := ordered(100)
			m.Priority = protocol.PriorityLow
			_ = e.Send(1, m)
		},
		"a longer one came after it": func(e *Engine) { _ = e.Send(1, ordered(100)); _ = e.Send(1, ordered(3000)) },
		"the send buffer is full":    func(e *Engine) { e.limits.SendBuffer = 200; _ = e.Send(1, ordered(100)) },
	} {
		var e Engine
		e.Init(1, &Config{MTU: 1492})
		prepare(&e)
		held := e.SendHeld()
		if e.Join(ordered(200).Payload, 0, 0) || e.SendHeld() != held {
			t.Errorf("%s: it joined", name)
		}
		e.Close()
	}
}

func BenchmarkSendOrJoin(b *testing.B) {
	for name, join := range map[string]bool{"Send": false, "Join": true} {
		b.Run(name, func(b *testing.B) {
			var e Engine
			e.Init(1, &Config{MTU: 1492, Limits: Limits{SendBuffer: 1 << 30}})
			m := Message{Payload: make([]byte, 100), Reliability: protocol.ReliableOrdered}
			m.Payload[0] = 0xfe
			b.ReportAllocs()
			for b.Loop() {
				if !join || !e.Join(m.Payload, 0, 0) {
					_ = e.Send(1, &m)
				}
				if e.queue.n > 64 {
					e.Abandon()
				}
			}
			e.Close()
		})
	}
}
