package endpoint

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/udp"
)

// outgoing is a datagram that waits for the socket.
type outgoing struct {
	buf   *pool.Buffer // one reference, dropped when the socket took it
	to    udp.Peer
	local netip.Addr
	probe *attempt // measures the path; is told when it is too large for this host
}

// txFIFO is the one way to the socket. It is a queue over all connections: the order
// in which a connection numbered its datagrams, under its own lock, is the order in
// which they leave, since a peer of the original engine asks at once for what a gap in
// the numbers seems to miss.
//
// Whoever has put something in flushes: the first to come sends everything that is
// there, including what others put in meanwhile, and those others go on at once. So
// at low load a datagram leaves from the goroutine that made it, and under load they
// leave in batches, and no goroutine waits for another's system call.
type txFIFO struct {
	sock udp.Socket
	kick func() // makes the driver flush
	k    *counters

	n       atomic.Int64 // waiting; written under mu
	mu      sync.Mutex   // leaf
	ring    []outgoing   // power of two, grown on demand to txQueue
	head    int
	leading bool
	idle    chan struct{} // closed, and cleared, when there is nothing left; nil: nobody asked

	// The leader's.
	batch []outgoing
	out   []udp.Outbound
}

// room returns how many datagrams still go in. It is a hint: what several pushers do
// at once may exceed it by their number.
func (q *txFIFO) room() int { return txQueue - int(q.n.Load()) }

// push appends datagrams to one peer. They are taken even when there is no room: the
// caller asked before.
func (q *txFIFO) push(bufs []*pool.Buffer, to udp.Peer, local netip.Addr, probe *attempt) {
	q.mu.Lock()
	n := int(q.n.Load())
	for n+len(bufs) > len(q.ring) {
		q.grow(n)
	}
	for _, b := range bufs {
		q.ring[(q.head+n)&(len(q.ring)-1)] = outgoing{b, to, local, probe}
		n++
	}
	q.n.Store(int64(n))
	q.mu.Unlock()
}

func (q *txFIFO) grow(n int) {
	ring := make([]outgoing, max(2*len(q.ring), 4))
	for i := range n {
		ring[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
	}
	q.ring, q.head = ring, 0
}

// flush sends what is there, unless somebody is at it. After the given number of
// batches it leaves the rest to the driver.
func (q *txFIFO) flush(batches int) {
	if q.n.Load() == 0 {
		return
	}
	q.mu.Lock()
	if q.leading {
		q.mu.Unlock()
		return
	}
	q.leading = true
	for ; batches > 0; batches-- {
		n := q.take()
		if n == 0 {
			break
		}
		q.mu.Unlock()
		q.write(n)
		q.mu.Lock()
	}
	q.leading = false
	left := q.n.Load() > 0
	idle := q.idle
	if !left {
		q.idle = nil
	}
	q.mu.Unlock()
	if left {
		q.kick()
	} else if idle != nil {
		close(idle)
	}
}

// take moves up to a batch from the ring to the leader.
func (q *txFIFO) take() int {
	have := int(q.n.Load())
	n := min(have, txBatch)
	for len(q.batch) < n {
		q.batch = append(q.batch, make([]outgoing, max(len(q.batch), 4))...)
		q.out = make([]udp.Outbound, len(q.batch))
	}
	for i := range n {
		at := &q.ring[(q.head+i)&(len(q.ring)-1)]
		q.batch[i] = *at
		*at = outgoing{}
	}
	if n > 0 {
		q.head = (q.head + n) & (len(q.ring) - 1)
	}
	q.n.Store(int64(have - n))
	return n
}

// write sends the leader's batch. What the system refuses is lost, as it would be
// on any router.
func (q *txFIFO) write(n int) {
	bytes := 0
	for i := range n {
		o := &q.batch[i]
		q.out[i] = udp.Outbound{Data: o.buf.Bytes(), To: o.to, Local: o.local, Probe: o.probe != nil}
		bytes += o.buf.N
	}
	sent, calls, failed := 0, 0, 0
	for sent < n {
		m, err := q.sock.WriteBatch(q.out[sent:n])
		calls++
		sent += max(m, 0)
		if err == nil {
			break
		}
		if udp.IsClosed(err) {
			failed += n - sent
			break
		}
		if sent < n {
			if p := q.batch[sent].probe; p != nil && udp.IsTooLarge(err) {
				p.tooLarge()
			}
			bytes -= len(q.out[sent].Data)
			failed++
			sent++
		}
	}
	for i := range n {
		q.batch[i].buf.Release()
		q.batch[i] = outgoing{}
		q.out[i] = udp.Outbound{}
	}
	q.k.datagramsSent.Add(uint64(n - failed))
	q.k.bytesSent.Add(uint64(bytes))
	q.k.writeBatches.Add(uint64(calls))
	if failed > 0 {
		q.k.sendErrors.Add(uint64(failed))
	}
}

// finish sends what is there and waits until the socket took it, or for at most d:
// the socket may be blocked, and somebody else may be at it.
func (q *txFIFO) finish(d time.Duration) {
	q.flush(txQueue / txBatch)
	q.mu.Lock()
	if q.n.Load() == 0 && !q.leading {
		q.mu.Unlock()
		return
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	q.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	}
}

// drop releases what still waits when the socket is closed.
func (q *txFIFO) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for n := int(q.n.Load()); n > 0; n-- {
		at := &q.ring[q.head]
		at.buf.Release()
		*at = outgoing{}
		q.head = (q.head + 1) & (len(q.ring) - 1)
	}
	q.n.Store(0)
}
