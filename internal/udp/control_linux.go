package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlSize is the room for the control messages of one message, in bytes. Received, there
// may be an IPv4 and an IPv6 address for the same datagram (32 and 40 bytes), the size of
// segments and the count of drops (24 each). Sent, an address and the size of segments.
const controlSize = 120

// control is what control messages tell of a received message.
type control struct {
	local   netip.Addr // of this machine, to answer from; the zero Addr if there is none
	segment int        // bytes of each datagram, where there are several
	drops   uint32     // what SO_RXQ_OVFL counted; zero also if it is not told
}

// parseControl reads control messages that the kernel wrote.
func parseControl(b []byte) (c control) {
	v4 := false
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
			c.local, v4 = netip.AddrFrom4((*unix.Inet4Pktinfo)(unsafe.Pointer(&data[0])).Spec_dst), true
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && size >= unix.SizeofInet6Pktinfo:
			ip := netip.AddrFrom16((*unix.Inet6Pktinfo)(unsafe.Pointer(&data[0])).Addr)
			if !v4 && ip.Is6() && !ip.Is4In6() && !ip.IsMulticast() {
				c.local = ip
			}
		case h.Level == unix.IPPROTO_UDP && h.Type == unix.UDP_GRO && size >= 4:
			c.segment = int(*(*int32)(unsafe.Pointer(&data[0])))
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && size >= 4:
			c.drops = *(*uint32)(unsafe.Pointer(&data[0]))
		}
		b = b[min(unix.CmsgSpace(size), len(b)):]
	}
	return c
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

// putSegment writes to b the control message that makes the kernel cut a message into
// datagrams of size bytes, and returns its length.
func putSegment(b []byte, size int) int {
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level, h.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.CmsgLen(2))
	*(*uint16)(unsafe.Pointer(&b[unix.CmsgLen(0)])) = uint16(size)
	return unix.CmsgSpace(2)
}
