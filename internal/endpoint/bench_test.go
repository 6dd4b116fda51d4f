package endpoint

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/udp"
)

// loopback connects two endpoints over real sockets.
func loopback(b testing.TB, change func(*Config)) (client, server *Conn) {
	b.Helper()
	before := pool.InUse()
	b.Cleanup(func() { // the last to run: the readers give their buffers back in their own time, which others count
		for until := time.Now().Add(10 * time.Second); pool.InUse() != before; time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				b.Fatal("buffers still out")
			}
		}
	})
	ls, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		b.Fatal(err)
	}
	cfg := Config{GUID: 1, Accepting: true}
	if change != nil {
		change(&cfg)
	}
	l, err := New(ls, cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	at := l.LocalAddr().(*net.UDPAddr).AddrPort()
	pc, err := net.Dial("udp", at.String())
	if err != nil {
		b.Fatal(err)
	}
	d, err := New(udp.WrapConn(pc, udp.Options{}), Config{GUID: 2, Solo: true})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client, err = d.Dial(ctx, udp.Peer{AddrPort: netip.AddrPortFrom(at.Addr(), at.Port())}, DialConfig{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	server, err = l.Accept(ctx)
	if err != nil {
		b.Fatal(err)
	}
	return client, server
}

// BenchmarkEcho is one message there and back at a time: the latency of an idle link.
func BenchmarkEcho(b *testing.B) {
	echo := func(b *testing.B, c *Conn) {
		p, q := message(64, 0xfe), make([]byte, 64)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Write(p); err != nil {
				b.Fatal(err)
			}
			if _, err := c.Read(q); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("bare sockets", func(b *testing.B) {
		// What the system alone takes, to compare with.
		l, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		go func() {
			p := make([]byte, 2048)
			for {
				n, from, err := l.ReadFromUDPAddrPort(p)
				if err != nil {
					return
				}
				l.WriteToUDPAddrPort(p[:n], from)
			}
		}()
		c, err := net.Dial("udp", l.LocalAddr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		p := make([]byte, 80)
		for b.Loop() {
			c.Write(p)
			c.Read(p)
		}
	})
	b.Run("handler", func(b *testing.B) {
		c, _ := loopback(b, func(c *Config) { c.Handler = func(c *Conn, m Message) { c.Write(m.Data) } })
		echo(b, c)
	})
	b.Run("read", func(b *testing.B) {
		c, s := loopback(b, nil)
		go func() {
			p := make([]byte, 64)
			for {
				n, err := s.Read(p)
				if err != nil {
					return
				}
				s.Write(p[:n])
			}
		}()
		echo(b, c)
	})
}

// BenchmarkStream sends messages of one size one way as fast as they are taken.
func BenchmarkStream(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"100B", 100}, {"1KB", 1000}, {"10KB", 10_000}, {"100KB", 100_000}} {
		b.Run(size.name, func(b *testing.B) {
			c, s := loopback(b, nil)
			done := make(chan struct{})
			go func() {
				defer close(done)
				p := make([]byte, size.bytes)
				for {
					n, err := s.Read(p)
					if err != nil {
						b.Error(err)
						return
					}
					if p[0] == 0xff && n == 1 {
						return
					}
				}
			}()
			p := message(size.bytes, 0xfe)
			b.SetBytes(int64(size.bytes))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(p); err != nil {
					b.Fatal(err)
				}
			}
			c.Write([]byte{0xff})
			<-done
			st := c.Stats()
			b.ReportMetric(float64(st.DatagramsLost)/float64(st.DatagramsSent)*100, "%lost")
			out, in := c.Endpoint().Stats(), s.Endpoint().Stats()
			b.ReportMetric(float64(out.DatagramsSent)/float64(out.WriteBatches), "datagrams/write")
			b.ReportMetric(float64(in.DatagramsReceived)/float64(in.ReadBatches), "datagrams/read")
		})
	}
}
