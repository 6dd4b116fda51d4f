package udp

import "golang.org/x/sys/windows"

// socketOption names an integer option of a socket.
type socketOption struct{ level, name int }

func (o socketOption) get(fd uintptr) (int, error) {
	return windows.GetsockoptInt(windows.Handle(fd), o.level, o.name)
}

func (o socketOption) set(fd uintptr, v int) error {
	return windows.SetsockoptInt(windows.Handle(fd), o.level, o.name, v)
}

var (
	optReceiveBuffer = socketOption{windows.SOL_SOCKET, windows.SO_RCVBUF}
	optSendBuffer    = socketOption{windows.SOL_SOCKET, windows.SO_SNDBUF}
)

// Winsock's IP_DONTFRAGMENT and IPV6_DONTFRAG, which have the same number.
const dontFragmentOption = 14

var dfOptions = []dfOption{
	{socketOption{windows.IPPROTO_IP, dontFragmentOption}, 1, false},
	{socketOption{windows.IPPROTO_IPV6, dontFragmentOption}, 1, true},
}
