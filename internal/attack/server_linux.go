package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/attack/forge"
)

// The attacked server: a listener whose application sends real sessions' messages back, and does
// for others what they ask for.

// sayReal is the beginning of the messages of a real session.
const sayReal = "\xfereal"

// pongData is what a Bedrock server says of itself.
const pongData = "MCPE;Dedicated Server;844;1.21.111;0;10;13253860892328930865;Bedrock level;Survival;1;19132;19133;0;"

// Look is what a server sees of itself at a moment.
type Look struct {
	At        time.Duration // since it began
	CPU       time.Duration // of the whole process
	RSS, Peak int64         // bytes of memory, and the most since Collect
	Heap      int64         // bytes that live, with Collect

	// Of everybody but the real sessions; bytes are UDP payload.
	DatagramsIn, DatagramsOut, BytesIn, BytesOut int64

	Overflows, Pings, Pongs          uint64
	Connections, HalfOpen            int
	Accepted, Rejected, Evicted, Bad uint64
	// Ends says how often hostile sessions ended, by error, and RealEnds the same of real ones.
	Ends, RealEnds map[string]int
	// Resent is the most bytes that were sent again to a hostile session within a round
	// trip, as a share of its congestion window, since the last look.
	Resent float64
}

type server struct {
	l     *raknet.Listener
	began time.Time
	done  chan struct{}

	mu       sync.Mutex
	real     []*raknet.Conn
	ends     map[string]int
	realEnds map[string]int
	resent   float64
}

func (s *server) obey(o *Order) (Answer, error) {
	switch o.Op {
	case "listen":
		return s.listen(o)
	case "look":
		look := s.look(o.Collect)
		return Answer{Look: &look}, nil
	case "tell":
		return s.tell(o), nil
	}
	return Answer{}, errors.New("no such order")
}

func (s *server) close() {
	if s.l != nil {
		close(s.done)
		_ = s.l.Close() // nobody is left to care
	}
}

func (s *server) listen(o *Order) (Answer, error) {
	s.began, s.ends, s.realEnds = time.Now(), map[string]int{}, map[string]int{}
	l, err := raknet.ListenConfig{
		Timeouts: raknet.Timeouts{Handshake: o.Greet, ReceiveStall: o.Stall, Unacknowledged: o.Unacked},
	}.Listen("127.0.0.1:0")
	if err != nil {
		return Answer{}, err
	}
	l.PongData([]byte(pongData))
	s.l, s.done = l, make(chan struct{})
	go func() {
		for {
			c, err := l.AcceptContext(context.Background())
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	go s.watch()
	return Answer{Address: l.Addr().String()}, nil
}

// serve is the application's part of one session.
func (s *server) serve(c *raknet.Conn) {
	isReal := false
	for {
		b, err := c.ReadPacket()
		if err != nil {
			break
		}
		switch {
		case strings.HasPrefix(string(b), sayReal):
			if !isReal {
				isReal = true
				s.mu.Lock()
				s.real = append(s.real, c)
				s.mu.Unlock()
			}
			_, _ = c.Write(b) // an error shows at the next read
		case strings.HasPrefix(string(b), forge.SayEcho):
			_, _ = c.Write(b)
		case strings.HasPrefix(string(b), forge.SayPour):
			go pour(c)
		case strings.HasPrefix(string(b), forge.SaySink):
			<-c.Context().Done()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if isReal {
		s.realEnds[context.Cause(c.Context()).Error()]++
	} else {
		s.ends[context.Cause(c.Context()).Error()]++
	}
}

// pourSize is the length of the messages that a session is poured over with.
const pourSize = 1000

// pour sends as much as the session takes, until it ends.
func pour(c *raknet.Conn) {
	payload := make([]byte, pourSize)
	payload[0] = 0xfe
	for {
		if _, err := c.Write(payload); err != nil {
			return
		}
	}
}

// watchEvery is how often resends are compared with the window. It is longer than the round trip
// of those who acknowledge 50 ms late.
const watchEvery = 100 * time.Millisecond

// watch compares what is sent again to hostile sessions with their congestion windows.
func (s *server) watch() {
	type past struct {
		at     time.Time
		resent uint64
		window int
	}
	before := map[*raknet.Conn]past{}
	for tick := time.NewTicker(watchEvery); ; {
		select {
		case <-tick.C:
		case <-s.done:
			tick.Stop()
			return
		}
		s.mu.Lock()
		known := map[*raknet.Conn]bool{}
		for _, c := range s.real {
			known[c] = true
		}
		s.mu.Unlock()
		now := map[*raknet.Conn]past{}
		for c := range s.l.Conns() {
			if known[c] {
				continue
			}
			st := c.Stats()
			is := past{time.Now(), st.FramesResent, st.CongestionWindow}
			was, again := before[c]
			now[c] = is
			if !again || st.MinRTT < watchEvery/4 || is.resent == was.resent {
				continue // with a shorter round trip there are too many of them in a span to count
			}
			trips := float64(is.at.Sub(was.at))/float64(st.MinRTT) + 1
			share := float64(is.resent-was.resent) * pourSize / (trips * float64(max(is.window, was.window)))
			s.mu.Lock()
			s.resent = max(s.resent, share)
			s.mu.Unlock()
		}
		before = now
	}
}

// look looks at everything. To collect is to throw away what is not used, and to begin a new peak.
func (s *server) look(collect bool) Look {
	l := Look{}
	if collect {
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		l.Heap = int64(m.HeapAlloc)
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // where it is forbidden the peak is that of all time
	}
	st := s.l.Stats()
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Ends, l.RealEnds, l.Resent = copied(s.ends), copied(s.realEnds), s.resent
	s.resent = 0
	l.DatagramsIn, l.DatagramsOut = int64(st.DatagramsReceived), int64(st.DatagramsSent)
	l.BytesIn, l.BytesOut = int64(st.BytesReceived), int64(st.BytesSent)
	for _, c := range s.real {
		is := c.Stats()
		l.DatagramsIn -= int64(is.DatagramsReceived)
		l.DatagramsOut -= int64(is.DatagramsSent)
		l.BytesIn -= int64(is.BytesReceived)
		l.BytesOut -= int64(is.BytesSent)
	}
	l.Overflows, l.Pings, l.Pongs = st.ReceiveOverflows, st.Pings, st.Pings-st.PongsSuppressed
	l.Connections, l.HalfOpen = st.Connections, st.HalfOpen
	l.Accepted, l.Rejected, l.Evicted, l.Bad = st.Accepted, st.Rejected, st.Evicted, st.BadCookies
	l.RSS, l.Peak = memory()
	l.At, l.CPU = time.Since(s.began), cpuTime()
	return l
}

func copied(m map[string]int) map[string]int {
	c := map[string]int{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

// tell says how the sessions of the victims are, in their order.
func (s *server) tell(o *Order) Answer {
	says := make([]string, len(o.Victims))
	for c := range s.l.Conns() {
		if i := slices.Index(o.Victims, c.RemoteAddr().String()); i >= 0 {
			says[i] = fmt.Sprintf("%+v", c.Stats())
		}
	}
	return Answer{List: says}
}

// memory returns the memory that this process has, and the most that it had.
func memory() (rss, peak int64) {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "VmRSS:":
			rss = n << 10
		case "VmHWM:":
			peak = n << 10
		}
	}
	return rss, peak
}

// cpuTime is what this process has used of the processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
