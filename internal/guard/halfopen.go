package guard

import "net/netip"

// The default caps on handshakes under way. One address that opens and abandons
// them displaces its own; 4096 addresses of a kilobyte each are 4 MiB.
const (
	DefaultHalfOpenPerIP = 32
	DefaultHalfOpenTotal = 4096
)

// HalfOpen counts the connections that are not up yet, per host (an IPv4 address,
// a /64 of IPv6) and in total, and says which one must go for a new one: the
// oldest, since an honest handshake is over in a few round trips. Init it before use.
type HalfOpen struct {
	perIP, total int
}

// Init sets the caps. Zero takes the default, negative is no cap.
func (h *HalfOpen) Init(perIP, total int) {}

// Add counts addr in. If that needs room it counts out the oldest entry, of the
// same host if the host is over its cap, and returns it: the caller ends that
// connection. An addr that is already in keeps its age and displaces nobody.
func (h *HalfOpen) Add(addr netip.AddrPort) (evicted netip.AddrPort, evict bool) { return }

// Remove counts addr out, because its connection is up or has ended, and reports
// whether it was in.
func (h *HalfOpen) Remove(addr netip.AddrPort) bool { return false }

// Len returns how many are in.
func (h *HalfOpen) Len() int { return 0 }
