package udp

import "golang.org/x/sys/unix"

var dfOptions = []dfOption{
	{socketOption{unix.IPPROTO_IP, unix.IP_DONTFRAG}, 1, false},
	{socketOption{unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG}, 1, true},
}
