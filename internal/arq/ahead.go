package arq

import "github.com/raknet-go/raknet/protocol"

// How a transfer is kept in step on a path so short that machines, and not links, are what
// limits it. There a message costs as much as the memory that it goes through, and a sender
// that is megabytes ahead writes every message into memory that has left the cache long
// before, and takes it from there again when its turn comes.
const (
	// aheadBytes is how much may be queued and unacknowledged before a sender should wait,
	// though the send buffer has room: a usual second-level cache, and enough that
	// neither end waits for the other. It should go on at aheadLess.
	aheadBytes = 512 << 10
	aheadLess  = 384 << 10
	// flowBytes is how much must be in flight for what is queued to wait for more of it, up
	// to plentyBytes: what the system sends as one, and twice that, so that the peer is
	// woken half as often.
	flowBytes   = 60 << 10
	plentyBytes = 120 << 10
	// widely is by what part more, one in widely, all but flowBytes are while datagrams are wide, which cost less for
	// each byte: measured.
	widely = 2
)

// more is n, or that much more.
func (e *Engine) more(n int) int {
	if e.queue != nil && e.queue.wide {
		n += n / widely
	}
	return n
}

// short reports whether the path is.
func (e *Engine) short() bool { return e.rtt.samples > 0 && e.rtt.min < shortRTT }

// Ahead reports that what is queued and unacknowledged is more than helps: whoever sends
// should wait until CaughtUp holds, or until nothing moves any more.
func (e *Engine) Ahead() bool { return e.held > e.more(aheadBytes) && e.short() }

// CaughtUp reports whether a sender who was ahead may go on.
func (e *Engine) CaughtUp() bool { return e.held <= e.more(aheadLess) || !e.short() }

// Flowing reports that so much is in flight that its ACKs will come soon. What is queued may
// then wait for them, unless Plenty holds: together it costs less.
func (e *Engine) Flowing() bool { return e.inFlight >= flowBytes && e.short() }

// Plenty reports whether what is queued is worth a system call and the window has room for it.
func (e *Engine) Plenty() bool {
	return e.queue != nil && e.queue.bytes >= e.more(plentyBytes) && e.inFlight+e.CutMTU()-protocol.UDPOverhead <= e.cc.Window()
}

// Delivered returns how many bytes of datagrams have been acknowledged.
func (e *Engine) Delivered() int64 { return e.delivered }
