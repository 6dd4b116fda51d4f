package udp

import "syscall"

// wantBuffer is the size of the system's socket buffers that is asked for, in bytes. The
// usual 208 KiB of Linux hold 92 full datagrams, less than one window of one fast peer,
// and a server shares one socket between all of them. 7 MiB is what other transports over
// UDP have settled on; it is a bound, not memory used. When the receive buffer is full the
// system drops datagrams, when the send buffer is full WriteBatch waits.
const wantBuffer = 7 << 20

// minBuffer is where the attempts end on systems that refuse a size instead of cutting it.
const minBuffer = 128 << 10

// growBuffers raises the socket buffers of c as far as the system lets it, and never lowers
// them. Where c cannot tell what they are it does nothing.
func growBuffers(c any) {
	rc := rawConn(c)
	if rc == nil {
		return
	}
	var recv, send int
	forced := false
	// A socket that is closed meanwhile has none. One call for all: who dials often makes many sockets.
	_ = rc.Control(func(fd uintptr) {
		recv, send = readBuffer(fd, optReceiveBuffer), readBuffer(fd, optSendBuffer)
		forced = recv < wantBuffer && forceReceiveBuffer(fd, wantBuffer)
	})
	if b, ok := c.(interface{ SetReadBuffer(bytes int) error }); ok && !forced {
		grow(recv, b.SetReadBuffer)
	}
	if b, ok := c.(interface{ SetWriteBuffer(bytes int) error }); ok {
		grow(send, b.SetWriteBuffer)
	}
}

// rawConn returns the socket below c, or nil if c does not show it.
func rawConn(c any) syscall.RawConn {
	if sc, ok := c.(syscall.Conn); ok {
		if rc, err := sc.SyscallConn(); err == nil {
			return rc
		}
	}
	return nil
}

// grow asks for wantBuffer, then for less and less, and stops at what there is already.
func grow(present int, set func(bytes int) error) {
	for size := wantBuffer; size > present && size >= minBuffer; size /= 2 {
		if set(size) == nil {
			return
		}
	}
}

// bufferSizes reads both sizes; zero without a socket.
func bufferSizes(rc syscall.RawConn) (recv, send int) {
	if rc != nil {
		_ = rc.Control(func(fd uintptr) {
			recv, send = readBuffer(fd, optReceiveBuffer), readBuffer(fd, optSendBuffer)
		})
	}
	return recv, send
}

func readBuffer(fd uintptr, option socketOption) int {
	n, err := option.get(fd)
	if err != nil {
		return 0
	}
	return n / bufferUnit
}
