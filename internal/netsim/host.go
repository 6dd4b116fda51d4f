package netsim

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
)

// node is what runs on a host.
type node interface {
	// datagram takes one datagram; buf is borrowed.
	datagram(from int32, buf *pool.Buffer, damaged bool)
	// path returns the pipe to an address.
	path(to int32) *Pipe
}

// host is a machine: an address, a socket, and a process that may be stopped for a while.
type host struct {
	w     *World
	node  node
	addr  int32
	mute  bool // nothing leaves or arrives any more
	dirty []*peer

	paused   bool
	awakened monotime.Time // the end of the last pause
	asleep   int64         // nanoseconds of all pauses
	waiting  []event       // datagrams in the socket
	bytes    int           // of them
	overdue  []*peer       // whose deadlines came meanwhile
}

func (h *host) send(to int32, data []byte) {
	if h.mute {
		return
	}
	h.w.send(h.node.path(to), h.addr, to, data)
}

// receive hands one datagram to the node and releases its buffer.
func (h *host) receive(e *event) {
	if h.w.trace != nil {
		h.w.note("%v < %v %s", h.w.addrs[e.to].addr, h.w.addrs[e.from].addr, describe(e.buf.Bytes()))
	}
	h.node.datagram(e.from, e.buf, e.arg != 0)
	e.buf.Release()
}

// serve gives each connection that received something its turn.
func (h *host) serve() {
	for i := 0; i < len(h.dirty); i++ {
		p := h.dirty[i]
		p.dirty = false
		p.turn(false)
	}
	h.dirty = h.dirty[:0]
}

func (h *host) touched(p *peer) {
	if !p.dirty {
		p.dirty = true
		h.dirty = append(h.dirty, p)
	}
}

// queue keeps a datagram for a paused host.
func (h *host) queue(e *event) {
	if h.bytes+e.buf.N > socketBuffer {
		e.buf.Release()
		return
	}
	h.bytes += e.buf.N
	h.waiting = append(h.waiting, *e)
}

// pause stops the process until resume.
func (h *host) pause(until monotime.Time) {
	if h.paused || until <= h.w.now {
		return
	}
	h.paused = true
	h.asleep += int64(until.Sub(h.w.now))
	h.awakened = until
	h.w.push(event{at: until, kind: evResume, host: h})
}

// resume lets the process go on. The runtime's reader and its driver race for what
// happens first: either may.
func (h *host) resume() {
	h.paused = false
	overdue, waiting := h.overdue, h.waiting
	h.overdue, h.waiting, h.bytes = nil, nil, 0
	timersFirst := h.w.rng.IntN(2) == 0
	if timersFirst {
		for _, p := range overdue {
			p.turn(true)
		}
	}
	for i := range waiting {
		h.receive(&waiting[i])
		if i%readBatch == readBatch-1 {
			h.serve()
		}
	}
	h.serve()
	if !timersFirst {
		for _, p := range overdue {
			p.turn(true)
		}
	}
}

// drain gives back what the socket holds.
func (h *host) drain() {
	for i := range h.waiting {
		h.waiting[i].buf.Release()
	}
	h.waiting = nil
}
