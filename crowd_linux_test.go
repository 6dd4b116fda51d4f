package raknet_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/raknet-go/raknet"
)

// The benchmarks of many connections put the clients into a process of their own, this same
// test binary once more, so that what is measured of this process is the server's alone.
// TestMain is that process's main function: a crowd of a kind, which does
// what it is told on its standard input and says what it saw on its output.

var crowd = flag.String("crowd", "", "be the clients of a benchmark: kind,number,address")

// crowds are the kinds.
var crowds = map[string]func(n int, address string, in *bufio.Scanner){
	"idle":    idleCrowd,
	"connect": connectCrowd,
	"tcp":     tcpCrowd,
	"players": playerCrowd,
	"pingers": pingCrowd,
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *crowd == "" {
		os.Exit(m.Run())
	}
	part := strings.Split(*crowd, ",")
	n, err := strconv.Atoi(part[1])
	if err != nil {
		panic(err)
	}
	crowds[part[0]](n, part[2], bufio.NewScanner(os.Stdin))
}

// clients is a crowd in another process.
type clients struct {
	b   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// gather starts a crowd and waits until it is complete.
func gather(b testing.TB, kind string, n int, address string) *clients {
	b.Helper()
	c := &clients{b: b, cmd: exec.Command(os.Args[0], fmt.Sprintf("-crowd=%s,%d,%s", kind, n, address))}
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	c.in, c.out = in, bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close() // which ends it
		c.cmd.Wait()
	})
	c.hear("ready")
	return c
}

// say tells the crowd something.
func (c *clients) say(format string, args ...any) {
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.b.Fatal(err)
	}
}

// hear waits for a line that begins with a word and returns the numbers in the rest of it.
func (c *clients) hear(word string) []float64 {
	c.b.Helper()
	for c.out.Scan() {
		f := strings.Fields(c.out.Text())
		if len(f) == 0 || f[0] != word {
			continue
		}
		var list []float64
		for _, s := range f[1:] {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				c.b.Fatal(err)
			}
			list = append(list, v)
		}
		return list
	}
	c.b.Fatalf("the clients are gone, and did not say %q", word)
	return nil
}

// cpuTime is what this process has used of its processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// together runs f for 0 to n-1, a few at a time, and panics with the first error.
func together(n, parallel int, f func(i int) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range parallel {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					panic(err)
				}
			}
		})
	}
	all.Wait()
}

// idleCrowd connects and does nothing more.
func idleCrowd(n int, address string, in *bufio.Scanner) {
	conns := make([]*raknet.Conn, n)
	together(n, 16, func(i int) (err error) {
		conns[i], err = raknet.Dial(address)
		return err
	})
	fmt.Println("ready")
	for in.Scan() {
		size, _ := strconv.Atoi(in.Text())
		for _, c := range conns { // a burst of messages
			for range 100 {
				c.Write(append([]byte{0xfe}, make([]byte, size)...))
			}
		}
		fmt.Println("done")
	}
}

// connectCrowd dials and closes, n at a time, as often as it is told.
func connectCrowd(n int, address string, in *bufio.Scanner) {
	fmt.Println("ready")
	for in.Scan() {
		times, _ := strconv.Atoi(in.Text())
		start, cpu := time.Now(), cpuTime()
		together(times, n, func(int) error {
			c, err := raknet.Dial(address)
			if err == nil {
				c.Close()
			}
			return err
		})
		fmt.Println("done", float64(times)/time.Since(start).Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(times))
	}
}

// tcpCrowd does with TCP what connectCrowd does: dial, and close once the other side has.
func tcpCrowd(n int, address string, in *bufio.Scanner) {
	fmt.Println("ready")
	for in.Scan() {
		times, _ := strconv.Atoi(in.Text())
		start, cpu := time.Now(), cpuTime()
		together(times, n, func(int) error {
			c, err := net.Dial("tcp", address)
			if err == nil {
				c.Close()
			}
			return err
		})
		fmt.Println("done", float64(times)/time.Since(start).Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(times))
	}
}

// Players send so many messages of so many bytes in a second, and get more.
const (
	playerSends, playerBytes = 20, 100
	serverSends, serverBytes = 60, 300
)

// playerCrowd plays. The first eight bytes of what a server sends behind the identifier are
// the time, on a clock that both processes have.
func playerCrowd(n int, address string, in *bufio.Scanner) {
	var mu sync.Mutex
	var delays []time.Duration
	var measuring atomic.Bool
	conns := make([]*raknet.Conn, n)
	together(n, 16, func(i int) error {
		c, err := raknet.Dial(address)
		if err != nil {
			return err
		}
		conns[i] = c
		c.Handle(func(m raknet.Message) {
			if measuring.Load() {
				d := time.Duration(clock() - int64(binary.LittleEndian.Uint64(m.Data[1:])))
				mu.Lock()
				delays = append(delays, d)
				mu.Unlock()
			}
		})
		return nil
	})
	fmt.Println("ready")
	stop := make(chan struct{})
	go func() {
		// All of them in turn, spread over the time between two messages of one.
		const slices = 50
		tick := time.NewTicker(time.Second / playerSends / slices)
		p := make([]byte, playerBytes)
		p[0] = 0xfe
		order := rand.Perm(n)
		for turn := 0; ; turn++ {
			select {
			case <-tick.C:
			case <-stop:
				return
			}
			for i := turn % slices; i < n; i += slices {
				binary.LittleEndian.PutUint64(p[1:], uint64(clock()))
				conns[order[i]].Write(p)
			}
		}
	}()
	for in.Scan() {
		seconds, _ := strconv.ParseFloat(in.Text(), 64)
		cpu := cpuTime()
		measuring.Store(true)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		measuring.Store(false)
		used := cpuTime() - cpu
		mu.Lock()
		list := delays
		delays = nil
		mu.Unlock()
		fmt.Println("done", len(list), millis(quantile(list, 0.5)), millis(quantile(list, 0.99)), used.Seconds()/seconds*100)
	}
	close(stop)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// quantile sorts the list.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[int(q*float64(len(list)-1))]
}

// clock is a clock that all processes of a machine share.
func clock() int64 { return time.Now().UnixNano() }

// pingCrowd pings from n sockets, each again as soon as it has its answer.
func pingCrowd(n int, address string, in *bufio.Scanner) {
	var pongs atomic.Int64
	for range n {
		c, err := net.Dial("udp", address)
		if err != nil {
			panic(err)
		}
		go func() {
			ping := append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, "\x00\xff\xff\x00\xfe\xfe\xfe\xfe\xfd\xfd\xfd\xfd\x12\x34\x56\x78"...)
			ping = append(ping, 1, 2, 3, 4, 5, 6, 7, 8)
			p := make([]byte, 2048)
			for {
				c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
				c.Write(ping)
				if _, err := c.Read(p); err == nil {
					pongs.Add(1)
				}
			}
		}()
	}
	fmt.Println("ready")
	for in.Scan() {
		seconds, _ := strconv.ParseFloat(in.Text(), 64)
		before := pongs.Load()
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		fmt.Println("done", float64(pongs.Load()-before)/seconds)
	}
}

// server is a listener and its connections, whose clients are a crowd.
type server struct {
	*raknet.Listener
	clients *clients
	conns   []*raknet.Conn
}

// serve waits for the n clients of a kind.
func serve(b testing.TB, kind string, n int) *server {
	b.Helper()
	l, err := raknet.Listen("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &server{Listener: l}
	b.Cleanup(func() { l.Close() })
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for range n {
			c, err := l.AcceptContext(ctx)
			if err != nil {
				done <- err
				return
			}
			s.conns = append(s.conns, c)
		}
		done <- nil
	}()
	s.clients = gather(b, kind, n, l.Addr().String())
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	return s
}
