package netsim

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

var matrixFlag = flag.Bool("matrix", false, "TestHandshakeMatrix: every pattern, not a sample")

// handshakePackets are the seven packets that make a connection, in order.
var handshakePackets = [...]protocol.ID{
	protocol.IDOpenConnectionRequest1, protocol.IDOpenConnectionReply1,
	protocol.IDOpenConnectionRequest2, protocol.IDOpenConnectionReply2,
	protocol.IDConnectionRequest, protocol.IDConnectionRequestAccepted, protocol.IDNewIncomingConnection,
}

// matrixPatterns is how many patterns there are of losing each of them 0 to 3 times.
const matrixPatterns = 1 << (2 * len(handshakePackets))

// matrixRun is one run: how often each packet is lost, two bits each, and the setting.
type matrixRun struct {
	pattern int
	cookies bool
	clamped bool
}

func (m matrixRun) losses(i int) int { return m.pattern >> (2 * i) & 3 }

func (m matrixRun) String() string {
	s := ""
	for i, id := range handshakePackets {
		s += fmt.Sprintf("%02x lost %d times, ", byte(id), m.losses(i))
	}
	return fmt.Sprintf("%scookies %v, clamped %v (pattern %d)", s, m.cookies, m.clamped, m.pattern)
}

// scenario is a connection that says hello both ways and closes. A third of the patterns
// also meet duplicates, another third reordering.
func (m matrixRun) scenario() Scenario {
	link := Link{Delay: 20 * time.Millisecond}
	switch m.pattern % 3 {
	case 1:
		link.Duplicate = 0.5
	case 2:
		link.Reorder, link.ReorderBy = 0.3, 30*time.Millisecond
	}
	if m.clamped {
		link.MTU = 1100
	}
	hello := Workload{Messages: 1, Size: 40, Modes: []protocol.Reliability{protocol.ReliableOrdered}}
	s := Scenario{Seed: uint64(m.pattern), Cookies: m.cookies, Clients: []ClientPlan{{
		Up: link, Down: link, DialFor: m.budget(), ToServer: hello, ToClient: hello,
	}}}
	if m.pattern&1 == 0 {
		s.Start = Start{Datagram: 1<<24 - 1, Reliable: 1<<24 - 2, Order: 1<<24 - 1, Split: 1<<16 - 1}
	}
	s.Prepare()
	return s
}

// budget is how long the offline part may take: half a second for each of its packets
// that is lost; as long again when the losses of request 2 and reply 2 make the client
// begin again from another port; and the eight probes that a clamped path swallows, twice
// as the losses may leave none of the four of the size that passes.
func (m matrixRun) budget() time.Duration {
	const interval = 500 * time.Millisecond
	lost := 0
	for i := range 4 {
		lost += m.losses(i)
	}
	budget := time.Duration(1+lost)*interval + 2500*time.Millisecond
	if m.clamped {
		budget += 24 * interval
	}
	return budget
}

// run plays it and returns when both ends were connected.
func (m matrixRun) run() (took time.Duration, report Report, err error) {
	w := NewWorld(m.scenario())
	var lost [len(handshakePackets)]int
	w.SetFilter(func(_, _ netip.AddrPort, data []byte) bool {
		for i, id := range handshakePackets {
			if carries(data, id) && lost[i] < m.losses(i) {
				lost[i]++
				return true
			}
		}
		return false
	})
	before := pool.InUse()
	report, err = w.Run()
	switch {
	case err != nil:
	case report.Sessions != 1 || report.Refused > 0 || report.Died > 0:
		err = fmt.Errorf("no clean connection: %v", &report)
	case report.Deliveries != 2:
		err = fmt.Errorf("%d of 2 messages arrived", report.Deliveries)
	case pool.InUse() != before:
		err = fmt.Errorf("%d buffers leaked", pool.InUse()-before)
	}
	return w.complete.Sub(startTime), report, err
}

// carries reports whether data is the packet id, or a frame set with the message id.
func carries(data []byte, id protocol.ID) bool {
	if wire.Classify(data) == wire.KindOffline {
		return protocol.ID(data[0]) == id
	}
	_, frames, err := wire.ParseDatagramHeader(data)
	if err != nil {
		return false
	}
	it := wire.Frames(frames)
	var f wire.Frame
	for it.Next(&f) {
		if protocol.ID(f.Payload[0]) == id {
			return true
		}
	}
	return false
}

// Each of the seven packets of a handshake is lost up to three times, in every
// combination, with and without cookies, on a clear path and on one that takes no full
// datagrams: every client gets its connection and a message through either way.
func TestHandshakeMatrix(t *testing.T) {
	step := 31 // a prime: the sample has every number of losses of every packet
	if *matrixFlag {
		step = 1
	}
	runs := 0
	var total Report
	var longest time.Duration
	start := time.Now()
	for pattern := 0; pattern < matrixPatterns; pattern += step {
		for setting := range 4 {
			m := matrixRun{pattern, setting&1 == 0, setting&2 != 0}
			took, report, err := m.run()
			if err != nil {
				t.Fatalf("%v: %v", m, err)
			}
			runs++
			longest = max(longest, took)
			total.Add(&report)
		}
	}
	elapsed := time.Since(start)
	t.Logf("%d runs in %v, %.0f a second; %v; the longest handshake took %v", runs, elapsed.Round(time.Millisecond), float64(runs)/elapsed.Seconds(), &total, longest)
	if longest > 25*time.Second {
		t.Errorf("a handshake took %v", longest)
	}
}

// A packet that is lost every time makes the connection fail, with the error that fits.
func TestHandshakeWithoutAPacket(t *testing.T) {
	want := [...]error{
		errDialTimeout, errDialTimeout, errDialTimeout, errDialTimeout, // no answer to the dial
		session.ErrHandshakeTimeout, session.ErrHandshakeTimeout,
		session.ErrIdleTimeout, // the client is connected; the server never is, and forgets it
	}
	for i, id := range handshakePackets {
		for setting := range 4 {
			m := matrixRun{0, setting&1 == 0, setting&2 != 0}
			s := m.scenario()
			s.Clients[0].excuse.blackout, s.Clients[0].excuse.partition = true, true
			w := NewWorld(s)
			w.SetFilter(func(_, _ netip.AddrPort, data []byte) bool { return carries(data, id) })
			before := pool.InUse()
			if _, err := w.Run(); err != nil {
				t.Errorf("without %v, %v: %v", id, m, err)
			}
			if got := w.clients[0].ended; !errors.Is(got, want[i]) {
				t.Errorf("without %v, %v: the client ends with %v, want %v", id, m, got, want[i])
			}
			if pool.InUse() != before {
				t.Errorf("without %v, %v: %d buffers leaked", id, m, pool.InUse()-before)
			}
		}
	}
}
