package udp

import (
	"errors"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/raknet-go/raknet/internal/pool"
)

const (
	// maxOut is how many datagrams one system call sends at most. Each costs the socket 16
	// bytes. Arbitrary: some messages full of segments.
	maxOut = 256
	// maxSegments and maxSegmented bound one message that the kernel cuts into datagrams. Older
	// kernels take 64 segments; in bytes no IP packet, headers included, may exceed 65535.
	maxSegments  = 64
	maxSegmented = 65000
	// segmentPatience is how many segmented messages in a row may fail with EINVAL on a socket
	// where others worked. An older kernel gives that error as well for a path that takes
	// less than the segment, and anybody can forge the report that makes it believe so.
	segmentPatience = 8
)

// sender is what WriteBatch uses.
type sender struct {
	vector
	zones
	v6      bool // a socket of IPv6, maybe for IPv4 as well
	named   bool // not connected: every message needs an address
	local   bool // the address to send from may be chosen
	segment bool // datagrams of one size to one peer may leave as one message
	proven  bool // a segmented message went out before
	refused int  // segmented messages in a row that the kernel found fault with

	taken [maxBatch]uint8 // datagrams in each message
	want  int             // messages to send
	n     int             // messages sent
	errno syscall.Errno
	call  func(fd uintptr) bool // send, as a value made once
	sys   func(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno)
}

func (w *sender) init() {
	w.sys = batchCall
	w.call = w.send
}

func (w *sender) send(fd uintptr) bool {
	w.n, w.errno = w.sys(unix.SYS_SENDMMSG, fd, &w.vector, w.want, false)
	return w.errno != unix.EAGAIN
}

// write sends at least one datagram of out, or returns why it did not send the first.
// All must be probes, or none.
func (w *sender) write(rc syscall.RawConn, out []Outbound) (int, error) {
	n, err := w.try(rc, out, w.local, w.segment && !out[0].Probe)
	if first := int(w.taken[0]); first > 1 {
		if err == nil {
			w.proven, w.refused = true, 0
			return n, nil
		}
		if why := errnoOf(err); segmenting(why) {
			n, err = w.try(rc, out[:first], w.local, false)
			if err == nil {
				w.doubt(why)
			}
		}
	}
	if err == nil {
		return n, nil
	}
	switch {
	case worthAnotherTry(err):
		return w.try(rc, out[:1], w.local, false)
	case w.local && out[0].Local.IsValid() && IsTransient(err) && !IsTooLarge(err):
		// The address that the peer knows may be gone from this machine. From another
		// the datagram may still find its way.
		return w.try(rc, out[:1], false, false)
	}
	return 0, err
}

// segmenting reports whether a segmented message may have failed for being one. EIO means that
// the network card cannot compute checksums; EMSGSIZE that a segment is larger than the first
// link or what the system believes of the path, which the kernel could have fragmented; the others
// that it does not know how.
func segmenting(why syscall.Errno) bool {
	switch why {
	case unix.EIO, unix.EINVAL, unix.EMSGSIZE, unix.EOPNOTSUPP, unix.ENOPROTOOPT:
		return true
	}
	return false
}

// doubt is told that datagrams went out one by one that had failed together. It gives up on
// segments for good where the reason is not the path to one peer.
func (w *sender) doubt(why syscall.Errno) {
	if why == unix.EMSGSIZE {
		return
	}
	w.refused++
	if why == unix.EIO || !w.proven || w.refused >= segmentPatience {
		w.segment = false
	}
}

// try makes one system call for all of out, and returns how many datagrams it took.
func (w *sender) try(rc syscall.RawConn, out []Outbound, local, segment bool) (int, error) {
	pieces := w.prepare(out, local, segment)
	err := rc.Write(w.call)
	w.drop(pieces)
	if err == nil && w.errno != 0 {
		err = os.NewSyscallError("sendmmsg", w.errno)
	}
	if err != nil {
		return 0, err
	}
	n := 0
	for _, k := range w.taken[:w.n] {
		n += int(k)
	}
	if n == 0 {
		return 0, errNothingSent
	}
	return n, nil
}

// errNothingSent is what no kernel should say.
var errNothingSent = errors.New("sendmmsg took no message and gave no reason")

// prepare makes messages of out, as far as they fit one call, and returns how many datagrams
// are in them.
func (w *sender) prepare(out []Outbound, local, segment bool) int {
	w.grow(min(len(out), maxBatch), len(out))
	i, m := 0, 0
	for ; i < len(out) && m < maxBatch; m++ {
		k := 1
		if segment {
			k = together(out[i:])
		}
		w.message(m, i, out[i:i+k], local)
		i += k
	}
	w.want = m
	return i
}

// together returns how many of out, from the first on, may leave as one message: to one peer
// from one address, and all of one size but for the last, which may be shorter.
func together(out []Outbound) int {
	first := &out[0]
	size := len(first.Data)
	if size == 0 || size > pool.ClassWide { // the second no receiver takes
		return 1
	}
	n := min(len(out), maxSegments, maxSegmented/size)
	for i := 1; i < n; i++ {
		o := &out[i]
		switch l := len(o.Data); {
		case l == 0 || l > size || o.To.AddrPort != first.To.AddrPort || o.Local != first.Local:
			return i
		case l < size:
			return i + 1
		}
	}
	return n
}

// message makes message m of datagrams that leave together, the first of which is the
// given piece.
func (w *sender) message(m, piece int, out []Outbound, local bool) {
	first := &out[0]
	for i := range out {
		w.data(piece+i, out[i].Data)
	}
	w.pieces(m, piece, len(out))
	w.taken[m] = uint8(len(out))
	h := &w.hdrs[m]
	if w.named {
		h.Name = (*byte)(unsafe.Pointer(&w.names[m]))
		h.Namelen = w.setAddress(&w.names[m], first.To.AddrPort, w.v6)
	}
	if !w.control {
		return
	}
	b, n := w.controlBytes(m), 0
	if local && answers(first.Local, first.To.AddrPort) {
		n = putPacketInfo(b, first.Local)
	}
	if len(out) > 1 { // some drivers object to a lone segment
		n += putSegment(b[n:], len(first.Data))
	}
	h.Control = nil
	h.SetControllen(n)
	if n > 0 {
		h.Control = (*byte)(unsafe.Pointer(&w.ctrl[m]))
	}
}

// answers reports whether a datagram from local can get to a: both are of one IP version.
func answers(local netip.Addr, to netip.AddrPort) bool {
	return local.IsValid() && local.Is4() == to.Addr().Unmap().Is4()
}
