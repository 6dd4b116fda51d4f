package udp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxBatch is the largest number of datagrams in one system call. Beyond 64 the saving per
// datagram is lost in the noise, and each place costs the caller a buffer.
const maxBatch = 64

// mmsghdr is the kernel's struct mmsghdr.
type mmsghdr struct {
	unix.Msghdr
	n uint32 // bytes received or sent
}

// vector is the argument of recvmmsg and sendmmsg: up to maxBatch message headers, each
// with room for an address, one piece of data and, where asked for, control messages. It is
// made once, and then only filled in. This is why it is faster than golang.org/x/net's
// ReadBatch and WriteBatch, which build two objects per datagram.
type vector struct {
	control bool
	hdrs    []mmsghdr
	names   []unix.RawSockaddrInet6 // large enough for IPv4 addresses too
	iovs    []unix.Iovec
	ctrl    [][controlSize / 8]uint64 // of words for the alignment that the kernel wants
}

// grow makes room for n messages, and lets the headers point to their parts.
func (v *vector) grow(n int) {
	if n <= len(v.hdrs) {
		return
	}
	n = max(n, min(2*len(v.hdrs), maxBatch))
	v.hdrs = make([]mmsghdr, n)
	v.names = make([]unix.RawSockaddrInet6, n)
	v.iovs = make([]unix.Iovec, n)
	if v.control {
		v.ctrl = make([][controlSize / 8]uint64, n)
	}
	for i := range v.hdrs {
		v.hdrs[i].Iov = &v.iovs[i]
		v.hdrs[i].SetIovlen(1)
	}
}

// data sets the bytes of message i.
func (v *vector) data(i int, b []byte) {
	v.iovs[i].Base = unsafe.SliceData(b)
	v.iovs[i].SetLen(len(b))
}

// controlBytes returns the room for the control messages of message i.
func (v *vector) controlBytes(i int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&v.ctrl[i])), controlSize)
}

// prepareToReceive readies message i for one datagram into b.
func (v *vector) prepareToReceive(i int, b []byte, address bool) {
	h := &v.hdrs[i]
	v.data(i, b)
	if address {
		h.Name = (*byte)(unsafe.Pointer(&v.names[i]))
		h.Namelen = unix.SizeofSockaddrInet6
	}
	if v.control {
		h.Control = (*byte)(unsafe.Pointer(&v.ctrl[i]))
		h.SetControllen(controlSize)
	}
}

// drop forgets the data of the first n messages, so that the vector does not keep alive
// what the caller gave it.
func (v *vector) drop(n int) {
	for i := range n {
		v.iovs[i].Base = nil
	}
}

// batchCall makes one system call on n messages from the vector's first on.
func (v *vector) batchCall(trap, fd uintptr, n int) (int, syscall.Errno) {
	for {
		done, _, errno := unix.Syscall6(trap, fd, uintptr(unsafe.Pointer(&v.hdrs[0])), uintptr(n), 0, 0, 0)
		if errno == 0 {
			return int(done), 0
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}
