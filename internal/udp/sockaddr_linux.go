package udp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// zones remembers the last interface that a link-local address named, by number for those
// received and by name for those sent to: there is hardly ever a second.
type zones struct {
	index uint32
	name  string
}

// nameOf returns the zone of interface index as net.UDPAddr writes it.
func (z *zones) nameOf(index uint32) string {
	if z.index != index {
		z.index, z.name = index, strconv.FormatUint(uint64(index), 10)
		if i, err := net.InterfaceByIndex(int(index)); err == nil {
			z.name = i.Name
		}
	}
	return z.name
}

// indexOf is the reverse of nameOf; zero if there is no such interface.
func (z *zones) indexOf(name string) uint32 {
	if z.name != name {
		z.name, z.index = name, 0
		if i, err := net.InterfaceByName(name); err == nil {
			z.index = uint32(i.Index)
		} else if n, err := strconv.ParseUint(name, 10, 32); err == nil {
			z.index = uint32(n)
		}
	}
	return z.index
}

// address returns the address that the kernel stored in sa, the zero AddrPort if it is
// neither of IPv4 nor of IPv6.
func (z *zones) address(sa *unix.RawSockaddrInet6) netip.AddrPort {
	port := binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&sa.Port))[:])
	switch sa.Family {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(sa)).Addr), port)
	case unix.AF_INET6:
		ip := netip.AddrFrom16(sa.Addr).Unmap()
		if sa.Scope_id != 0 && ip.Is6() {
			ip = ip.WithZone(z.nameOf(sa.Scope_id))
		}
		return netip.AddrPortFrom(ip, port)
	}
	return netip.AddrPort{}
}

// setAddress stores a in sa for a socket of IPv6, where IPv4 addresses are mapped, or of
// IPv4, and returns the length.
func (z *zones) setAddress(sa *unix.RawSockaddrInet6, a netip.AddrPort, v6 bool) uint32 {
	ip := a.Addr()
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&sa.Port))[:], a.Port())
	if !v6 {
		sa.Family = unix.AF_INET
		(*unix.RawSockaddrInet4)(unsafe.Pointer(sa)).Addr = ip.Unmap().As4()
		return unix.SizeofSockaddrInet4
	}
	sa.Family, sa.Flowinfo, sa.Addr, sa.Scope_id = unix.AF_INET6, 0, ip.As16(), 0
	if zone := ip.Zone(); zone != "" {
		sa.Scope_id = z.indexOf(zone)
	}
	return unix.SizeofSockaddrInet6
}
