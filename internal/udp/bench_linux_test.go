package udp

import (
	"fmt"
	"net"
	"testing"

	"golang.org/x/net/ipv4"

	"github.com/raknet-go/raknet/internal/pool"
)

// The benchmarks move datagrams over the loopback interface in batches of 64, and time either
// the sending or the receiving end. The "x/net" ones are what batch would be with
// golang.org/x/net/ipv4. What "offload" sends is received as it was sent: there is no network
// card that would cut it.

const benchBatch = 64

// reference is a writer and reader of batches with x/net.
type reference struct {
	pc   *ipv4.PacketConn
	msgs []ipv4.Message
}

func newReference(c net.PacketConn, to net.Addr, bytes int) *reference {
	r := &reference{pc: ipv4.NewPacketConn(c), msgs: make([]ipv4.Message, benchBatch)}
	for i := range r.msgs {
		size := pool.ClassRead
		if to != nil {
			size = bytes
		}
		r.msgs[i] = ipv4.Message{Buffers: [][]byte{make([]byte, size)}, Addr: to}
	}
	return r
}

func (r *reference) write() (int, error) { return r.pc.WriteBatch(r.msgs, 0) }
func (r *reference) read() (int, error)  { return r.pc.ReadBatch(r.msgs, 0) }

// ends returns functions that send a batch, and receive some datagrams, of two sockets.
func ends(b *testing.B, kind string, size int) (write, read func() (int, error)) {
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
		return newReference(from, to.LocalAddr(), size).write, newReference(to, nil, size).read
	}
	path := map[string]Path{"single": Single, "batch": Batch, "offload": Offload}[kind]
	w, r := Wrap(from, Options{Path: path}), Wrap(to, Options{Path: path})
	out, in := make([]Outbound, benchBatch), make([]Inbound, benchBatch)
	for i := range out {
		out[i] = Outbound{Data: make([]byte, size), To: at(r)}
	}
	b.Cleanup(func() { Release(in) })
	return func() (int, error) { return w.WriteBatch(out) }, func() (int, error) {
		n, err := r.ReadBatch(in)
		got := 0
		for i := range in[:n] {
			got += datagrams(&in[i])
		}
		return got, err
	}
}

func benchmark(b *testing.B, writing bool) {
	for _, kind := range []string{"single", "xnet", "batch", "offload"} {
		for _, size := range []int{300, 1464} {
			b.Run(fmt.Sprintf("%s/%d", kind, size), func(b *testing.B) {
				write, read := ends(b, kind, size)
				b.SetBytes(int64(size))
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
