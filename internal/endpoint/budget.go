package endpoint

import (
	"cmp"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/session"
)

// Budget bounds the memory that the messages of many connections hold together: what waits to
// be read, to be put in order, to be put together, to be sent or to be acknowledged. Each
// connection has bounds of its own, which a single peer can fill; a thousand peers can fill
// a thousand of them. Over the budget, the connections that hold most are ended, with
// ErrMemoryBudget, until there is some room again.
//
// Nobody keeps a running sum, which would cost something for every message of everybody.
// Instead all connections are looked at (an audit) after so many bytes were received
// that the budget could have been filled since the last time, and now and then, since what
// users send counts, too. So it may be exceeded for a moment, by about what arrives meanwhile.
type Budget struct {
	limit    int64         // 0: none
	used     atomic.Int64  // as of the last audit
	n        atomic.Int64  // len(conns)
	left     atomic.Int64  // bytes to receive until the next
	last     atomic.Int64  // when it was, in nanoseconds of whoever's clock
	ended    atomic.Uint64 // connections
	auditing atomic.Bool

	mu    sync.Mutex // leaf
	conns []*Conn    // each at its Conn.account, from 1
}

const (
	// defaultBudget is the budget of a process that has no memory limit (GOMEMLIMIT);
	// otherwise it is one part in budgetShare of the limit.
	defaultBudget = 1 << 30
	budgetShare   = 4
	// auditChunk is how many bytes a reader receives before it tells the budget, so that
	// many readers do not meet there for every datagram.
	auditChunk = 16 << 10
	// auditPart is which part of the free budget may be received before the next audit. A byte
	// received makes this side hold about as many at most: small messages are charged for
	// their place in the queue. At least one part in auditLeast of the whole budget is
	// received, or audits would take all the time while the budget is nearly full.
	auditPart  = 16
	auditLeast = 256
	// An audit comes auditPace for each connection after the last, whatever was received, as
	// long as something happens on the sockets; in auditHurry of that when half of the
	// budget is used. Looking at one costs less than a microsecond, so that this takes a
	// thousandth of a processor. But not within auditSoonest, and not later than auditEvery.
	auditPace    = 500 * time.Microsecond
	auditHurry   = 10
	auditSoonest = 100 * time.Millisecond
	auditEvery   = time.Second
	// budgetRelief is the part of the budget that is free after connections were ended.
	budgetRelief = 8
)

// NewBudget returns a budget of so many bytes. Zero or less is no limit.
func NewBudget(bytes int64) *Budget {
	b := &Budget{limit: max(bytes, 0)}
	b.left.Store(b.stride())
	return b
}

// ProcessBudget returns the budget of all endpoints that have no other.
var ProcessBudget = sync.OnceValue(func() *Budget {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return NewBudget(defaultBudget)
	}
	return NewBudget(max(limit/budgetShare, 1))
})

// Limit returns what NewBudget was given; 0 is no limit.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns what the connections hold now.
func (b *Budget) Used() (sum int64) {
	for _, c := range b.list() {
		sum += int64(c.holds())
	}
	return sum
}

// Ended returns how many connections were ended because the budget was exceeded.
func (b *Budget) Ended() uint64 { return b.ended.Load() }

func (b *Budget) add(c *Conn) {
	b.mu.Lock()
	b.conns = append(b.conns, c)
	c.account = int32(len(b.conns))
	b.n.Store(int64(len(b.conns)))
	b.mu.Unlock()
}

func (b *Budget) remove(c *Conn) {
	b.mu.Lock()
	if at := c.account; at > 0 {
		last := len(b.conns)
		b.conns[at-1] = b.conns[last-1]
		b.conns[at-1].account = at
		b.conns[last-1] = nil
		b.conns, c.account = b.conns[:last-1], 0
		if cap(b.conns) > 1024 && len(b.conns) < cap(b.conns)/8 {
			b.conns = append(make([]*Conn, 0, cap(b.conns)/4), b.conns...)
		}
	}
	b.n.Store(int64(len(b.conns)))
	b.mu.Unlock()
}

func (b *Budget) list() []*Conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.conns)
}

// stride is how many bytes may be received until the next audit.
func (b *Budget) stride() int64 {
	return max((b.limit-b.used.Load())/auditPart, b.limit/auditLeast, 1)
}

// received counts bytes that came in, and begins an audit when it is time.
func (b *Budget) received(bytes int) {
	if b.limit > 0 && (b.left.Add(-int64(bytes)) < 0 || b.due()) && b.auditing.CompareAndSwap(false, true) {
		go b.audit()
	}
}

// due reports whether the last audit was long ago.
func (b *Budget) due() bool {
	every := time.Duration(b.n.Load()) * auditPace
	if b.used.Load() > b.limit/2 {
		every /= auditHurry
	}
	every = min(max(every, auditSoonest), auditEvery)
	// Clocks of tests may be far apart, so that the last audit may lie ahead.
	since := time.Duration(time.Now().UnixNano() - b.last.Load())
	return since < 0 || since >= every
}

// audit looks at all connections and ends as many of the largest as it takes.
func (b *Budget) audit() {
	defer b.auditing.Store(false)
	b.last.Store(time.Now().UnixNano())
	type holder struct {
		c     *Conn
		bytes int64
	}
	var sum int64
	var holders []holder
	for _, c := range b.list() {
		if n := int64(c.holds()); n > 0 {
			sum += n
			holders = append(holders, holder{c, n})
		}
	}
	if sum > b.limit {
		slices.SortFunc(holders, func(x, y holder) int { return cmp.Compare(y.bytes, x.bytes) })
		for _, h := range holders {
			if sum <= b.limit-b.limit/budgetRelief {
				break
			}
			sum -= h.bytes
			b.ended.Add(1)
			h.c.Abort(ErrMemoryBudget)
			h.c.kill(ErrMemoryBudget) // which lets go of everything at once
		}
	}
	b.used.Store(sum)
	b.left.Store(b.stride())
}

// holds returns how many bytes the connection's messages take, in either direction.
func (c *Conn) holds() int {
	var s session.Stats
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return 0
	}
	c.sess.Stats(&s)
	return s.UnreadBytes + c.sess.Loose() + s.HeldBytes + s.ReassemblyBytes + c.sess.SendHeld()
}

// account tells the budget what was received. The reader's.
func (e *Endpoint) account() {
	e.cfg.Budget.received(e.reader.unaudited)
	e.reader.unaudited = 0
}
