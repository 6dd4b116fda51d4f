package udp

import "golang.org/x/sys/unix"

// bufferUnit is by how much the system overstates buffer sizes: Linux doubles what it is
// asked for, to make room for its bookkeeping, and says so.
const bufferUnit = 2

// PMTUDISC_PROBE sets the bit and ignores what the system believes the path to hold, which
// a forged ICMP message may have lowered.
var dfOptions = []dfOption{
	{socketOption{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER}, unix.IP_PMTUDISC_PROBE, false},
	{socketOption{unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER}, unix.IPV6_PMTUDISC_PROBE, true},
	{socketOption{unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG}, 1, true},
}

// forceReceiveBuffer goes beyond the administrator's limit, which only root may, and reports
// whether it could.
func forceReceiveBuffer(fd uintptr, size int) bool {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, size) == nil
}
