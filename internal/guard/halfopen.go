package guard

import (
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// The default caps on handshakes under way. A host that opens and abandons them
// displaces its own. 4096 handshakes of which nothing was heard after request 2 cost about
// 1 MiB, and those that went on 16 MiB at most.
const (
	DefaultHalfOpenPerIP = 32
	DefaultHalfOpenTotal = 4096
)

// halfOpenTime is what the rest of an honest handshake takes at most that has gone on: two round trips, on
// a bad path. Arbitrary.
const halfOpenTime = time.Second

// HalfOpen counts the connections that are not up yet, per host (an IPv4 address,
// a /64 of IPv6) and in total, and says which one must go for a new one: the
// oldest, since an honest handshake is over in a few round trips, of those that did
// not go on since they were added, if there is one. Those who did may take themselves for connected: they go last
// until they had time (halfOpenTime), and of one host not before (HasRoom), so that many who come at once push
// out none of them. After that they go first, or some that stay would leave but one place for everybody
// else. Its memory follows the number of entries. Init it before use.
type HalfOpen struct {
	perHost, total int // 0: no cap
	nodes          []halfOpenNode
	free           int32 // head of the unused nodes, linked by next[all]
	byAddr         map[netip.AddrPort]int32
	byHost         map[netip.Addr]halfOpenLists
	all            halfOpenLists
}

// Every node is in two lists, oldest first: of everybody and of its host.
const (
	ofAll = iota
	ofHost
)

// halfOpenNode is one connection. Links are positions in HalfOpen.nodes plus one;
// 0 is no node.
type halfOpenNode struct {
	addr       netip.AddrPort
	host       netip.Addr
	prev, next [2]int32
	on         uint8         // halfOpenAsked or halfOpenOn
	since      monotime.Time // when it went on
}

// A handshake that was added, and one that went on since.
const (
	halfOpenAsked = iota
	halfOpenOn
)

type halfOpenList struct{ oldest, newest, n int32 }

// halfOpenLists are those that did not go on, and those that did.
type halfOpenLists [2]halfOpenList

func (l *halfOpenLists) n() int { return int(l[halfOpenAsked].n + l[halfOpenOn].n) }

// Init sets the caps per host and in total. Zero takes the default, negative is no
// cap.
func (h *HalfOpen) Init(perIP, total int) {
	*h = HalfOpen{
		perHost: capOr(perIP, DefaultHalfOpenPerIP),
		total:   capOr(total, DefaultHalfOpenTotal),
		byAddr:  make(map[netip.AddrPort]int32),
		byHost:  make(map[netip.Addr]halfOpenLists),
	}
}

func capOr(n, byDefault int) int {
	if n == 0 {
		return byDefault
	}
	return max(n, 0)
}

// Add counts addr in, now. If that needs room it counts out another entry, of the
// same host if the host is at its cap, and returns it: the caller ends that
// connection. An addr that is already in keeps its age and displaces nobody.
func (h *HalfOpen) Add(now monotime.Time, addr netip.AddrPort) (evicted netip.AddrPort, evict bool) {
	return h.AddFor(now, addr, addr.Addr(), false)
}

// AddFor is Add for a connection whose datagrams come from addr, a proxy's, and that is
// client's. An exempt client's host has no cap of its own.
func (h *HalfOpen) AddFor(now monotime.Time, addr netip.AddrPort, client netip.Addr, exempt bool) (evicted netip.AddrPort, evict bool) {
	if _, ok := h.byAddr[addr]; ok {
		return netip.AddrPort{}, false
	}
	host := network(client, hostBits4, hostBits6)
	var victim int32
	if list := h.byHost[host]; h.perHost > 0 && !exempt && list.n() >= h.perHost {
		victim = h.victim(now, &list)
	} else if h.total > 0 && len(h.byAddr) >= h.total {
		victim = h.victim(now, &h.all)
	}
	if victim != 0 {
		evicted, evict = h.nodes[victim-1].addr, true
		h.remove(victim)
	}
	h.insert(addr, host)
	return evicted, evict
}

// HasRoom reports whether a client's host may have one more: it is not at its cap, or one of its own may go
// for it. Who is turned down asks again.
func (h *HalfOpen) HasRoom(now monotime.Time, client netip.Addr) bool {
	list := h.byHost[network(client, hostBits4, hostBits6)]
	if h.perHost == 0 || list.n() < h.perHost || list[halfOpenAsked].n > 0 {
		return true
	}
	return h.hadTime(now, list[halfOpenOn].oldest)
}

// hadTime reports whether a handshake that went on should be over.
func (h *HalfOpen) hadTime(now monotime.Time, i int32) bool {
	return now.Sub(h.nodes[i-1].since) >= halfOpenTime
}

// victim is the one that must go first.
func (h *HalfOpen) victim(now monotime.Time, l *halfOpenLists) int32 {
	asked, on := l[halfOpenAsked].oldest, l[halfOpenOn].oldest
	if asked == 0 || on != 0 && h.hadTime(now, on) {
		return on
	}
	return asked
}

// GoesOn notes that the handshake of addr did now: its address sent what only who goes on does.
func (h *HalfOpen) GoesOn(now monotime.Time, addr netip.AddrPort) {
	i, ok := h.byAddr[addr]
	if !ok || h.nodes[i-1].on == halfOpenOn {
		return
	}
	h.unlist(i)
	h.nodes[i-1].on, h.nodes[i-1].since = halfOpenOn, now
	h.list(i)
}

// Remove counts addr out, because its connection is up or has ended, and reports
// whether it was in.
func (h *HalfOpen) Remove(addr netip.AddrPort) bool {
	i, ok := h.byAddr[addr]
	if ok {
		h.remove(i)
	}
	return ok
}

// Len returns how many are in.
func (h *HalfOpen) Len() int { return len(h.byAddr) }

func (h *HalfOpen) insert(addr netip.AddrPort, host netip.Addr) {
	i := h.free
	if i == 0 {
		h.nodes = append(h.nodes, halfOpenNode{})
		i = int32(len(h.nodes))
	} else {
		h.free = h.nodes[i-1].next[ofAll]
	}
	h.nodes[i-1] = halfOpenNode{addr: addr, host: host}
	h.byAddr[addr] = i
	h.list(i)
}

func (h *HalfOpen) remove(i int32) {
	node := &h.nodes[i-1]
	delete(h.byAddr, node.addr)
	h.unlist(i)
	*node = halfOpenNode{}
	node.next[ofAll] = h.free
	h.free = i
}

// list puts node i into its lists, as the newest.
func (h *HalfOpen) list(i int32) {
	node := &h.nodes[i-1]
	h.push(&h.all[node.on], ofAll, i)
	lists := h.byHost[node.host]
	h.push(&lists[node.on], ofHost, i)
	h.byHost[node.host] = lists
}

// unlist takes it out.
func (h *HalfOpen) unlist(i int32) {
	node := &h.nodes[i-1]
	h.unlink(&h.all[node.on], ofAll, i)
	lists := h.byHost[node.host]
	if h.unlink(&lists[node.on], ofHost, i); lists.n() == 0 {
		delete(h.byHost, node.host)
	} else {
		h.byHost[node.host] = lists
	}
}

// push makes node i the newest of a list.
func (h *HalfOpen) push(l *halfOpenList, which int, i int32) {
	h.nodes[i-1].prev[which], h.nodes[i-1].next[which] = l.newest, 0
	if l.newest == 0 {
		l.oldest = i
	} else {
		h.nodes[l.newest-1].next[which] = i
	}
	l.newest = i
	l.n++
}

func (h *HalfOpen) unlink(l *halfOpenList, which int, i int32) {
	prev, next := h.nodes[i-1].prev[which], h.nodes[i-1].next[which]
	if prev == 0 {
		l.oldest = next
	} else {
		h.nodes[prev-1].next[which] = next
	}
	if next == 0 {
		l.newest = prev
	} else {
		h.nodes[next-1].prev[which] = prev
	}
	l.n--
}
