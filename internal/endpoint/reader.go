package endpoint

import (
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/udp"
)

// reader is what reading the socket needs. It belongs to whoever has the role.
type reader struct {
	in        []udp.Inbound // grows to readBatch when reads fill it
	strangers []stranger
	dirty     []*Conn     // received something in this batch
	ping      PingRequest // to ask for the answer to
	last      *Conn       // the connection of the datagram before
	lastFrom  netip.AddrPort
	client    netip.AddrPort // who sent the datagram that unwrap was given last
	unaudited int            // bytes received that the budget was not told of
	auditAt   monotime.Time  // when it is told, however few they are
	behind    monotime.Time  // since when the socket has more than was read; Never: it has not
	costly    bool           // a batch since then took long for what it was
	familiar  bool           // the last batch was all of one connection that is complete
	stale     bool           // the socket's read deadline may be set
	failures  int            // errors in a row
	unknown   int            // of them, those that are not known to be transient
}

// stranger is a datagram without a connection.
type stranger struct {
	data   []byte
	from   udp.Peer
	client netip.AddrPort // from's, or what the proxy at from says
	local  netip.Addr
}

// background reads the socket whenever nobody else does, and cleans up at the end.
func (e *Endpoint) background() {
	for {
		e.role.acquire(e.done)
		for {
			e.prepare()
			if isClosed(e.done) {
				e.cleanUp()
				return
			}
			if e.role.yield() {
				break
			}
			if e.readOnce() && e.rush.begins(e) {
				e.rush.run(e)
			}
		}
	}
}

// prepare makes the socket and the table ready for readOnce. Whoever interrupts the holder of the role
// says why first and moves the socket's deadline second; so the holder takes the
// deadline away first and looks for reasons second.
func (e *Endpoint) prepare() {
	if r := &e.reader; r.stale {
		r.stale = false
		e.sock.SetReadDeadline(time.Time{})
	}
	e.table.settle(e)
	e.table.part(e)
}

// interrupt makes a ReadBatch that waits return.
func (e *Endpoint) interrupt() { e.sock.SetReadDeadline(time.Unix(1, 0)) }

// readOnce waits for one batch and does everything it calls for. False means that the
// endpoint has ended.
func (e *Endpoint) readOnce() bool {
	r := &e.reader
	if p := e.rush.poller; p != nil {
		// The only one of all members of the group, or each of them could keep a processor busy for its own.
		p.Alone(r.familiar && e.live.Load() == 1)
	}
	n, err := e.debt.read(e)
	if err != nil {
		return e.readFailed(err)
	}
	if n == 0 {
		return true
	}
	r.failures, r.unknown = 0, 0
	e.took(n)
	return true
}

// took processes the first n entries, and makes room for more if all were filled.
func (e *Endpoint) took(n int) {
	r, now := &e.reader, e.clock.Now()
	switch {
	case e.rush.poller == nil || !e.rush.poller.More():
		r.behind, r.costly = monotime.Never, false
	case r.behind == monotime.Never:
		r.behind = now
	}
	e.process(now, r.in[:n])
	if n == len(r.in) && n < readBatch {
		r.in = append(r.in, make([]udp.Inbound, n)...)
	}
}

// readFailed survives what can be survived.
func (e *Endpoint) readFailed(err error) bool {
	r := &e.reader
	switch {
	case isClosed(e.done):
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.stale = true
		return true
	case udp.IsClosed(err):
		e.fail(err)
		return false
	}
	e.counters.receiveErrors.Add(1)
	r.failures++
	if !udp.IsTransient(err) {
		r.unknown++
	}
	// Once a connection is up, only its own silence ends it: anybody can forge the ICMP
	// messages behind most of these errors, and a peer may come back.
	dialing := e.here.Load() == 0
	if limit := e.cfg.MaxTransient; dialing && limit > 0 && r.failures > limit || r.unknown >= brokenAfter {
		e.fail(err)
		return false
	}
	if over := r.failures - backoffAfter; over > 0 {
		if over == 1 {
			e.log.log(slog.LevelWarn, "reading the socket keeps failing", "error", err)
		}
		pause := time.NewTimer(min(backoffMin<<min(over-1, 10), backoffMax))
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-e.done:
			return false
		}
	}
	return true
}

// process applies a batch: the datagrams of connections first, each run of one
// connection's under one hold of its lock; then the strangers'; then one turn for every
// connection that received something; and one flush for everybody.
func (e *Endpoint) process(now monotime.Time, in []udp.Inbound) {
	r := &e.reader
	e.table.settle(e)
	blocking, proxied := e.blocks.any(), !e.proxies.Empty()
	late := r.overrun(now)
	overrun := late && e.here.Load() > 1 // else there is nobody to wait
	var datagrams, bytes, runLength, halfOpen, familiar int
	var held, solo *Conn
	for i := range in {
		m := &in[i]
		bytes += m.N
		if blocking && e.blocks.blocked(now, m.From.AddrPort.Addr()) {
			datagrams++
			e.drop(now, offline.DropBlocked, m.From.AddrPort, m.Bytes())
			continue
		}
		for rest, more := m.Bytes(), true; more; {
			data := rest
			if more = m.Segment > 0 && len(rest) > m.Segment; more {
				data, rest = rest[:m.Segment], rest[m.Segment:]
			}
			datagrams++
			client := &m.From.AddrPort
			if proxied {
				var ok bool
				if data, ok = e.unwrap(now, &m.From, data); !ok {
					continue
				}
				client = &r.client
			}
			c := e.connectionFor(m.From.AddrPort, data)
			if len(data) > pool.ClassRead && (c == nil || !e.near(m.From)) {
				e.drop(now, offline.DropTooLong, *client, data)
				continue
			}
			if c == nil && e.table.expects(data) {
				if overrun && halfOpen == behindShare {
					e.counters.dropped[offline.DropOverload].Add(1)
					continue
				}
				if held != nil {
					held.mu.Unlock()
					held = nil
				}
				c = e.enter(now, m.From, m.Local)
			}
			if c == nil {
				r.strangers = append(r.strangers, stranger{data, m.From, *client, m.Local})
				continue
			}
			if c != held || runLength == holdDatagrams {
				if held != nil {
					held.mu.Unlock()
				}
				c.mu.Lock()
				held, runLength = c, 0
			}
			runLength++
			if !c.dirty {
				c.dirty, c.taken = true, 0
				e.debt.starts(c, len(r.dirty) == 0)
				r.dirty = append(r.dirty, c)
			}
			if overrun {
				greeted := c.opened || !c.server
				if c.taken == behindShare || !greeted && halfOpen == behindShare {
					e.counters.dropped[offline.DropOverload].Add(1)
					continue
				}
				c.taken++
				if !greeted {
					halfOpen++
				}
			}
			c.answered = true
			if c.opened {
				familiar++
			}
			c.sess.Receive(now, m.Buf, data)
		}
	}
	if held != nil {
		held.mu.Unlock()
	}
	e.rush.count(now, bytes, r.dirty)
	e.meet(now, r.strangers)
	var first *Conn
	all := len(r.dirty) == 1
	if len(r.dirty) > 0 {
		first = r.dirty[0]
	}
	r.familiar = all && familiar == datagrams
	for i, c := range r.dirty {
		c.dirty = false
		if c.turn(now, e.stepBudget, false, e.cfg.Solo) {
			solo = c
		}
		r.dirty[i] = nil
	}
	e.tx.flush(leadBatches)
	if solo != nil {
		solo.carry()
	}
	e.debt.note(e, now, first, all, bytes)
	e.table.settle(e) // what the batch brought about
	if r.behind != monotime.Never && !late {
		took := e.clock.Now().Sub(now)
		r.costly = took > costlyBatch && took > time.Duration(datagrams)*costlyEach
	}
	clear(r.strangers)
	r.strangers, r.dirty, r.last = r.strangers[:0], r.dirty[:0], nil
	e.counters.readBatches.Add(1)
	e.counters.datagramsReceived.Add(uint64(datagrams))
	e.counters.bytesReceived.Add(uint64(bytes))
	if r.unaudited += bytes; r.unaudited >= auditChunk || now >= r.auditAt {
		r.auditAt = now.Add(auditSoonest)
		e.account()
	}
	for i := range in {
		// A buffer that somebody keeps a message in goes its own way.
		if b := in[i].Buf; b.Shared() {
			b.Release()
			in[i].Buf = nil
		}
	}
}

// overrun reports whether the reader does not keep up, and has to shed.
func (r *reader) overrun(now monotime.Time) bool {
	return r.costly || now.Sub(r.behind) > behindFor
}

// connectionFor returns the connection that a datagram is for, or nil for one of the
// offline packets, which may come from a connected address as well, and for one
// from an address without a connection.
func (e *Endpoint) connectionFor(from netip.AddrPort, data []byte) *Conn {
	if len(data) == 0 || data[0]&0x80 == 0 {
		return nil
	}
	r := &e.reader
	if r.last == nil || r.lastFrom != from {
		r.last, r.lastFrom = e.table.conns[from], from
	}
	return r.last
}

// meet looks at the datagrams of strangers. While the reader does not keep up it looks at so many
// of a batch and drops the rest.
func (e *Endpoint) meet(now monotime.Time, list []stranger) {
	if len(list) > behindShare && e.reader.overrun(now) {
		first := &list[behindShare]
		e.drop(now, offline.DropOverload, first.client, first.data)
		e.counters.dropped[offline.DropOverload].Add(uint64(len(list) - behindShare - 1))
		list = list[:behindShare]
	}
	for i := range list {
		s := &list[i]
		if !e.waits.offer(s.from.AddrPort, s.data) {
			e.greet(now, s)
		}
	}
}

// cleanUp gives back what the reader holds. It is the last to run.
func (e *Endpoint) cleanUp() {
	e.table.settle(e)
	e.table.empty()
	e.tx.drop()
	udp.Release(e.reader.in)
}

// reply queues an answer to a stranger.
func (e *Endpoint) reply(s *stranger, b *pool.Buffer) {
	if e.tx.room() <= 0 {
		b.Release()
		e.counters.drop(offline.DropQueueFull)
		return
	}
	e.tx.push([]*pool.Buffer{b}, s.from, s.local, nil)
}
