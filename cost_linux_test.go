package raknet_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/udp"
)

// What connections cost the server when they do little. The figures are of this process
// alone; its clients live in another, see clients. Run one of them at a time:
//
//	go test -run '^$' -bench 'BenchmarkIdle/1000$' -benchtime 1x .

// memory returns what is reachable on the heap, and what stacks take.
func memory() (heap, stack float64) {
	for range 4 { // what pools keep survives one collection
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc), float64(m.StackInuse)
}

// BenchmarkIdle tells what a connection takes that nothing is sent on: after it was
// accepted, and once more after a burst of messages.
func BenchmarkIdle(b *testing.B) {
	const seconds = 10
	for _, n := range []int{1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				heap, stack := memory()
				l := serve(b, "idle", n)
				c, list := l.clients, l.conns
				time.Sleep(time.Second)
				more, moreStack := memory()
				b.ReportMetric((more-heap)/float64(n), "heap-B/conn")
				b.ReportMetric((moreStack-stack)/float64(n), "stack-B/conn")
				cpu, start := cpuTime(), time.Now()
				time.Sleep(seconds * time.Second)
				used := cpuTime() - cpu
				b.ReportMetric(used.Seconds()/time.Since(start).Seconds()*100, "%core")
				c.say("100")
				buf := make([]byte, 200)
				for _, c := range list {
					for range 100 {
						if _, err := c.Read(buf); err != nil {
							b.Fatal(err)
						}
					}
					for range 100 {
						c.Write(buf[:101])
					}
				}
				c.hear("done")
				time.Sleep(seconds * time.Second)
				more, _ = memory()
				b.ReportMetric((more-heap)/float64(n), "heap-B/conn-after")
				runtime.KeepAlive(list)
				l.Close()
			}
		})
	}
}

// BenchmarkConnect is how many connections in a second come and go, and what each costs the
// server, beside TCP's.
func BenchmarkConnect(b *testing.B) {
	const parallel, times = 16, 10_000
	for b.Loop() {
		l, err := raknet.Listen("127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		tl, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			for {
				c, err := tl.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		measure := func(kind, address, unit string) float64 {
			c := gather(b, kind, parallel, address)
			c.say("500")
			c.hear("done")
			cpu := cpuTime()
			c.say("%d", times)
			r := c.hear("done")
			b.ReportMetric(r[0], unit+"/s")
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/times, unit+"-server-µs")
			b.ReportMetric(r[1], unit+"-client-µs")
			return r[0]
		}
		ours := measure("connect", l.Addr().String(), "conn")
		theirs := measure("tcp", tl.Addr().String(), "tcp")
		b.ReportMetric(ours/theirs, "of-tcp")
		l.Close()
		tl.Close()
	}
}

// BenchmarkPongs is how many server list pings in a second are answered on one socket, beside
// how many a loop echoes that does nothing but read and write batches.
func BenchmarkPongs(b *testing.B) {
	const pingers, seconds = 64, 3
	for b.Loop() {
		measure := func(address, unit string) float64 {
			c := gather(b, "pingers", pingers, address)
			c.say("0.5")
			c.hear("done")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := cpuTime()
			c.say("%d", seconds)
			r := c.hear("done")
			used := cpuTime() - cpu
			runtime.ReadMemStats(&after)
			b.ReportMetric(r[0], unit+"/s")
			b.ReportMetric(float64(used.Microseconds())/r[0]/seconds, unit+"-µs")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/r[0]/seconds, unit+"-allocs")
			c.in.Close()
			c.cmd.Wait()
			return r[0]
		}
		s, err := udp.Listen("127.0.0.1:0", udp.Options{NoGRO: true, NoGSO: true})
		if err != nil {
			b.Fatal(err)
		}
		go echo(s)
		raw := measure(s.LocalAddr().String(), "raw")
		s.Close()

		l, err := raknet.ListenConfig{PongRate: -1, PongRateTotal: -1}.Listen("127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		l.PongData([]byte("MCPE;a server of ours;800;1.21;0;10;12345678901234567;here;Survival;1;19132;19133;"))
		ours := measure(l.Addr().String(), "pong")
		l.Close()
		b.ReportMetric(ours/raw, "of-raw")
	}
}

func echo(s udp.Socket) {
	in := make([]udp.Inbound, 64)
	out := make([]udp.Outbound, 0, 64)
	for {
		n, err := s.ReadBatch(in)
		if err != nil {
			return
		}
		out = out[:0]
		for i := range in[:n] {
			out = append(out, udp.Outbound{Data: in[i].Bytes(), To: in[i].From, Local: in[i].Local})
		}
		if _, err := s.WriteBatch(out); err != nil {
			return
		}
	}
}

// BenchmarkPlayers is a game: every client sends so many messages in a second, and the
// server sends to all of them in each of its ticks.
func BenchmarkPlayers(b *testing.B) {
	const seconds = 10
	for _, n := range []int{200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				l := serve(b, "players", n)
				c, list := l.clients, l.conns
				for _, c := range list {
					c.Handle(func(raknet.Message) {})
				}
				stop := make(chan struct{})
				go func() {
					tick := time.NewTicker(time.Second / serverSends)
					defer tick.Stop()
					p := make([]byte, serverBytes)
					p[0] = 0xfe
					for {
						select {
						case <-tick.C:
						case <-stop:
							return
						}
						binary.LittleEndian.PutUint64(p[1:], uint64(clock()))
						for _, c := range list {
							c.Write(p)
						}
					}
				}()
				c.say("2")
				c.hear("done")
				before := l.Stats()
				cpu, start := cpuTime(), time.Now()
				c.say("%d", seconds)
				r := c.hear("done")
				took := time.Since(start).Seconds()
				b.ReportMetric((cpuTime()-cpu).Seconds()/took*100, "%core")
				after := l.Stats()
				close(stop)
				in, out := float64(after.DatagramsReceived-before.DatagramsReceived), float64(after.DatagramsSent-before.DatagramsSent)
				b.ReportMetric(r[0]/took, "messages/s")
				b.ReportMetric(r[1], "p50-ms")
				b.ReportMetric(r[2], "p99-ms")
				b.ReportMetric(r[3], "%core-clients")
				b.ReportMetric(in/took, "in/s")
				b.ReportMetric(out/took, "out/s")
				l.Close()
			}
		})
	}
}
