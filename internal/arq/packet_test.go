package arq

import (
	"testing"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

func TestListsKeepTheirOrder(t *testing.T) {
	var l packetList
	p := make([]packet, 5)
	for i := range p {
		l.push(&p[i])
	}
	l.remove(&p[0])
	l.remove(&p[2])
	l.remove(&p[4])
	l.insertAfter(nil, &p[2])
	l.insertAfter(&p[2], &p[0])
	var got []*packet
	for x := l.head; x != nil; x = x.next {
		got = append(got, x)
	}
	want := []*packet{&p[2], &p[0], &p[1], &p[3]}
	if len(got) != len(want) {
		t.Fatalf("%d in the list", len(got))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("place %d is wrong", i)
		}
	}
	for _, x := range want {
		l.remove(x)
	}
	if l.head != nil || l.tail != nil {
		t.Error("an empty list remembers somebody")
	}
}

func TestARecordThatIsUsedAnewIsNotTheOldOne(t *testing.T) {
	l := newLossTest(t, Config{})
	l.send(100)
	l.want("first", 0, 0)
	d := *l.e.sent.at(0)
	l.ack(0, 0)
	if d.carried() != nil {
		t.Fatal("a settled packet still answers to its datagram")
	}
	l.send(100)
	l.want("second", 1, 1)
	if again := l.e.sent.at(1).carried(); again == nil || d.carried() != nil {
		t.Fatal("the record was not reused, or answers to the old datagram")
	}
}

func TestOwnCopiesOnlyWhatIsShared(t *testing.T) {
	b := pool.Get(100)
	b.N = copy(b.B, "bytes")
	p := packet{buf: b}
	if p.own(); p.buf != b {
		t.Error("copied without need")
	}
	b.Retain()
	p.own()
	if p.buf == b || string(p.buf.Bytes()) != "bytes" {
		t.Error("shared bytes were not copied")
	}
	p.buf.Release()
	b.Release()
}

func BenchmarkStamp(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run(byteName(size), func(b *testing.B) {
			var e Engine
			e.Init(1, &Config{MTU: 1492})
			m := Message{Payload: payload(0, size), Reliability: protocol.ReliableOrdered}
			for range 2000 / size {
				if err := e.Send(1, &m); err != nil {
					b.Fatal(err)
				}
			}
			p := e.pick(1)
			for b.Loop() {
				e.stamp(p)
			}
			b.ReportMetric(float64(p.frames), "frames")
			e.Close()
		})
	}
}
