package udp

import (
	"net"
	"testing"

	"golang.org/x/net/ipv4"

	"github.com/raknet-go/raknet/internal/pool"
)

// The benchmarks move datagrams of 300 bytes over the loopback interface in batches of 64,
// and time either the sending or the receiving end. The "x/net" ones are what batch would
// be with golang.org/x/net/ipv4.

const benchBatch, benchSize = 64, 300

// reference is a writer and reader of batches with x/net.
type reference struct {
	pc   *ipv4.PacketConn
	msgs []ipv4.Message
}

func newReference(c net.PacketConn, to net.Addr) *reference {
	r := &reference{pc: ipv4.NewPacketConn(c), msgs: make([]ipv4.Message, benchBatch)}
	for i := range r.msgs {
		size := pool.ClassRead
		if to != nil {
			size = benchSize
		}
		r.msgs[i] = ipv4.Message{Buffers: [][]byte{make([]byte, size)}, Addr: to}
	}
	return r
}

func (r *reference) write() (int, error) { return r.pc.WriteBatch(r.msgs, 0) }
func (r *reference) read() (int, error)  { return r.pc.ReadBatch(r.msgs, 0) }

// ends returns functions that send a batch, and receive some datagrams, of two sockets.
func ends(b *testing.B, kind string) (write, read func() (int, error)) {
	b.Helper()
	open := func() *net.UDPConn {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		return c
	}
	from, to := open(), open()
	if kind == "xnet" {
		growBuffers(to)
		return newReference(from, to.LocalAddr()).write, newReference(to, nil).read
	}
	wrap := newUDP
	if kind == "single" {
		wrap = func(c *net.UDPConn) Socket { return newSingle(c) }
	}
	w, r := wrap(from), wrap(to)
	out, in := make([]Outbound, benchBatch), make([]Inbound, benchBatch)
	for i := range out {
		out[i] = Outbound{Data: make([]byte, benchSize), To: at(r)}
		in[i].Buf = pool.Get(pool.ClassRead)
	}
	b.Cleanup(func() {
		for i := range in {
			in[i].Buf.Release()
		}
	})
	return func() (int, error) { return w.WriteBatch(out) }, func() (int, error) { return r.ReadBatch(in) }
}

func benchmark(b *testing.B, writing bool) {
	for _, kind := range []string{"single", "xnet", "batch"} {
		b.Run(kind, func(b *testing.B) {
			write, read := ends(b, kind)
			b.ReportAllocs()
			for moved := 0; moved < b.N; moved += benchBatch {
				timed(b, writing)
				n, err := write()
				timed(b, !writing)
				for got := 0; err == nil && got < n; {
					var k int
					k, err = read()
					got += k
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func timed(b *testing.B, on bool) {
	if on {
		b.StartTimer()
	} else {
		b.StopTimer()
	}
}

// BenchmarkWrite is per datagram sent.
func BenchmarkWrite(b *testing.B) { benchmark(b, true) }

// BenchmarkRead is per datagram received.
func BenchmarkRead(b *testing.B) { benchmark(b, false) }
