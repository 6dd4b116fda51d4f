package guard

import (
	"net/netip"

	"github.com/raknet-go/raknet/internal/monotime"
)

// maxBlocked bounds the block list. Only the application fills it; when it is full
// the entry that would end soonest makes room.
const maxBlocked = 4096

// Blocklist holds the prefixes that the application does not want to hear from.
// The zero value is an empty list.
type Blocklist struct {
	entries []blockEntry
	index   map[netip.Prefix]int // into entries
	v4      [33]int              // entries by prefix length, so that a look-up tries only lengths in use
	v6      [129]int
}

type blockEntry struct {
	prefix netip.Prefix
	until  monotime.Time
}

// Block blocks every address of p until the given moment, replacing what was said
// about exactly p before; monotime.Never is for good. A prefix of IPv6-mapped
// IPv4 addresses means the IPv4 addresses. An invalid prefix is ignored.
func (l *Blocklist) Block(now monotime.Time, p netip.Prefix, until monotime.Time) {}

// Unblock ends the block of exactly p and reports whether there was one.
func (l *Blocklist) Unblock(p netip.Prefix) bool { return false }

// Blocked reports whether addr is in a prefix blocked at now. It allocates nothing.
func (l *Blocklist) Blocked(now monotime.Time, addr netip.Addr) bool { return false }

// Len returns the number of entries, expired ones that were not yet needed out of
// the way included.
func (l *Blocklist) Len() int { return len(l.entries) }
