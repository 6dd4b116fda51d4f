package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlSize is the room for the control messages of one datagram, in bytes: a socket for
// both IP versions gets an IPv4 and an IPv6 one for the same datagram, 32 and 40 bytes.
const controlSize = 80

// enablePacketInfo makes the kernel tell which of this machine's addresses each datagram
// was sent to.
func enablePacketInfo(fd int, v6 bool) bool {
	err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
	if v6 {
		// On such a socket the IPv4 option is for the IPv4 part of the traffic alone.
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	}
	return err == nil
}

// packetInfo returns the address in control messages that the kernel wrote, the zero Addr if
// there is none to answer from.
func packetInfo(b []byte) (local netip.Addr) {
	for len(b) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
		size := int(h.Len) - unix.CmsgLen(0)
		if size < 0 || int(h.Len) > len(b) {
			break
		}
		data := b[unix.CmsgLen(0):h.Len]
		switch {
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && size >= unix.SizeofInet4Pktinfo:
			// Spec_dst, other than Addr, is one of ours also if the datagram went to a
			// broadcast address, as those of clients in search of a local game do.
			return netip.AddrFrom4((*unix.Inet4Pktinfo)(unsafe.Pointer(&data[0])).Spec_dst)
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && size >= unix.SizeofInet6Pktinfo:
			ip := netip.AddrFrom16((*unix.Inet6Pktinfo)(unsafe.Pointer(&data[0])).Addr)
			if ip.Is6() && !ip.Is4In6() && !ip.IsMulticast() {
				local = ip
			}
		}
		b = b[min(unix.CmsgSpace(size), len(b)):]
	}
	return local
}

// putPacketInfo writes to b the control message that makes the kernel send from local,
// and returns its length.
func putPacketInfo(b []byte, local netip.Addr) int {
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	data := unsafe.Pointer(&b[unix.CmsgLen(0)])
	if local.Is4() {
		h.Level, h.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
		h.SetLen(unix.CmsgLen(unix.SizeofInet4Pktinfo))
		*(*unix.Inet4Pktinfo)(data) = unix.Inet4Pktinfo{Spec_dst: local.As4()}
		return unix.CmsgSpace(unix.SizeofInet4Pktinfo)
	}
	h.Level, h.Type = unix.IPPROTO_IPV6, unix.IPV6_PKTINFO
	h.SetLen(unix.CmsgLen(unix.SizeofInet6Pktinfo))
	*(*unix.Inet6Pktinfo)(data) = unix.Inet6Pktinfo{Addr: local.As16()}
	return unix.CmsgSpace(unix.SizeofInet6Pktinfo)
}
