package guard

import "net/netip"

// Hosts counts the connections of each host, an IPv4 address or a /64 of IPv6. Its memory
// follows the number of hosts that have any. The zero value counts nobody.
type Hosts struct{ counts map[netip.Addr]int }

// Add counts one more connection from addr in and returns how many its host has now.
func (h *Hosts) Add(addr netip.Addr) int {
	if h.counts == nil {
		h.counts = make(map[netip.Addr]int)
	}
	host := network(addr, hostBits4, hostBits6)
	h.counts[host]++
	return h.counts[host]
}

// Remove counts one connection from addr out.
func (h *Hosts) Remove(addr netip.Addr) {
	host := network(addr, hostBits4, hostBits6)
	if n := h.counts[host]; n > 1 {
		h.counts[host] = n - 1
		return
	}
	delete(h.counts, host)
}

// Of returns how many connections the host of addr has.
func (h *Hosts) Of(addr netip.Addr) int { return h.counts[network(addr, hostBits4, hostBits6)] }
