package wire

import (
	"encoding/binary"
	"net/netip"
)

const (
	addrVersion4 = 4
	addrVersion6 = 6
	addrSize4    = 1 + 4 + 2              // version, inverted octets, port
	addrSize6    = 1 + 2 + 2 + 4 + 16 + 4 // version, family, port, flow label, octets, scope
	// familyInet6 is AF_INET6 of Windows, which most ports copied. The original
	// copies its platform's sockaddr_in6, so Linux peers write 10, macOS peers 30
	// and a length.
	familyInet6 = 23
)

// unassigned is 0.0.0.0:0, what every implementation writes for "no address".
const unassigned = "\x04\xff\xff\xff\xff\x00\x00"

// AddrSize returns how many bytes AppendAddr writes for a: 7 or 29.
func AddrSize(a netip.AddrPort) int {
	if ip := a.Addr(); ip.Is6() && !ip.Is4In6() {
		return addrSize6
	}
	return addrSize4
}

// AppendAddr appends the wire form of a: IPv4 with its octets inverted, IPv6 as
// the sockaddr_in6 of Windows with no flow label and no scope. IPv4 mapped into
// IPv6 is written as IPv4, and the zero AddrPort as the unassigned address.
func AppendAddr(dst []byte, a netip.AddrPort) []byte {
	ip := a.Addr().Unmap()
	switch {
	case ip.Is4():
		o := ip.As4()
		dst = append(dst, addrVersion4, ^o[0], ^o[1], ^o[2], ^o[3])
		return binary.BigEndian.AppendUint16(dst, a.Port())
	case ip.Is6():
		o := ip.As16()
		dst = append(dst, addrVersion6)
		dst = binary.LittleEndian.AppendUint16(dst, familyInet6)
		dst = binary.BigEndian.AppendUint16(dst, a.Port())
		dst = append(dst, 0, 0, 0, 0)
		dst = append(dst, o[:]...)
		return append(dst, 0, 0, 0, 0)
	}
	return append(dst, unassigned...)
}

// ParseAddr reads the address at the start of b and returns it with its size in
// bytes. Any IPv6 family number is accepted; flow label and scope are dropped,
// and IPv4 mapped into IPv6 comes out as IPv4. Some servers forget to invert
// IPv4 octets, so what an address says about its owner proves nothing.
func ParseAddr(b []byte) (a netip.AddrPort, n int, err error) {
	n, err = addrLen(b)
	if err != nil {
		return netip.AddrPort{}, 0, err
	}
	if n == addrSize4 {
		ip := netip.AddrFrom4([4]byte{^b[1], ^b[2], ^b[3], ^b[4]})
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[5:])), n, nil
	}
	ip := netip.AddrFrom16([16]byte(b[9:25])).Unmap()
	return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[3:])), n, nil
}

// addrLen returns the size of the address at the start of b, all of which is there.
func addrLen(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, ErrTruncated
	}
	n := 0
	switch b[0] {
	case addrVersion4:
		n = addrSize4
	case addrVersion6:
		n = addrSize6
	default:
		return 0, ErrAddressFamily
	}
	if len(b) < n {
		return 0, ErrTruncated
	}
	return n, nil
}

// appendUnassigned appends n unassigned addresses.
func appendUnassigned(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, unassigned...)
	}
	return dst
}

// countAddrs returns how many addresses b consists of; ok is false when something
// else is in it.
func countAddrs(b []byte) (count int, ok bool) {
	for len(b) > 0 {
		n, err := addrLen(b)
		if err != nil {
			return 0, false
		}
		b = b[n:]
		count++
	}
	return count, true
}
