package relay

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/raknet-go/raknet/internal/monotime"
)

// Config is what a relay does. A Way without an MTU has that of Ethernet.
type Config struct {
	Target   string // where the datagrams of clients go
	Up, Down Way    // from clients to the target, and back
	Seed     uint64
	// Own gives each client a link of its own. Otherwise all share one.
	Own bool
}

// Relay is a running relay.
type Relay struct {
	conf   Config
	target *net.UDPAddr
	clock  *monotime.Clock
	front  *socket

	mu      sync.Mutex // held by the loop but while it waits
	peers   map[netip.AddrPort]*peer
	sockets []*socket
	fds     []unix.PollFd
	up      []*Line
	down    []*Line
	room    room
	waits   Histogram // before a link with a rate, on the way up
	unread  Histogram // before the relay read it
	late    Histogram // how much later than due datagrams left
	dark    monotime.Time
	failed  uint64
	urgent  bool
}

// peer is a client and the socket by which the target knows it.
type peer struct {
	addr     *net.UDPAddr
	back     *socket
	up, down *Line
}

const (
	// maxReads is how many batches are read from a socket before what is due is sent.
	maxReads = 4
	// socketBuffer is asked for; the relay is not the place where datagrams get lost.
	socketBuffer = 32 << 20
	// maxRest is how long the relay rests after each turn, so that it has more to do in the
	// next, as network cards do; a quarter of the delay if that is less. Datagrams count from
	// when the system took them, so that only leaving can be that much late.
	maxRest = 200 * time.Microsecond
	// maxWait bounds how long before it was read a datagram may seem to have come, should
	// the wall clock jump.
	maxWait = time.Second
)

// New opens a relay. Serve must be called for it to work.
func New(conf Config) (*Relay, error) {
	target, err := net.ResolveUDPAddr("udp4", conf.Target)
	if err != nil {
		return nil, err
	}
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	r := &Relay{conf: conf, target: target, clock: monotime.NewClock(), peers: map[netip.AddrPort]*peer{}}
	isDark := func(at monotime.Time) bool { return at < r.dark }
	for _, w := range [...]*Way{&r.conf.Up, &r.conf.Down} {
		w.Blackout = isDark
		if w.MTU == 0 {
			w.MTU = ethernet // or two ends that see each other on one machine would send what no network takes
		}
	}
	if r.front, err = newSocket(c, nil); err != nil {
		return nil, err
	}
	r.add(r.front)
	return r, nil
}

// Addr is where clients send to.
func (r *Relay) Addr() netip.AddrPort { return r.front.local }

func (r *Relay) add(s *socket) {
	r.sockets = append(r.sockets, s)
	r.fds = append(r.fds, unix.PollFd{Fd: int32(s.fd), Events: unix.POLLIN})
}

// Serve forwards until the process ends.
func (r *Relay) Serve() error {
	runtime.LockOSThread()
	// Without these it works as well, but wakes up later. A link does not wait for its turn.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	if err != nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -10)
	}
	r.mu.Lock()
	r.urgent = err == nil
	defer r.mu.Unlock()
	rest := min(maxRest, max(r.conf.Up.Delay, r.conf.Down.Delay)/4)
	for {
		next := r.deliver()
		var timeout *unix.Timespec
		if next != monotime.Never {
			t := unix.NsecToTimespec(int64(max(next.Sub(r.clock.Now()), 0)))
			timeout = &t
		}
		r.mu.Unlock()
		if rest > 0 {
			t := unix.NsecToTimespec(int64(rest))
			_ = unix.Nanosleep(&t, nil)
		}
		_, err := unix.Ppoll(r.fds, timeout, nil)
		r.mu.Lock()
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for i := range len(r.fds) {
			if err == nil && r.fds[i].Revents != 0 {
				r.read(r.sockets[i])
			}
		}
	}
}

// read puts what a socket has got on its line.
func (r *Relay) read(s *socket) {
	for range maxReads {
		n := s.receive()
		now, wall := r.clock.Now(), time.Now().UnixNano()
		for i := range n {
			p, line := s.peer, (*Line)(nil)
			if p != nil {
				line = p.down
			} else if p = r.client(s.in[i].Addr); p != nil {
				line = p.up
			} else {
				continue
			}
			// It counts from when it came, not from when this process had its turn.
			at := now
			if came := s.came(i); came > 0 && came < wall {
				at = now.Add(-min(time.Duration(wall-came), maxWait))
			}
			r.unread.Add(now.Sub(at))
			s.each(i, func(datagram []byte) { line.push(at, p, datagram) })
		}
		if n < len(s.in) {
			return
		}
	}
}

// client returns the peer of that address, a new one if it was not seen before.
func (r *Relay) client(a net.Addr) *peer {
	addr, ok := a.(*net.UDPAddr)
	if !ok {
		return nil
	}
	key := addr.AddrPort()
	if p := r.peers[key]; p != nil {
		return p
	}
	c, err := net.DialUDP("udp4", nil, r.target)
	if err != nil {
		r.failed++
		return nil
	}
	p := &peer{addr: net.UDPAddrFromAddrPort(key)}
	if p.back, err = newSocket(c, p); err != nil {
		r.failed++
		return nil
	}
	if r.conf.Own || len(r.up) == 0 {
		n := uint64(len(r.up)) * 2
		r.up = append(r.up, newLine(r.conf.Seed, n+1, r.conf.Up, &r.waits, &r.room))
		r.down = append(r.down, newLine(r.conf.Seed, n+2, r.conf.Down, nil, &r.room))
	}
	p.up, p.down = r.up[len(r.up)-1], r.down[len(r.down)-1]
	r.peers[key] = p
	r.add(p.back)
	return p
}

// deliver sends what has arrived, and returns when more will.
func (r *Relay) deliver() monotime.Time {
	now, next := r.clock.Now(), monotime.Never
	for _, l := range r.up {
		for it, ok := l.pop(now); ok; it, ok = l.pop(now) {
			r.late.Add(now.Sub(it.at))
			r.failed += it.peer.back.send(nil, it.data, &r.room)
		}
		next = min(next, l.next())
	}
	for _, l := range r.down {
		for it, ok := l.pop(now); ok; it, ok = l.pop(now) {
			r.late.Add(now.Sub(it.at))
			r.failed += r.front.send(it.peer.addr, it.data, &r.room)
		}
		next = min(next, l.next())
	}
	for _, s := range r.sockets {
		r.failed += s.flush(&r.room)
	}
	return next
}

// Darken lets everything vanish for that long.
func (r *Relay) Darken(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dark = r.clock.Now().Add(d)
}

// Report is what a relay did. Times are in milliseconds. Counters run from the start,
// waits and lateness from the last report.
type Report struct {
	Up, Down                     LineCount
	WaitP50, WaitP95             float64
	LateP50, LateP99, LateMax    float64
	UnreadP50, UnreadP99         float64 // how long datagrams waited for the relay to read them
	Failed                       uint64  // datagrams that a socket did not take
	Unread                       uint64  // datagrams that came faster than the relay read them
	CPU                          float64 // seconds
	Urgent                       bool    // it ran before every other process
	Clients, GSO, Reads, Written uint64
}

// Report returns what happened.
func (r *Relay) Report() Report {
	drops := SocketDrops()
	var waits, late, unread Histogram
	r.mu.Lock() // not for long: the loop waits
	rep := Report{Failed: r.failed, Urgent: r.urgent, Clients: uint64(len(r.peers))}
	for i := range r.up {
		rep.Up.add(r.up[i].total())
		rep.Down.add(r.down[i].total())
	}
	for _, s := range r.sockets {
		rep.Unread += drops[s.local.Port()]
		rep.Reads += s.reads
		rep.Written += s.written
		rep.GSO += s.runs
	}
	r.waits, waits = waits, r.waits
	r.late, late = late, r.late
	r.unread, unread = unread, r.unread
	r.mu.Unlock()
	rep.CPU = CPUTime().Seconds()
	rep.WaitP50, rep.WaitP95 = millis(waits.Quantile(0.5)), millis(waits.Quantile(0.95))
	rep.LateP50, rep.LateP99, rep.LateMax = millis(late.Quantile(0.5)), millis(late.Quantile(0.99)), millis(late.Max())
	rep.UnreadP50, rep.UnreadP99 = millis(unread.Quantile(0.5)), millis(unread.Quantile(0.99))
	return rep
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
