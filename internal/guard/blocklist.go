package guard

import (
	"net/netip"
	"slices"

	"github.com/raknet-go/raknet/internal/monotime"
)

// MaxBlocked bounds the block list. Only the application fills it; when it is full
// the entry that would end soonest makes room.
const MaxBlocked = 4096

// Blocklist holds the prefixes that the application does not want to hear from.
// The zero value is an empty list.
type Blocklist struct {
	entries []blockEntry
	index   map[netip.Prefix]int // position in entries
	lengths []prefixLength       // in use; a look-up tries these only
}

type blockEntry struct {
	prefix netip.Prefix
	until  monotime.Time
}

// prefixLength counts the entries of one family and length. There are few: blocks
// are mostly whole addresses.
type prefixLength struct {
	is4  bool
	bits int
	n    int
}

// Block blocks every address of p until the given moment, replacing what was said
// about exactly p before; monotime.Never is for good, a moment that has passed
// unblocks. A prefix of IPv6-mapped IPv4 addresses means the IPv4 addresses. An
// invalid prefix is ignored.
func (l *Blocklist) Block(now monotime.Time, p netip.Prefix, until monotime.Time) {
	p = normal(p)
	if !p.IsValid() {
		return
	}
	if until <= now {
		l.Unblock(p)
		return
	}
	if i, ok := l.index[p]; ok {
		l.entries[i].until = until
		return
	}
	if len(l.entries) >= MaxBlocked {
		l.makeRoom(now)
	}
	if l.index == nil {
		l.index = make(map[netip.Prefix]int)
	}
	l.index[p] = len(l.entries)
	l.entries = append(l.entries, blockEntry{p, until})
	l.count(p, +1)
}

// makeRoom removes what has expired, and if that is nothing the entry that is next to.
func (l *Blocklist) makeRoom(now monotime.Time) {
	soonest := 0
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].until <= now {
			l.remove(i)
		}
	}
	if len(l.entries) < MaxBlocked {
		return
	}
	for i := range l.entries {
		if l.entries[i].until < l.entries[soonest].until {
			soonest = i
		}
	}
	l.remove(soonest)
}

// Unblock ends the block of exactly p and reports whether there was one.
func (l *Blocklist) Unblock(p netip.Prefix) bool {
	i, ok := l.index[normal(p)]
	if ok {
		l.remove(i)
	}
	return ok
}

// Blocked reports whether addr is in a prefix that is blocked at now. It
// allocates nothing.
func (l *Blocklist) Blocked(now monotime.Time, addr netip.Addr) bool {
	if len(l.entries) == 0 {
		return false
	}
	addr = addr.Unmap().WithZone("")
	for _, length := range l.lengths {
		if length.is4 != addr.Is4() {
			continue
		}
		p, err := addr.Prefix(length.bits)
		if err != nil {
			continue
		}
		if i, ok := l.index[p]; ok && l.entries[i].until > now {
			return true
		}
	}
	return false
}

// All calls f with every prefix that is blocked at now and until when, in no order.
func (l *Blocklist) All(now monotime.Time, f func(p netip.Prefix, until monotime.Time)) {
	for _, e := range l.entries {
		if e.until > now {
			f(e.prefix, e.until)
		}
	}
}

// Len returns the number of entries, expired ones included whose place was not
// needed yet.
func (l *Blocklist) Len() int { return len(l.entries) }

// remove takes out the entry at i; the last one moves into its place.
func (l *Blocklist) remove(i int) {
	p := l.entries[i].prefix
	delete(l.index, p)
	last := len(l.entries) - 1
	if i != last {
		l.entries[i] = l.entries[last]
		l.index[l.entries[i].prefix] = i
	}
	l.entries = l.entries[:last]
	l.count(p, -1)
}

func (l *Blocklist) count(p netip.Prefix, by int) {
	is4, bits := p.Addr().Is4(), p.Bits()
	i := slices.IndexFunc(l.lengths, func(f prefixLength) bool { return f.is4 == is4 && f.bits == bits })
	if i < 0 {
		l.lengths = append(l.lengths, prefixLength{is4, bits, by})
		return
	}
	if l.lengths[i].n += by; l.lengths[i].n == 0 {
		l.lengths = slices.Delete(l.lengths, i, i+1)
	}
}

// normal returns the one spelling of p under which it is stored: no bits beyond
// its length, and IPv4 as IPv4.
func normal(p netip.Prefix) netip.Prefix {
	if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p.Masked()
}
