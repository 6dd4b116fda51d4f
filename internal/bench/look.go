package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/benchnet/relay"
)

// Hello is the first line that an end prints, once it is ready.
type Hello struct {
	Address string `json:",omitempty"`
	Error   string `json:",omitempty"`
}

// Order is a line that an end reads. It answers each with a Look.
type Order struct {
	Do      string // look, stop or settle
	Collect bool   `json:",omitempty"` // look: collect garbage first, and tell of memory
	Expect  int64  `json:",omitempty"` // settle: how many messages
}

// Look is what an end knows of itself at a moment. Counters only grow.
type Look struct {
	At, CPU          time.Duration
	Mallocs          uint64
	Messages, Bytes  int64 // received
	Sent             int64 // messages
	Heap, Stack, RSS int64
	Latencies        []uint32 `json:",omitempty"` // see histogram
	Note             string   `json:",omitempty"`
	Error            string   `json:",omitempty"`
}

var clock = time.Now()

// now is the time of this process.
func now() time.Duration { return time.Since(clock) }

// look reads everything but what the work itself counts.
func look(collect bool) Look {
	var l Look
	if collect {
		debug.FreeOSMemory()
		debug.FreeOSMemory() // what finalizers and pools let go of
		l.RSS = resident()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	l.Mallocs, l.Heap, l.Stack = m.Mallocs, int64(m.HeapAlloc), int64(m.StackInuse)
	l.At, l.CPU = now(), relay.CPUTime()
	return l
}

// resident returns the bytes of physical memory that this process occupies.
func resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(f[1], 10, 64)
	return n * int64(os.Getpagesize())
}
