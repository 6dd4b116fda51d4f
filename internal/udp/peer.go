package udp

import (
	"encoding/binary"
	"hash/maphash"
	"net"
	"net/netip"
)

// PeerOf returns the peer at addr. Its AddrPort is, in this order: that of a
// *net.UDPAddr; what the address's own method AddrPort() netip.AddrPort says; what its
// String() reads as; and for all others a synthetic one, see Synthetic. A nil addr gives
// the zero Peer. Nothing is remembered, so strangers cost no memory.
func PeerOf(addr net.Addr) Peer {
	if addr == nil {
		return Peer{}
	}
	if u, ok := addr.(*net.UDPAddr); ok {
		if u == nil {
			return Peer{}
		}
		return Peer{AddrPort: unmap(u.AddrPort()), Addr: addr}
	}
	if a, ok := addr.(interface{ AddrPort() netip.AddrPort }); ok {
		if ap := a.AddrPort(); ap.IsValid() {
			return Peer{AddrPort: unmap(ap), Addr: addr}
		}
	}
	name := addr.String()
	if ap, err := netip.ParseAddrPort(name); err == nil {
		return Peer{AddrPort: unmap(ap), Addr: addr}
	}
	return Peer{AddrPort: synthesize(addr.Network(), name), Addr: addr}
}

// syntheticPrefix is 100::/8, which the IETF holds in reserve (RFC 4291, section 2.4),
// so that no host is ever there.
const syntheticPrefix = 0x01

// Synthetic reports whether PeerOf made the address up for one that is not made of an
// IP address and a port. It lies in 100::/8; the other 120 bits and the port are a hash
// of Network() and String() under a key of this process: the same for the same address
// as long as the process runs, and nobody outside can choose addresses that collide.
// The hash also spreads such peers over all prefixes that a rate limit may look at.
func Synthetic(a netip.Addr) bool {
	return a.Is6() && a.As16()[0] == syntheticPrefix
}

var syntheticKeys = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func synthesize(network, name string) netip.AddrPort {
	var words [2]uint64
	for i, key := range syntheticKeys {
		var h maphash.Hash
		h.SetSeed(key)
		h.WriteString(network)
		h.WriteByte(0)
		h.WriteString(name)
		words[i] = h.Sum64()
	}
	var ip [16]byte
	binary.BigEndian.PutUint64(ip[:8], words[0])
	binary.BigEndian.PutUint64(ip[8:], words[1])
	ip[0] = syntheticPrefix
	port := uint16(words[0]>>56)<<8 | 1 // port 0 means "none" in too many places
	return netip.AddrPortFrom(netip.AddrFrom16(ip), port)
}

func unmap(a netip.AddrPort) netip.AddrPort {
	if a.Addr().Is4In6() {
		return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	}
	return a
}
