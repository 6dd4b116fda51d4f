package arq

import (
	"bytes"
	"strings"
	"testing"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// ordered is a datagram of whole reliable ordered messages on channel 0, of an engine that has sent nothing
// before, in a buffer of the given class. The caller releases it.
func ordered(class int, messages ...[]byte) *pool.Buffer {
	b := pool.Get(class)
	data := wire.AppendDatagramHeader(b.B[:0], wire.FrameSetID, 0)
	for i, m := range messages {
		f := wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: uint32(i), Order: uint32(i)}
		data = append(wire.AppendFrameHeader(data, &f, len(m)), m...)
	}
	b.N = len(data)
	return b
}

func some(n, size int) (list [][]byte) {
	for i := range n {
		list = append(list, payload(i, size))
	}
	return list
}

// Messages of a datagram stay together until they are taken, one by one or as they are, and hold its buffer once.
func TestARunIsItsMessages(t *testing.T) {
	wantNoLeak(t)
	messages := some(7, 100)
	for _, way := range []string{"deliveries", "taken", "peeked at", "released", "released in the middle"} {
		var e Engine
		e.Init(1, &Config{MTU: 1492})
		b := ordered(pool.ClassRead, messages...)
		e.Receive(1, b, b.Bytes())
		b.Release()
		if n := e.stats.MessagesReceived; n != 7 {
			t.Fatalf("%s: %d messages counted", way, n)
		}
		var d, m Delivery
		if way == "deliveries" {
			for _, want := range messages {
				if !e.NextDelivery(&d) || d.Run() != 0 || !bytes.Equal(d.AppendTo(nil), want) {
					t.Fatal("another message")
				}
				d.Release()
			}
			if e.NextDelivery(&d) {
				t.Error("one too many")
			}
			e.Close()
			continue
		}
		if !e.NextRun(&d) || d.Run() != 7 || len(d.ref.Data) != 7*(orderedHeader+100) || d.Channel != 0 || d.Reliability != protocol.ReliableOrdered {
			t.Fatalf("a run of %d messages, %d bytes", d.Run(), len(d.ref.Data))
		}
		for i, want := range messages {
			if d.Run() == 0 && strings.HasPrefix(way, "released") {
				break
			}
			if got := d.Peek(); !bytes.Equal(got, want) {
				t.Fatalf("%s: message %d is another", way, i)
			}
			switch {
			case way == "released":
			case way == "released in the middle" && i == 4:
			case way == "peeked at", way == "released in the middle":
				d.Skip()
				continue
			case way == "taken":
				d.Take(&m)
				if m.Run() != 0 || !bytes.Equal(m.AppendTo(nil), want) {
					t.Fatalf("message %d is another", i)
				}
				m.Release()
				continue
			}
			d.Release()
		}
		if d.Run() != 0 || d.Len() != 0 || d.ref.Buf != nil {
			t.Errorf("%s: something is left", way)
		}
		e.Close()
	}
}

// Where it is not worth it, or somebody has to look at each, messages come one by one.
func TestWhatIsNoRun(t *testing.T) {
	wantNoLeak(t)
	control := some(7, 100)
	control[3] = append([]byte{byte(protocol.IDConnectedPing)}, make([]byte, 8)...)
	for name, messages := range map[string][][]byte{
		"a small part of its buffer": some(4, 100),
		"a control message":          control,
	} {
		var e Engine
		e.Init(1, &Config{MTU: 1492})
		b := ordered(pool.ClassRead, messages...)
		e.Receive(1, b, b.Bytes())
		b.Release()
		var d Delivery
		for _, want := range messages {
			if !e.NextRun(&d) || d.Run() != 0 || !bytes.Equal(d.AppendTo(nil), want) {
				t.Errorf("%s: a run, or another message", name)
			}
			d.Release()
		}
		e.Close()
	}
}

// What is not taken is given back at the end.
func TestARunThatNobodyTakesIsReleased(t *testing.T) {
	wantNoLeak(t)
	var e Engine
	e.Init(1, &Config{MTU: 1492})
	b := ordered(pool.ClassRead, some(7, 100)...)
	e.Receive(1, b, b.Bytes())
	b.Release()
	var d Delivery
	e.NextDelivery(&d)
	d.Release()
	e.Close()
}
