package session

import (
	"strconv"
	"testing"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

// BenchmarkRelay sends messages from one connection to another without a network:
// the cost of both ends together, ACKs included.
func BenchmarkRelay(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			var ends [2]Conn
			now := start
			ends[0].Init(now, &Config{Side: Client, MTU: 1492, Version: 11})
			ends[1].Init(now, &Config{Side: Server, MTU: 1492, Version: 11})
			pump := func() {
				for moved := true; moved; {
					moved = false
					for i := range ends {
						for d := ends[i].Transmit(now); d != nil; d = ends[i].Transmit(now) {
							ends[1-i].Receive(now, d, d.Bytes())
							d.Release()
							moved = true
						}
					}
				}
				var ev Event
				for i := range ends {
					for ends[i].Next(&ev) {
					}
					_ = ends[i].Deadline()
				}
			}
			for range 10 {
				pump()
				now += monotime.Time(pathDelay)
				ends[0].Advance(now)
				ends[1].Advance(now)
			}
			if ends[1].State() != Connected {
				b.Fatal("not connected")
			}
			m := arq.Message{Payload: make([]byte, size), Reliability: protocol.ReliableOrdered}
			m.Payload[0] = 0xfe
			var d arq.Delivery
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				now += 1000
				if err := ends[0].Send(now, &m); err != nil {
					b.Fatal(err)
				}
				if i%8 != 7 {
					continue
				}
				ends[0].Advance(now)
				ends[1].Advance(now)
				pump()
				for ends[1].NextMessage(&d) {
					d.Release()
				}
			}
			ends[0].Release()
			ends[1].Release()
		})
	}
}
