package netsim

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
)

// World is a server, its clients and the paths between them in virtual time: the real
// protocol engines, driven by one goroutine from a heap of events, without sockets or
// clocks. A Scenario says what happens in it, and equal scenarios happen equally. An
// oracle looks on; the first promise that it sees broken ends the run.
type World struct {
	sc     Scenario
	now    monotime.Time
	rng    *rand.Rand
	events eventHeap

	addrs     []address
	server    *server
	clients   []*client
	strangers *strangers
	peers     []*peer // those that are not gone
	byGUID    map[int64]*pairing
	guids     int64
	flows     uint16
	finished  int // clients that have nothing left to do

	complete monotime.Time // when the last connection was complete at both ends

	report  Report
	failure *Failure
	trace   *trace
	drop    func(from, to netip.AddrPort, data []byte) bool
	spare   []Arrival
	scratch []byte // of a message to be sent
	inbound []byte // of a message in pieces
}

// address is a place in the network. A host that moved leaves one without a host behind.
type address struct {
	addr      netip.AddrPort
	host      *host
	validated bool // received what was sent to it, as far as the server can know
	in, out   int  // bytes from it and to it, at the server, before it was validated
}

// Report is what a run amounted to.
type Report struct {
	Simulated  time.Duration
	Events     uint64 // of the heap
	Datagrams  uint64 // sent by anybody
	Deliveries uint64 // messages that reached an application
	Bytes      uint64 // in them
	Resent     uint64 // reliable frames sent again
	Unroomed   uint64 // datagrams that a receiver had no room for
	Dials      uint64
	Sessions   uint64 // connections of clients that were complete
	Refused    uint64 // dials and handshakes that came to nothing
	Died       uint64 // connections that ended by a timeout or another failure
}

// Add adds the figures of another run.
func (r *Report) Add(o *Report) {
	r.Simulated += o.Simulated
	r.Events += o.Events
	r.Datagrams += o.Datagrams
	r.Deliveries += o.Deliveries
	r.Bytes += o.Bytes
	r.Resent += o.Resent
	r.Unroomed += o.Unroomed
	r.Dials += o.Dials
	r.Sessions += o.Sessions
	r.Refused += o.Refused
	r.Died += o.Died
}

// String writes the figures in one line.
func (r *Report) String() string {
	return fmt.Sprintf("%v simulated, %d events, %d datagrams, %d deliveries (%d bytes), %d frames resent, %d datagrams without room, %d dials, %d connections, %d refused, %d died",
		r.Simulated.Round(time.Second), r.Events, r.Datagrams, r.Deliveries, r.Bytes, r.Resent, r.Unroomed, r.Dials, r.Sessions, r.Refused, r.Died)
}

// Failure is a promise that was seen broken.
type Failure struct {
	Invariant string        // which
	At        time.Duration // since the start of the world
	Detail    string
}

// Error puts it in one line.
func (f *Failure) Error() string {
	return fmt.Sprintf("%s: %s (at %v)", f.Invariant, f.Detail, f.At)
}

const (
	// startTime is when worlds start: late enough for timestamps of the past.
	startTime = monotime.Time(time.Hour)
	// socketBuffer bounds what waits in the socket of a paused host, in bytes. What
	// comes on top is dropped, as a kernel does.
	socketBuffer = 1 << 20
	// readBatch is how many datagrams that arrive at one moment a host reads before it
	// serves its connections, as the runtime does.
	readBatch = 64
	// sweepEvery is how often everybody is looked at for what no event would show.
	sweepEvery = time.Second
)

// NewWorld prepares a world in which sc happens.
func NewWorld(sc Scenario) *World {
	w := &World{sc: sc, now: startTime, rng: rand.New(rand.NewPCG(sc.Seed, 0x776f726c64)), byGUID: make(map[int64]*pairing)}
	w.server = newServer(w)
	for i := range sc.Clients {
		w.clients = append(w.clients, newClient(w, i))
	}
	if sc.Strangers.Datagrams > 0 {
		w.strangers = newStrangers(w)
	}
	return w
}

// SetFilter makes drop decide about each datagram before its path does. For tests that
// lose particular packets.
func (w *World) SetFilter(drop func(from, to netip.AddrPort, data []byte) bool) { w.drop = drop }

// Trace makes the world remember its last events in words.
func (w *World) Trace(events int) { w.trace = newTrace(events) }

// Tail returns what Trace remembered, oldest first.
func (w *World) Tail() []string { return w.trace.tail() }

// Run lets everything happen and returns what it amounted to, and a *Failure if a promise
// was broken. A world runs once.
func (w *World) Run() (Report, error) {
	w.push(event{at: w.now.Add(sweepEvery), kind: evSweep})
	for i, c := range w.clients {
		w.push(event{at: w.now.Add(w.sc.Clients[i].DialAt), kind: evDial, client: c})
	}
	if w.strangers != nil {
		w.push(event{at: w.now, kind: evStranger})
	}
	end := w.now.Add(w.sc.limit())
	for w.failure == nil && w.events.len() > 0 && !w.over() {
		e := w.events.pop()
		w.now = e.at
		if w.now > end {
			w.unfinished()
			break
		}
		w.report.Events++
		w.happen(&e)
	}
	w.close()
	w.report.Simulated = w.now.Sub(startTime)
	if w.failure != nil {
		return w.report, w.failure
	}
	return w.report, nil
}

// over reports whether nothing is left that could go wrong.
func (w *World) over() bool {
	return w.finished == len(w.clients) && len(w.peers) == 0 && (w.strangers == nil || w.strangers.left == 0)
}

func (w *World) happen(e *event) {
	switch e.kind {
	case evDatagram:
		w.arrive(e)
	case evWake:
		e.peer.wake(e.at)
	case evApp:
		e.peer.act()
	case evPlan:
		e.peer.pair.planned()
	case evDial:
		e.client.dial()
	case evNegotiate:
		e.client.negotiateDue(e.at)
	case evFault:
		e.client.fault(int(e.arg))
	case evResume:
		e.host.resume()
	case evStranger:
		w.strangers.act()
	case evSweep:
		w.sweep()
		w.push(event{at: w.now.Add(sweepEvery), kind: evSweep})
	}
}

func (w *World) push(e event) { w.events.push(e) }

// address makes a place in the network.
func (w *World) address(a netip.AddrPort, h *host) int32 {
	w.addrs = append(w.addrs, address{addr: a, host: h})
	return int32(len(w.addrs) - 1)
}

// guid returns a number that nobody has.
func (w *World) guid() int64 {
	w.guids++
	return w.guids<<16 | int64(w.rng.Uint32()&0xffff)
}

// send puts a datagram on a path.
func (w *World) send(path *Pipe, from, to int32, data []byte) {
	w.report.Datagrams++
	if w.drop != nil && w.drop(w.addrs[from].addr, w.addrs[to].addr, data) {
		if w.trace != nil {
			w.note("%v > %v filtered: %s", w.addrs[from].addr, w.addrs[to].addr, describe(data))
		}
		return
	}
	w.spare = path.Send(w.now, data, w.spare[:0])
	if w.trace != nil {
		w.note("%v > %v %s%s", w.addrs[from].addr, w.addrs[to].addr, describe(data), arrivals(w.now, w.spare))
	}
	for i := range w.spare {
		a := &w.spare[i]
		b := pool.Get(max(len(a.Data), pool.ClassRead))
		b.N = copy(b.B, a.Data)
		damaged := int32(0)
		if len(a.Data) != len(data) || len(data) > 0 && &a.Data[0] != &data[0] {
			damaged = 1
		}
		w.push(event{at: a.At, kind: evDatagram, from: from, to: to, buf: b, arg: damaged})
		*a = Arrival{}
	}
}

// arrive hands a datagram to its host, with those that arrive there at the same moment,
// and then serves the connections that received something.
func (w *World) arrive(e *event) {
	h := w.addrs[e.to].host
	if h == nil || h.mute {
		e.buf.Release()
		return
	}
	if h.paused {
		h.queue(e)
		return
	}
	h.receive(e)
	for n := 1; n < readBatch; n++ {
		next := w.events.peek()
		if next == nil || next.at != w.now || next.kind != evDatagram || w.addrs[next.to].host != h {
			break
		}
		more := w.events.pop()
		w.report.Events++
		h.receive(&more)
	}
	h.serve()
}

// sweep looks at everybody who is not gone.
func (w *World) sweep() {
	for i := 0; i < len(w.peers); i++ {
		w.peers[i].sweep()
	}
	w.server.sweep()
}

// forget takes a peer that is gone out of the list.
func (w *World) forget(p *peer) {
	for i, o := range w.peers {
		if o == p {
			w.peers = append(w.peers[:i], w.peers[i+1:]...)
			return
		}
	}
}

// close gives back what is still held. Nothing happens any more.
func (w *World) close() {
	for w.events.len() > 0 {
		if e := w.events.pop(); e.buf != nil {
			e.buf.Release()
		}
	}
	for _, p := range w.peers {
		p.collectStats()
		p.sess.Release()
	}
	w.server.host.drain()
	for _, c := range w.clients {
		c.host.drain()
	}
}

// violated ends the run: a promise was broken. The first counts.
func (w *World) violated(invariant, format string, args ...any) {
	if w.failure != nil {
		return
	}
	w.failure = &Failure{Invariant: invariant, At: w.now.Sub(startTime), Detail: fmt.Sprintf(format, args...)}
	if w.trace != nil {
		w.note("VIOLATED %v", w.failure)
	}
}

// unfinished explains why the world did not come to its end in time.
func (w *World) unfinished() {
	for _, p := range w.peers {
		w.violated("16 liveness", "%s is still %v: sent %d of %d messages, %d reliable ones not delivered",
			p, p.sess.State(), p.app.sent, p.app.load.Messages, p.out.outstanding)
	}
	w.violated("16 liveness", "%d of %d clients finished", w.finished, len(w.clients))
}
