package guard

import (
	"net/netip"
	"slices"
)

// Networks is a set of prefixes that the application named beforehand, such as those of its
// own proxies. It is small and searched from end to end. The zero value is empty.
type Networks struct{ list []netip.Prefix }

// Init makes the set. A prefix of IPv6-mapped IPv4 addresses means the IPv4 addresses;
// invalid ones are left out.
func (n *Networks) Init(prefixes ...netip.Prefix) {
	n.list = nil
	for _, p := range prefixes {
		if p = normal(p); p.IsValid() && !slices.Contains(n.list, p) {
			n.list = append(n.list, p)
		}
	}
}

// Empty reports whether no address is in the set.
func (n *Networks) Empty() bool { return len(n.list) == 0 }

// Has reports whether an address is in one of the prefixes. It allocates nothing.
func (n *Networks) Has(a netip.Addr) bool {
	if len(n.list) == 0 {
		return false
	}
	a = a.Unmap().WithZone("")
	for _, p := range n.list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
