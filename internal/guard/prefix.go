package guard

import "net/netip"

// The prefixes that share a budget: what one customer of a network typically
// holds. A single IPv6 host commands a whole /64 and a customer often a /56.
const (
	limitBits4 = 24 // /24 of IPv4 for token buckets, so that a hired rack counts as one
	limitBits6 = 56
	hostBits4  = 32 // one IPv4 address for half-open handshakes
	hostBits6  = 64
)

// network returns addr cut to bits4 or bits6 leading bits. The IPv6-mapped form of
// an IPv4 address is the IPv4 address; zones are dropped. An invalid address (of a
// socket that is not UDP) is a network of its own.
func network(addr netip.Addr, bits4, bits6 int) netip.Addr {
	addr = addr.Unmap()
	bits := bits6
	if addr.Is4() {
		bits = bits4
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr()
}
