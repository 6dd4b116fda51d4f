package offline

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

// repeatPolicy is what a server does with a request 2 from an address that it has
// already accepted: ours repeats reply 2, others are less kind.
type repeatPolicy uint8

const (
	repeatReply2 repeatPolicy = iota
	refuseRepeats
	ignoreRepeats
)

// world is one client and one server on a virtual path with virtual time.
type world struct {
	server  *Server
	client  Client
	port    uint16 // the client's
	policy  repeatPolicy
	pathMTU int // larger probes vanish; 0: none does

	lose  func(kind protocol.ID) bool
	delay func() time.Duration
	twice func() bool

	now      monotime.Time
	flying   []datagram
	sent     uint64
	accepted map[uint16]Outcome // by the client's port
	restarts int
}

type datagram struct {
	at       monotime.Time
	seq      uint64 // breaks ties in the order of sending
	toServer bool
	port     uint16
	b        []byte
}

func newWorld(s ServerConfig, c ClientConfig) *world {
	w := &world{server: newServer(s), port: 40000, now: start, accepted: make(map[uint16]Outcome),
		delay: func() time.Duration { return ms(10) }, twice: func() bool { return false },
		lose: func(protocol.ID) bool { return false }}
	c.GUID, c.ServerAddr = clientGUID, serverAddr
	w.client.Init(w.now, &c)
	return w
}

func (w *world) send(toServer bool, port uint16, b []byte) {
	if w.lose(protocol.ID(b[0])) {
		return
	}
	if w.pathMTU > 0 && len(b)+protocol.UDPOverhead > w.pathMTU {
		return
	}
	copies := 1
	if w.twice() {
		copies = 2
	}
	for range copies {
		w.sent++
		w.flying = append(w.flying, datagram{w.now.Add(w.delay()), w.sent, toServer, port, slices.Clone(b)})
	}
}

// run plays until the client is done, and returns its result; ok is false when
// that took longer than limit.
func (w *world) run(limit time.Duration) (n Negotiated, took time.Duration, err error, ok bool) {
	for {
		for _, b := range drain(&w.client, w.now) {
			w.send(true, w.port, b)
		}
		if n, done, err := w.client.Result(); done {
			return n, w.now.Sub(start), err, true
		}
		if w.client.NeedFreshPort() {
			w.port++
			w.restarts++
			w.client.Restart(w.now, clientGUID+int64(w.restarts))
			continue
		}
		next := w.client.Deadline()
		first := -1
		for i, d := range w.flying {
			if d.at < next || d.at == next && first >= 0 && d.seq < w.flying[first].seq {
				next, first = d.at, i
			}
		}
		if next < w.now || next > start.Add(limit) {
			return Negotiated{}, w.now.Sub(start), nil, false
		}
		w.now = next
		if first < 0 {
			w.client.Advance(w.now)
			continue
		}
		d := w.flying[first]
		w.flying = slices.Delete(w.flying, first, first+1)
		switch {
		case d.toServer:
			w.serve(d)
		case d.port == w.port: // what comes for a port that was given up is lost
			w.client.Receive(w.now, d.b)
		}
	}
}

// serve is the runtime around the server.
func (w *world) serve(d datagram) {
	from := netip.AddrPortFrom(clientAddr.Addr(), d.port)
	reply, out := w.server.Handle(w.now, from, d.b, nil)
	if out.Kind == Accept {
		if before, ok := w.accepted[d.port]; !ok {
			w.accepted[d.port] = out
		} else if w.policy == ignoreRepeats {
			return
		} else if w.policy == refuseRepeats {
			w.send(false, d.port, w.server.AppendRefusal(nil, protocol.IDAlreadyConnected))
			return
		} else {
			out = before
		}
		reply = w.server.AppendReply2(nil, out.MTU, from)
	}
	if reply != nil {
		w.send(false, d.port, reply)
	}
}

// check asserts that both sides agree.
func (w *world) check(n Negotiated) error {
	out, ok := w.accepted[w.port]
	switch {
	case !ok:
		return fmt.Errorf("the server did not accept port %d", w.port)
	case n.MTU > out.MTU || w.pathMTU > 0 && n.MTU > w.pathMTU || n.MTU < protocol.MinMTU:
		return fmt.Errorf("MTU %d, the server's %d, the path's %d", n.MTU, out.MTU, w.pathMTU)
	case w.server.cookies == CookiesRequired && n.Version != out.Version:
		return fmt.Errorf("version %d, the server's %d", n.Version, out.Version)
	case out.GUID != w.client.guid || n.ServerGUID != serverGUID:
		return fmt.Errorf("GUIDs %d and %d", out.GUID, n.ServerGUID)
	case n.ClientAddr != netip.AddrPortFrom(clientAddr.Addr(), w.port):
		return fmt.Errorf("client address %v", n.ClientAddr)
	}
	return nil
}

// TestHandshakeMatrix loses the first 0 to 3 of each of the four packets, with and
// without cookies, on a clear path and on one that swallows large probes, against
// the three kinds of server.
func TestHandshakeMatrix(t *testing.T) {
	worst := time.Duration(0)
	for i := range 256 * 2 * 2 * 3 {
		bits := i
		take := func(n int) (x int) { x, bits = bits%n, bits/n; return x }
		losses := map[protocol.ID]int{
			protocol.IDOpenConnectionRequest1: take(4), protocol.IDOpenConnectionReply1: take(4),
			protocol.IDOpenConnectionRequest2: take(4), protocol.IDOpenConnectionReply2: take(4),
		}
		name := fmt.Sprint("losses ", losses)
		early := losses[protocol.IDOpenConnectionRequest1] + losses[protocol.IDOpenConnectionReply1]
		w := newWorld(ServerConfig{Cookies: CookieMode(take(2))}, ClientConfig{})
		if take(2) == 1 {
			w.pathMTU = 1300
		}
		w.policy = repeatPolicy(take(3))
		name += fmt.Sprintf(" cookies %d path %d policy %d", w.server.cookies, w.pathMTU, w.policy)
		w.lose = func(kind protocol.ID) bool {
			losses[kind]--
			return losses[kind] >= 0
		}
		n, took, err, ok := w.run(20 * time.Second)
		if !ok || err != nil {
			t.Fatalf("%s: not connected after %v: %v", name, took, err)
		}
		if err := w.check(n); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// Four probes are made of each size, so fewer losses cost no MTU.
		if early < 4 && w.pathMTU == 0 && n.MTU != 1492 || early < 4 && w.pathMTU > 0 && n.MTU != 1200 {
			t.Fatalf("%s: MTU %d", name, n.MTU)
		}
		worst = max(worst, took)
	}
	t.Logf("the slowest took %v", worst)
	if worst > 12*time.Second {
		t.Fatalf("the slowest handshake took %v", worst)
	}
}

// TestHandshakeOnBadPaths draws paths with loss, delay, reordering and duplicates.
func TestHandshakeOnBadPaths(t *testing.T) {
	for n := range uint64(400) {
		seed := *seed + n
		rnd := rand.New(rand.NewPCG(seed, 1))
		versions := [][]byte{nil, {11}, {8}, {6, 7}}[rnd.IntN(4)]
		loss, twice := rnd.Float64()*0.5, rnd.Float64()*0.3
		base, jitter := rnd.IntN(600), rnd.IntN(300)
		w := newWorld(ServerConfig{Versions: versions, MaxMTU: 1000 + rnd.IntN(600), Cookies: CookieMode(rnd.IntN(2))}, ClientConfig{})
		w.policy = repeatPolicy(rnd.IntN(3))
		w.pathMTU = []int{0, 1300, 1200, 700}[rnd.IntN(4)]
		w.lose = func(protocol.ID) bool { return rnd.Float64() < loss }
		w.twice = func() bool { return rnd.Float64() < twice }
		w.delay = func() time.Duration { return ms(base/2 + rnd.IntN(jitter+1)) }
		line := fmt.Sprintf("-seed=%d (loss %.2f, duplicates %.2f, delay %d+%d ms, path %d, policy %d)", seed, loss, twice, base/2, jitter, w.pathMTU, w.policy)
		got, took, err, ok := w.run(3 * time.Minute)
		if !ok || err != nil {
			t.Fatalf("%s: not connected after %v: %v", line, took, err)
		}
		if err := w.check(got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

func TestHandshakeWithAServerThatComesUpLate(t *testing.T) {
	w := newWorld(ServerConfig{}, ClientConfig{})
	w.lose = func(protocol.ID) bool { return w.now < start.Add(8*time.Second) }
	n, took, err, ok := w.run(time.Minute)
	if !ok || err != nil || n.MTU != 1200 && n.MTU != 1492 || took > 9*time.Second {
		t.Fatalf("%+v after %v: %v, %t", n, took, err, ok)
	}
}
