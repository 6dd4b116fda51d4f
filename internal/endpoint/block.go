package endpoint

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/guard"
	"github.com/raknet-go/raknet/internal/monotime"
)

// blocks is the list of blocked prefixes, which the application alone fills.
type blocks struct {
	exempt guard.Networks // set once; nothing that is per network applies to these
	n      atomic.Int64   // entries
	mu     sync.Mutex     // leaf
	list   guard.Blocklist
}

func (b *blocks) any() bool { return b.n.Load() > 0 }

func (b *blocks) blocked(now monotime.Time, a netip.Addr) bool {
	if b.exempt.Has(a) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list.Blocked(now, a)
}

// Block drops every datagram from the prefix for the given time, those of connections
// included; zero or less ends a block of exactly that prefix.
func (e *Endpoint) Block(p netip.Prefix, d time.Duration) {
	now := e.clock.Now()
	until := now.Add(d)
	if d > 0 && until < now {
		until = monotime.Never // longer than the clock runs
	}
	e.blocks.mu.Lock()
	defer e.blocks.mu.Unlock()
	if d > 0 {
		e.blocks.list.Block(now, p, until)
	} else {
		e.blocks.list.Unblock(p)
	}
	e.blocks.n.Store(int64(e.blocks.list.Len()))
}

// Unblock ends the block of exactly that prefix and reports whether there was one.
func (e *Endpoint) Unblock(p netip.Prefix) bool {
	e.blocks.mu.Lock()
	defer e.blocks.mu.Unlock()
	ok := e.blocks.list.Unblock(p)
	e.blocks.n.Store(int64(e.blocks.list.Len()))
	return ok
}

// Block is one entry of the list of blocks.
type Block struct {
	Prefix netip.Prefix
	Left   time.Duration // until it ends
}

// Blocked returns the blocks that have not ended, in no order.
func (e *Endpoint) Blocked() (list []Block) {
	now := e.clock.Now()
	e.blocks.mu.Lock()
	defer e.blocks.mu.Unlock()
	e.blocks.list.All(now, func(p netip.Prefix, until monotime.Time) {
		list = append(list, Block{p, until.Sub(now)})
	})
	return list
}

// hosts counts the complete connections of each host, if Config.MaxPerIP bounds them.
type hosts struct {
	cap int        // zero or less: nothing is counted
	mu  sync.Mutex // leaf
	by  guard.Hosts
}

// full reports whether the host has all that it may have.
func (h *hosts) full(a netip.Addr) bool {
	if h.cap <= 0 {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.by.Of(a) >= h.cap
}

// enter counts a connection in and reports whether there was room for it.
func (h *hosts) enter(a netip.Addr) bool {
	if h.cap <= 0 {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.by.Add(a) <= h.cap
}

// leave counts out what enter counted in.
func (h *hosts) leave(a netip.Addr) {
	if h.cap <= 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.by.Remove(a)
}
