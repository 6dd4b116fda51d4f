package udp

import "golang.org/x/sys/unix"

// macOS 11 has these; for the IPv4 half of a socket for both versions it takes macOS 15.
var dfOptions = []dfOption{
	{socketOption{unix.IPPROTO_IP, unix.IP_DONTFRAG}, 1, false},
	{socketOption{unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG}, 1, true},
}
