package wire

import (
	"testing"

	"github.com/raknet-go/raknet/protocol"
)

func BenchmarkFrameParse(b *testing.B) {
	for _, bench := range []struct {
		name  string
		frame Frame
	}{
		{"unreliable", Frame{Reliability: protocol.Unreliable}},
		{"reliable ordered", Frame{Reliability: protocol.ReliableOrdered}},
		{"fragment", Frame{Reliability: protocol.ReliableOrdered, Split: true, SplitCount: 10, SplitIndex: 3}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			wire := append(AppendFrameHeader(nil, &bench.frame, 1024), make([]byte, 1024)...)
			var f Frame
			b.ReportAllocs()
			for b.Loop() {
				n, err := f.Parse(wire)
				if err != nil {
					b.Fatal(err)
				}
				sink += n
			}
		})
	}
}

// A datagram of many small messages is where the walk costs most.
func BenchmarkFrames(b *testing.B) {
	frame := Frame{Reliability: protocol.ReliableOrdered}
	var wire []byte
	for len(wire) < 1400 {
		wire = append(AppendFrameHeader(wire, &frame, 20), make([]byte, 20)...)
	}
	var f Frame
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		for it := Frames(wire); it.Next(&f); {
			sink += len(f.Payload)
		}
	}
}

func BenchmarkAppendFrameHeader(b *testing.B) {
	for _, bench := range []struct {
		name  string
		frame Frame
	}{
		{"reliable ordered", Frame{Reliability: protocol.ReliableOrdered}},
		{"fragment", Frame{Reliability: protocol.ReliableOrdered, Split: true, SplitCount: 10}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			dst := make([]byte, 0, 64)
			b.ReportAllocs()
			for b.Loop() {
				sink += len(AppendFrameHeader(dst, &bench.frame, 1024))
			}
		})
	}
}

func BenchmarkRangeIter(b *testing.B) {
	for _, bench := range []struct {
		name    string
		records uint32
	}{{"1 record", 1}, {"150 records", 150}} {
		b.Run(bench.name, func(b *testing.B) {
			a := StartRanges(nil, ACKID, 1464)
			for n := range bench.records {
				a.Add(10*n, 10*n+5)
			}
			wire := a.Finish()
			b.ReportAllocs()
			for b.Loop() {
				it, err := ParseRanges(wire)
				if err != nil {
					b.Fatal(err)
				}
				for r, ok := it.Next(); ok; r, ok = it.Next() {
					sink += r.Len()
				}
			}
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	wire := []byte{0x84, 0, 0, 0}
	for b.Loop() {
		sink += int(Classify(wire))
	}
}
