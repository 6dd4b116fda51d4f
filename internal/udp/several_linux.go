package udp

import (
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// listenSeveral binds n sockets to one address. Of datagrams from one peer to one of this
// machine's addresses all go to the same socket, as long as none is closed.
func listenSeveral(address string, n int, o Options) ([]Socket, error) {
	lc := net.ListenConfig{Control: func(_, _ string, rc syscall.RawConn) error {
		var failed error
		err := rc.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if err != nil {
			return err
		}
		return failed
	}}
	var all []Socket
	for range n {
		pc, err := lc.ListenPacket(context.Background(), "udp", address)
		if err != nil {
			for _, s := range all {
				s.Close()
			}
			return nil, err
		}
		address = pc.LocalAddr().String() // the first chooses the port, and one of a host's addresses
		all = append(all, calm(Wrap(pc, o)))
	}
	return all, nil
}
