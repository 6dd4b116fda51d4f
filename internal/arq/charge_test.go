package arq

import (
	"runtime"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// What a limit on memory counts is memory: a peer that fills it makes the heap grow by no more, whatever
// the size of its messages and the buffers that they come in.
func TestWhatIsChargedIsWhatItTakes(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	heap := func() int {
		for range 3 { // pools give back what two collections find unused
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const budget = 8 << 20
	for _, class := range []int{pool.ClassRead, pool.ClassBatch} {
		for _, n := range []int{1, 100, 257, 513, 700, 1025, 1281, 1440} {
			for name, fill := range map[string]func(e *Engine, i uint32) (f wire.Frame){
				"waits for order": func(_ *Engine, i uint32) wire.Frame {
					return wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: i + 1, Order: i + 1}
				},
				"is unread": func(_ *Engine, i uint32) wire.Frame {
					return wire.Frame{Reliability: protocol.Reliable, Reliable: i}
				},
				"is in parts": func(_ *Engine, i uint32) wire.Frame {
					const count = 500
					return wire.Frame{Reliability: protocol.Reliable, Reliable: i, Split: true,
						SplitID: uint16(i / (count - 1)), SplitIndex: i % (count - 1), SplitCount: count}
				},
			} {
				before := heap()
				e := new(Engine)
				e.Init(1, &Config{MTU: 1492, Limits: Limits{ReceiveBuffer: budget, HeldBytes: budget, HeldMessages: 1 << 20, ReassemblyBytes: budget}})
				now, charged := monotime.Time(1), 0
				var unread []Delivery
				for i := uint32(0); ; i++ {
					f := fill(e, i)
					b := pool.Get(class)
					data := wire.AppendDatagramHeader(b.B[:0], wire.FrameSetID, i)
					data = append(wire.AppendFrameHeader(data, &f, n), make([]byte, n)...)
					data[len(data)-n] = 0xfe
					v := e.Receive(now, b, data)
					b.Release()
					now = now.Add(time.Microsecond)
					for a := e.Transmit(now); a != nil; a = e.Transmit(now) {
						a.Release()
					}
					for d := (Delivery{}); e.NextDelivery(&d); {
						d.Settle() // as an inbox does with more than a few
						unread = append(unread, d)
						charged += d.Charge()
						e.SetUnread(charged)
					}
					if v == VerdictRefused {
						break
					}
					if v != VerdictAccepted {
						t.Fatalf("datagram %d: %v", i, v)
					}
				}
				if grown := heap() - before; grown > budget+budget/8 || grown < budget*3/4 {
					t.Errorf("what %s, of %d bytes in %d, takes %d where %d were charged", name, n, class, grown, budget)
				}
				for i := range unread {
					unread[i].Release()
				}
				e.Close()
			}
		}
	}
}
