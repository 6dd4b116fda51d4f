package interop

import (
	"hash/fnv"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Path is the way between two peers. Every conversation goes over one: a relay sees what both ends send, loses some of it and lets
// some of it come late.
type Path struct {
	Name string
	Loss float64 // of all datagrams in each direction
	Late float64 // of those that are not lost: they come up to lateness later, so that others overtake them
}

// The paths of the matrix.
var (
	Clean = Path{Name: "clean"}
	Lossy = Path{Name: "lossy", Loss: 0.05, Late: 0.1}
)

const (
	// lateness bounds how late a datagram comes. A few datagrams of any transfer fit into it.
	lateness = 15 * time.Millisecond
	// relayBuffer is what a relay asks of its sockets, for a burst that leaves a peer while other processes have the processor.
	relayBuffer = 4 << 20
)

// SeedVariable names the environment variable that varies the luck of all relays.
const SeedVariable = "RAKNET_INTEROP_SEED"

// seedOfName makes the seed of a test's relay. Equal names have equal luck.
func seedOfName(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	vary, _ := strconv.ParseUint(os.Getenv(SeedVariable), 10, 64)
	return h.Sum64() + vary
}

// A Relay stands in front of a listener.
type Relay struct {
	path    Path
	ours    Side           // who of the two is this library
	name    netip.AddrPort // in captures
	calm    atomic.Bool
	front   *net.UDPConn // the dialers' side
	target  netip.AddrPort
	capture *Capture
	seed    uint64

	mu     sync.Mutex
	behind map[netip.AddrPort]*net.UDPConn // the listener's side, a socket for each dialer
	done   bool
}

// A Side is the listener, the dialer, neither or both.
type Side struct{ Listener, Dialer bool }

// Relay opens a relay on a port of 127.0.0.1. It carries nothing until it is pointed at a listener, and ends with the test.
func (p Path) Relay(t testing.TB, c *Capture, ours Side) *Relay {
	t.Helper()
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	_ = front.SetReadBuffer(relayBuffer) // less is a risk and no fault
	r := &Relay{
		path: p, ours: ours, name: c.newName(), front: front, capture: c, seed: seedOfName(t.Name()), behind: map[netip.AddrPort]*net.UDPConn{},
	}
	if p.Loss > 0 {
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the relay's seed was %d", r.seed)
			}
		})
	}
	t.Cleanup(r.close)
	return r
}

// Behind says where a listener should listen: where the system knows many loopback addresses, on another one with the relay's port,
// since some servers refuse whoever calls them by another port than theirs.
func (r *Relay) Behind(o Options) Options {
	if runtime.GOOS == "linux" {
		o.Host, o.Port = "127.0.0.2", r.Port()
	}
	return o
}

// Point makes the relay carry what it gets to the listener that has made its place with these options and got this port.
func (r *Relay) Point(o Options, port int) {
	r.target = netip.AddrPortFrom(netip.MustParseAddr(o.host()), uint16(port))
	go r.forward()
}

// Port is where dialers find the relay.
func (r *Relay) Port() int { return r.front.LocalAddr().(*net.UDPAddr).Port }

// Calm makes the relay carry everything at once, until told otherwise.
func (r *Relay) Calm(calm bool) { r.calm.Store(calm) }

func (r *Relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
	r.front.Close()
	for _, c := range r.behind {
		c.Close()
	}
}

// forward carries what dialers send.
func (r *Relay) forward() {
	luck := rand.New(rand.NewPCG(r.seed, 1))
	buf := make([]byte, 1<<16)
	for {
		n, from, err := r.front.ReadFromUDPAddrPort(buf)
		if err != nil {
			if r.closed() {
				return
			}
			continue // what ICMP says about a dialer that has gone
		}
		out := r.toward(from)
		if out == nil {
			return
		}
		r.capture.note(from, r.name, buf[:n], r.ours.Dialer)
		r.carry(luck, buf[:n], func(b []byte) { _, _ = out.WriteToUDPAddrPort(b, r.target) })
	}
}

// toward returns the socket that stands for a dialer, and nil once the relay is closed.
func (r *Relay) toward(dialer netip.AddrPort) *net.UDPConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.behind[dialer]; c != nil || r.done {
		return c
	}
	c, err := net.ListenUDP("udp4", &net.UDPAddr{})
	if err != nil {
		return nil
	}
	_ = c.SetReadBuffer(relayBuffer)
	r.behind[dialer] = c
	go r.back(dialer, c, rand.New(rand.NewPCG(r.seed, 2+uint64(len(r.behind)))))
	return c
}

// back carries what the listener answers to one dialer.
func (r *Relay) back(dialer netip.AddrPort, c *net.UDPConn, luck *rand.Rand) {
	buf := make([]byte, 1<<16)
	for {
		n, _, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			if r.closed() {
				return
			}
			continue
		}
		r.capture.note(r.name, dialer, buf[:n], r.ours.Listener)
		r.carry(luck, buf[:n], func(b []byte) { _, _ = r.front.WriteToUDPAddrPort(b, dialer) })
	}
}

func (r *Relay) carry(luck *rand.Rand, b []byte, write func([]byte)) {
	lost, late := luck.Float64() < r.path.Loss, luck.Float64() < r.path.Late
	after := time.Duration(luck.Int64N(int64(lateness)))
	switch {
	case r.calm.Load():
		write(b)
	case lost:
	case late:
		b = append([]byte(nil), b...)
		time.AfterFunc(after, func() { write(b) })
	default:
		write(b)
	}
}

func (r *Relay) closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// A Capture holds what was sent over relays, before anything of it was lost.
type Capture struct {
	mu        sync.Mutex
	relays    int
	ours      []bool
	datagrams []Datagram
}

// capturePort is the port that relays have in captures. The usual one of Bedrock servers would make the dissector look further, into
// the game's packets.
const capturePort = 20000

// newName makes the address that stands for a relay. A port that a later relay gets again is then no other conversation's.
func (c *Capture) newName() netip.AddrPort {
	if c == nil {
		return netip.AddrPort{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.relays++
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 1, byte(c.relays >> 8), byte(c.relays)}), capturePort)
}

func (c *Capture) note(from, to netip.AddrPort, b []byte, ours bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.datagrams = append(c.datagrams, Datagram{time.Now(), from, to, append([]byte(nil), b...)})
	c.ours = append(c.ours, ours)
}

// Datagrams returns what was recorded so far, and which of them this library sent.
func (c *Capture) Datagrams() (datagrams []Datagram, ours []bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Datagram(nil), c.datagrams...), append([]bool(nil), c.ours...)
}
