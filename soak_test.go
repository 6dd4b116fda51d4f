package raknet_test

import (
	"errors"
	"flag"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/pool"
)

var cycles = flag.Int("cycles", 200, "TestConnectAndClose: how many connections come and go")

// footprint is what a process holds.
type footprint struct {
	goroutines int
	buffers    int64
	heap       uint64 // bytes that are reachable
}

func footprintNow() footprint {
	var m runtime.MemStats
	for range 3 { // what pools keep survives one collection
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return footprint{runtime.NumGoroutine(), pool.InUse(), m.HeapAlloc}
}

// waitingBuffers is how many buffers a listener holds at most that waits for datagrams: one
// where it has to offer one to be told of any.
const waitingBuffers = 1

// heapSlack is how much more memory may be reachable after many connections than after
// a few: maps and queues that grew once and stay, and what the runtime keeps. A leak of
// a hundred bytes in each of 10,000 connections is as much.
const heapSlack = 1 << 20

// Connections come and go over loopback, closed from either side, from both, or
// by a message that asks for it. However many they were, the process then
// holds what it held after the first few.
func TestConnectAndClose(t *testing.T) {
	settled(t)
	l, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { echoUntilBye(c.(*raknet.Conn)) })
		}
	})

	idle := runtime.NumGoroutine()
	come(t, l, 50+*cycles/4)
	gone(t, l, idle)
	before := footprintNow()
	began := time.Now()
	come(t, l, *cycles)
	took := time.Since(began)
	gone(t, l, idle)
	after := footprintNow()
	for range 20 { // what goes back to a pool between two collections outlives the third; what leaked outlives all
		if after.heap < before.heap+heapSlack {
			break
		}
		time.Sleep(50 * time.Millisecond)
		after = footprintNow()
	}
	t.Logf("%d cycles in %v: goroutines %d, then %d; buffers %d, then %d; heap %d KiB, then %d KiB", *cycles, took.Round(time.Millisecond),
		before.goroutines, after.goroutines, before.buffers, after.buffers, before.heap>>10, after.heap>>10)
	require.LessOrEqual(t, after.goroutines, idle+1, "goroutines")
	require.LessOrEqual(t, after.buffers, int64(waitingBuffers), "buffers")
	require.Less(t, after.heap, before.heap+heapSlack, "heap")
	require.NoError(t, l.Close())
	served.Wait()
}

// echoUntilBye sends back what it reads, and closes after a message that asks for it.
func echoUntilBye(c *raknet.Conn) {
	defer c.Close()
	for {
		b, err := c.ReadPacket()
		if err != nil {
			return
		}
		if _, err := c.Write(b); err != nil || b[1] == 1 {
			return
		}
	}
}

// come makes connections, eight at a time, and ends each of them in one of four ways.
func come(t *testing.T, l *raknet.Listener, count int) {
	t.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				n := int(next.Add(1))
				if n > count {
					return
				}
				if err := comeOnce(l, n); !assert.NoError(t, err, "cycle %d", n) {
					return
				}
			}
		})
	}
	all.Wait()
}

func comeOnce(l *raknet.Listener, n int) error {
	c, err := raknet.DialTimeout(l.Addr().String(), 20*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	size := 20
	if n%16 == 0 {
		size = 10_000
	}
	m := numbered(n, size)
	m[1] = byte(n & 1) // whether the server closes
	if _, err := c.Write(m); err != nil {
		return err
	}
	if n%4 == 3 { // both close: the answer may get lost between
		return nil
	}
	b, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if digest(b) != digest(m) {
		return errors.New("another message came back")
	}
	if n&1 == 1 {
		if _, err = c.ReadPacket(); !errors.Is(err, net.ErrClosed) {
			return err
		}
	}
	return nil
}

// gone waits until nothing of the connections is left but the listener's goroutines:
// they linger for a while to answer what is repeated.
func gone(t *testing.T, l *raknet.Listener, goroutines int) {
	t.Helper()
	require.Eventually(t, func() bool {
		return l.Stats().Connections == 0 && runtime.NumGoroutine() <= goroutines+1 // Eventually has one of its own
	}, time.Minute, 50*time.Millisecond, "connections stay")
}
