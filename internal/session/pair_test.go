package session

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

// The pair harness: two connections, a path between them that a script may damage
// datagram by datagram, and a clock that jumps from one thing to do to the next.

const (
	start     = monotime.Time(time.Second)
	pathDelay = 10 * time.Millisecond
	someEpoch = 1_700_000_000_000
)

// fate is what the path does to one datagram; the zero value lets it through.
type fate struct {
	drop   bool
	copies int           // besides the first
	late   time.Duration // beyond pathDelay
}

// path decides the fate of the n-th datagram (from 0) that a side sends.
type path func(from Side, n int, data []byte) fate

type flight struct {
	at   monotime.Time
	seq  int
	to   *node
	data []byte
}

// node is one end: its connection, and what came out of it.
type node struct {
	Conn
	p        *pair
	sent     int // datagrams
	bytes    int
	asleep   bool // its process does nothing
	deaf     bool // its application does not read
	messages []string
	closed   error
	log      []string // events and messages, in order
	receipts map[uint64]bool
	wake     monotime.Time
}

type pair struct {
	t              *testing.T
	now            monotime.Time
	client, server node
	path           path
	flights        []flight
	seq            int
	steps          int
	inUse          int64
}

func newPair(t *testing.T, tweak func(client, server *Config)) *pair {
	t.Helper()
	return pairOver(t, nil, tweak)
}

// pairOver is a pair whose very first datagram already takes the given path.
func pairOver(t *testing.T, over path, tweak func(client, server *Config)) *pair {
	t.Helper()
	p := &pair{t: t, now: start, inUse: pool.InUse(), path: over}
	c := Config{Side: Client, MTU: 1492, Version: protocol.VersionCurrent, LocalGUID: -5, PeerGUID: 7, EpochMilli: someEpoch}
	s := c
	s.Side, s.LocalGUID, s.PeerGUID = Server, 7, -5
	if tweak != nil {
		tweak(&c, &s)
	}
	for _, n := range []*node{&p.client, &p.server} {
		n.p, n.receipts = p, map[uint64]bool{}
	}
	p.client.Init(p.now, &c)
	p.server.Init(p.now, &s)
	t.Cleanup(p.finish)
	p.client.settle()
	p.server.settle()
	return p
}

// connected is a pair whose handshake is complete.
func connectedPair(t *testing.T, tweak func(client, server *Config)) *pair {
	t.Helper()
	p := newPair(t, tweak)
	p.until("both sides are connected", time.Second, func() bool {
		return p.client.State() == Connected && p.server.State() == Connected
	})
	return p
}

// finish checks that nothing is lent out any more.
func (p *pair) finish() {
	p.client.Release()
	p.server.Release()
	if n := pool.InUse() - p.inUse; n != 0 && !p.t.Failed() {
		p.t.Errorf("%d buffers were not returned", n)
	}
}

func (p *pair) other(n *node) *node {
	if n == &p.client {
		return &p.server
	}
	return &p.client
}

// settle takes everything out of a node and puts its datagrams on the path. What is
// due by then is done, after which nothing may be due any more.
func (n *node) settle() {
	n.take()
	if n.Deadline() <= n.p.now {
		n.Advance(n.p.now)
		n.take()
	}
	n.wake = n.Deadline()
	if n.wake <= n.p.now {
		n.p.t.Fatalf("%v: deadline %v is not after now, with nothing to transmit", n.Side(), n.wake.Sub(n.p.now))
	}
}

func (n *node) take() {
	n.hear()
	for b := n.Transmit(n.p.now); b != nil; b = n.Transmit(n.p.now) {
		if b.N > n.MTU()-protocol.UDPOverhead {
			n.p.t.Fatalf("%v sent %d bytes at an MTU of %d", n.Side(), b.N, n.MTU())
		}
		n.bytes += b.N
		n.launch(b.Bytes())
		b.Release()
	}
	n.hear() // a close may complete when the last message leaves
}

// hear takes events and messages.
func (n *node) hear() {
	var ev Event
	for n.Next(&ev) {
		if n.closed != nil {
			n.p.t.Fatalf("%v: event %v after closed", n.Side(), ev.Kind)
		}
		n.log = append(n.log, ev.Kind.String())
		switch ev.Kind {
		case EventReceipt:
			if _, twice := n.receipts[ev.ID]; twice {
				n.p.t.Fatalf("%v: receipt %d twice", n.Side(), ev.ID)
			}
			n.receipts[ev.ID] = ev.Acked
		case EventClosed:
			n.closed = ev.Err
		}
	}
	if !n.deaf {
		n.read()
	}
}

func (n *node) read() {
	var d arq.Delivery
	for n.NextMessage(&d) {
		m := string(d.AppendTo(nil))
		d.Release()
		n.messages = append(n.messages, m)
		n.log = append(n.log, short(m))
	}
}

func short(m string) string {
	if len(m) > 12 {
		m = m[:12]
	}
	return m
}

// launch puts a datagram on the path.
func (n *node) launch(data []byte) {
	p := n.p
	var f fate
	if p.path != nil {
		f = p.path(n.Side(), n.sent, data)
	}
	n.sent++
	if f.drop {
		return
	}
	for i := 0; i <= f.copies; i++ {
		at := p.now.Add(pathDelay + f.late + time.Duration(i)*time.Millisecond)
		p.flights = append(p.flights, flight{at: at, seq: p.seq, to: p.other(n), data: slices.Clone(data)})
		p.seq++
	}
}

// step goes to the next moment at which anything happens, if that is before limit.
func (p *pair) step(limit monotime.Time) bool {
	next := limit
	for _, n := range []*node{&p.client, &p.server} {
		if !n.asleep {
			next = min(next, n.wake)
		}
	}
	first := -1
	for i, f := range p.flights {
		if f.to.asleep {
			continue
		}
		if first < 0 || f.at < p.flights[first].at || f.at == p.flights[first].at && f.seq < p.flights[first].seq {
			first = i
		}
	}
	if p.steps++; p.steps > 2_000_000 {
		p.t.Fatal("the pair does not come to rest")
	}
	if first >= 0 && p.flights[first].at <= next && p.flights[first].at <= limit {
		f := p.flights[first]
		p.flights = slices.Delete(p.flights, first, first+1)
		p.now = max(p.now, f.at)
		b := pool.Get(pool.ClassRead)
		b.N = copy(b.B, f.data)
		f.to.Receive(p.now, b, b.Bytes())
		clear(b.B[b.N:])
		b.Release()
		f.to.settle()
		return true
	}
	p.now = max(p.now, next)
	if next == limit {
		return false
	}
	for _, n := range []*node{&p.client, &p.server} {
		if !n.asleep && n.wake <= p.now {
			n.Advance(p.now)
			n.settle()
		}
	}
	return true
}

// run lets d pass.
func (p *pair) run(d time.Duration) {
	limit := p.now.Add(d)
	for p.step(limit) {
	}
}

// until runs until ok, and fails if that takes longer than d. It returns how long it took.
func (p *pair) until(what string, d time.Duration, ok func() bool) time.Duration {
	p.t.Helper()
	began := p.now
	limit := began.Add(d)
	for !ok() {
		if !p.step(limit) {
			p.t.Fatalf("not within %v: %s (client %v %v, server %v %v)", d, what,
				p.client.State(), p.client.Err(), p.server.State(), p.server.Err())
		}
	}
	return p.now.Sub(began)
}

// say sends a message and lets it leave.
func (n *node) say(m string, r protocol.Reliability, channel uint8) {
	n.p.t.Helper()
	if err := n.Send(n.p.now, &arq.Message{Payload: []byte(m), Reliability: r, Channel: channel}); err != nil {
		n.p.t.Fatalf("%v: send: %v", n.Side(), err)
	}
	n.settle()
}

func (n *node) close()          { n.Close(n.p.now); n.settle() }
func (n *node) abort(err error) { n.Abort(n.p.now, err); n.settle() }

// parcel is a message of the given size that names its number.
func parcel(number, size int) string {
	b := make([]byte, max(size, 5))
	b[0] = 0xfe
	binary.BigEndian.PutUint32(b[1:], uint32(number))
	for i := 5; i < len(b); i++ {
		b[i] = byte(number + i)
	}
	return string(b)
}

// wantMessages fails unless exactly these arrived, in this order.
func (n *node) wantMessages(want ...string) {
	n.p.t.Helper()
	if !slices.Equal(n.messages, want) {
		n.p.t.Fatalf("%v received %s, want %s", n.Side(), list(n.messages), list(want))
	}
}

func list(m []string) string {
	s := ""
	for _, m := range m {
		s += fmt.Sprintf(" %x(%d)", short(m), len(m))
	}
	return "[" + s + " ]"
}

// carries reports whether a datagram holds a message that starts with id.
func carries(data []byte, id protocol.ID) bool {
	for _, f := range framesOf(data) {
		if protocol.ID(f.Payload[0]) == id && f.SplitIndex == 0 {
			return true
		}
	}
	return false
}
