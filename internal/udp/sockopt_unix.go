//go:build unix

package udp

import "golang.org/x/sys/unix"

// socketOption names an integer option of a socket.
type socketOption struct{ level, name int }

func (o socketOption) get(fd uintptr) (int, error) {
	return unix.GetsockoptInt(int(fd), o.level, o.name)
}
func (o socketOption) set(fd uintptr, v int) error {
	return unix.SetsockoptInt(int(fd), o.level, o.name, v)
}

var (
	optReceiveBuffer = socketOption{unix.SOL_SOCKET, unix.SO_RCVBUF}
	optSendBuffer    = socketOption{unix.SOL_SOCKET, unix.SO_SNDBUF}
)
