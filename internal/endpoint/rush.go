package endpoint

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/udp"
)

// rush is how a socket with many connections copes with much traffic in small pieces, as a
// game server has it. To be woken for each datagram then costs several times what the datagram
// does. So the reader does what network cards do: it naps for rushNap, whatever comes
// meanwhile, and then takes all at once. What users send and what falls due in that time waits
// for it as well, and leaves with the answers in one system call.
//
// A crowd of clients that connect is served in the same way.
//
// It ends when little has come in several naps, and never begins where one connection
// alone is busy, whose peer may be waiting for each answer.
type rush struct {
	poller udp.Poller   // nil: the socket cannot be asked without waiting
	until  atomic.Int64 // the reader flushes the send queue until then, by monotime; 0: it does not

	// The reader's.
	began monotime.Time // of the count
	reads int           // since then that brought little, and of another connection than the one before
	last  *Conn         // who was first in the batch before
}

const (
	// rushNap is how long the reader naps: short beside the tick of any game, long beside
	// the 10 µs that a wake-up costs. While a nap brings more than rushMuch, the next are shorter,
	// down to rushShort: then even those are worth it.
	rushNap   = 250 * time.Microsecond
	rushShort = 100 * time.Microsecond
	rushMuch  = 24
	// rushReads within rushWindow begin a rush: 8,000 wake-ups in a second, some tenth
	// of a processor. Arbitrary.
	rushReads  = 16
	rushWindow = 2 * time.Millisecond
	// rushLeast is what must come during the longest nap for it to be worth the next, what begins a rush, and
	// rushIdle how many in a row may bring less. With twice as much, rushes of 16,000 messages a second
	// were as often over as not. Arbitrary.
	rushLeast = 2
	rushIdle  = 3
	// rushCompany is how many connections a rush needs to go on. Far fewer than it needs to begin, since where
	// clients come and go as they do in a crowd that connects, few are there at any moment.
	rushCompany = 2
	// rushTrust is how long users leave what they send to the reader before they see to it
	// themselves: a handler may keep it. Some naps; arbitrary.
	rushTrust = 2 * time.Millisecond
	// rushBytes is how much a read may bring and still be little.
	rushBytes = 32 << 10
)

// count notes a batch with so many bytes for the given connections.
func (r *rush) count(now monotime.Time, bytes int, to []*Conn) {
	if now.Sub(r.began) > rushWindow {
		r.began, r.reads = now, 0
	}
	var first *Conn
	if len(to) > 0 {
		first = to[0]
	}
	if bytes < rushBytes && (first == nil || first != r.last) {
		r.reads++
	}
	r.last = first
}

// takes reports whether the reader is about to flush the send queue.
func (r *rush) takes(now func() monotime.Time) bool {
	until := monotime.Time(r.until.Load())
	return until != 0 && now() < until
}

// begins reports whether it is time for a rush.
func (r *rush) begins(e *Endpoint) bool {
	return r.reads >= rushReads && r.poller != nil && e.crowd() >= manyConns
}

// crowd is how many connections there are, with those that are being made.
func (e *Endpoint) crowd() int64 { return e.here.Load() + e.counters.halfOpen.Load() }

// run reads the socket while the rush lasts.
func (r *rush) run(e *Endpoint) {
	r.poller.Silence(true)
	nap := rushNap
	for idle := 0; idle < rushIdle; {
		r.until.Store(int64(e.clock.Now().Add(rushTrust)))
		runtime.Gosched()       // whoever was woken here would wait for the nap to end
		e.tx.flush(leadBatches) // and so would what they answered
		r.poller.Nap(nap)
		e.prepare()
		if isClosed(e.done) || e.crowd() < rushCompany {
			break
		}
		got, ok := r.poll(e)
		if !ok {
			break // whoever waits next sees why
		}
		switch idle++; {
		case got > rushMuch:
			nap, idle = max(nap/2, rushShort), 0
		case got >= rushLeast:
			idle = 0
			fallthrough
		default:
			nap = min(nap+nap/4, rushNap)
		}
		e.tx.flush(leadBatches) // of users, if nothing came
	}
	r.until.Store(0)
	r.poller.Silence(false)
	r.reads, r.last = 0, nil
	e.tx.flush(leadBatches)
}

// poll takes all that has come, and returns how many messages that were.
func (r *rush) poll(e *Endpoint) (got int, ok bool) {
	for range rushPolls {
		n, err := r.poller.Poll(e.reader.in)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			e.reader.stale = true // an interrupt: prepare looks why
			break
		}
		if err != nil {
			return got, false
		}
		if n > 0 {
			e.took(n)
		}
		got += n
		if !r.poller.More() {
			break
		}
	}
	return got, true
}

// rushPolls bounds how often the reader looks without looking at anything else. Arbitrary.
const rushPolls = 16
