package udp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxBatch is the largest number of messages in one system call. Beyond 64 the saving per
// datagram is lost in the noise.
const maxBatch = 64

// mmsghdr is the kernel's struct mmsghdr.
type mmsghdr struct {
	unix.Msghdr
	n uint32 // bytes received or sent
}

// vector is the argument of recvmmsg and sendmmsg: message headers, each with room for an
// address, a list of pieces of data and, where asked for, control messages. It is made once,
// and then only filled in. This is why it is faster than golang.org/x/net's ReadBatch and
// WriteBatch, which build two objects per datagram.
type vector struct {
	control bool
	hdrs    []mmsghdr
	names   []unix.RawSockaddrInet6 // large enough for IPv4 addresses too
	iovs    []unix.Iovec
	ctrl    [][controlSize / 8]uint64 // of words for the alignment that the kernel wants
	few     few                       // what the others are of at first
}

// few is room for as many messages as a socket with one peer, or none yet, needs.
type few struct {
	hdrs  [2]mmsghdr
	names [2]unix.RawSockaddrInet6
	iovs  [4]unix.Iovec
	ctrl  [2][controlSize / 8]uint64
}

// grow makes room for n messages with so many pieces of data in all. What a message pointed to
// before is to be set anew.
func (v *vector) grow(n, pieces int) {
	if v.hdrs == nil {
		v.hdrs, v.names, v.iovs, v.ctrl = v.few.hdrs[:], v.few.names[:], v.few.iovs[:], v.few.ctrl[:]
	}
	if pieces > len(v.iovs) {
		v.iovs = make([]unix.Iovec, max(pieces, 2*len(v.iovs)))
	}
	if n <= len(v.hdrs) {
		return
	}
	n = max(n, min(2*len(v.hdrs), maxBatch))
	v.hdrs = make([]mmsghdr, n)
	v.names = make([]unix.RawSockaddrInet6, n)
	if v.control {
		v.ctrl = make([][controlSize / 8]uint64, n)
	}
}

// data sets the bytes of a piece.
func (v *vector) data(piece int, b []byte) {
	v.iovs[piece].Base = unsafe.SliceData(b)
	v.iovs[piece].SetLen(len(b))
}

// pieces makes message i consist of n pieces from the given one on.
func (v *vector) pieces(i, from, n int) {
	v.hdrs[i].Iov = &v.iovs[from]
	v.hdrs[i].SetIovlen(n)
}

// controlBytes returns the room for the control messages of message i.
func (v *vector) controlBytes(i int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&v.ctrl[i])), controlSize)
}

// drop forgets the first n pieces, so that the vector does not keep alive what the caller
// gave it.
func (v *vector) drop(n int) {
	for i := range n {
		v.iovs[i].Base = nil
	}
}

// batchCall makes one system call on the first n messages of v. It waits for the first of them to receive if
// told to, and for nothing else, whatever the socket is set to; a signal ends the wait (EINTR). Tests put something else in its place.
//
// Go's scheduler is told of calls that wait, and of those for one message. The others are work, done by this processor until it is finished; but
// after 20 µs in a call that it knows of the scheduler gives the goroutine's turn away, as if it slept there, and a batch
// takes longer than that. On a busy machine each batch then cost two threads a change of places: without, bulk of 1 KB messages is a quarter faster
// and a server of many players takes a tenth less of its processor. What that delays is a stop of all goroutines for the garbage
// collector: by one batch, at the very most some two megabytes, a millisecond.
//
// Calls for one message are short. Without telling, messages there and back took 43 and 126 µs by the medians of two sets of
// runs on a virtual machine, and 39 µs with: presumably its processors fell asleep in between. A watch, which does not let
// them, does not tell (lookCall).
func batchCall(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno) {
	if n == 1 {
		if done, errno := loneCall(trap, fd, &v.hdrs[0], wait); errno != unix.ENOSYS {
			return done, errno
		}
	}
	flags := uintptr(unix.MSG_DONTWAIT)
	if wait {
		flags = unix.MSG_WAITFORONE
	}
	for {
		var done uintptr
		var errno syscall.Errno
		if wait {
			done, _, errno = unix.Syscall6(trap, fd, uintptr(unsafe.Pointer(&v.hdrs[0])), uintptr(n), flags, 0, 0)
		} else {
			done, _, errno = unix.RawSyscall6(trap, fd, uintptr(unsafe.Pointer(&v.hdrs[0])), uintptr(n), flags, 0, 0)
		}
		if errno == 0 {
			return int(done), 0
		}
		if errno != unix.EINTR || wait {
			return 0, errno
		}
	}
}

// loneCall is batchCall for one message, which the calls for one do in half a microsecond less. Those for
// many let others have the processor after each message. 32-bit kernels before 4.3 have no such calls.
func loneCall(trap, fd uintptr, h *mmsghdr, wait bool) (int, syscall.Errno) {
	if trap == unix.SYS_SENDMMSG {
		trap = unix.SYS_SENDMSG
	} else {
		trap = unix.SYS_RECVMSG
	}
	flags := uintptr(unix.MSG_DONTWAIT)
	if wait {
		flags = 0
	}
	for {
		size, _, errno := unix.Syscall(trap, fd, uintptr(unsafe.Pointer(&h.Msghdr)), flags)
		if errno == 0 {
			h.n = uint32(size)
			return 1, 0
		}
		if errno != unix.EINTR || wait {
			return 0, errno
		}
	}
}

// lookCall receives one message if there is one. Go's scheduler is not told, since the call is one of many in a row.
func lookCall(fd uintptr, h *mmsghdr) (int, syscall.Errno) {
	size, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&h.Msghdr)), unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0, errno
	}
	h.n = uint32(size)
	return 1, 0
}

// yield lets others have the processor who want it.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
