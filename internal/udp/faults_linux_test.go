package udp

import (
	"math/rand/v2"
	"syscall"

	"golang.org/x/sys/unix"
)

// injectFaults makes the kernel under s fail at random, and reports whether that is possible.
func injectFaults(s Socket, r *rand.Rand) bool {
	b, ok := s.(*batch)
	if !ok {
		return false
	}
	k := &kernelStub{decide: func(m *sent, n int) (int, syscall.Errno) {
		switch x := r.IntN(400); {
		case x < 20 && m.segment > 0:
			return 0, unix.EMSGSIZE
		case x < 24 && m.segment > 0:
			return 0, unix.EINVAL
		case x < 25 && m.segment > 0:
			return 0, unix.EIO
		case x < 40:
			return 0, unix.ENOBUFS
		case x < 50:
			return 0, unix.EPERM
		case x < 200:
			return 1 + r.IntN(n), 0
		}
		return n, 0
	}}
	k.under(b)
	return true
}
