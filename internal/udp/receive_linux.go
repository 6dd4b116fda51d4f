package udp

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/raknet-go/raknet/internal/pool"
)

// How many messages one call receives at most: maxBatch, but where some are many datagrams and
// need a buffer of 64 KiB, as many as come to readBytes if they are like those of the last
// call, between placesJoined and placesMost. So much stays in the processor's cache, and is what
// one ACK names, for which the sender waits. A socket begins with placesMin, doubles when all
// are filled, and halves when it runs dry.
const (
	placesMin    = 2
	placesJoined = 4
	placesMost   = 16
	readBytes    = 192 << 10
)

// receiver is what ReadBatch uses.
//
// A message is received into a buffer for one datagram and a larger one behind it: for a wide datagram, or where the
// kernel joins datagrams for as many as it does. So a lone datagram never occupies 64 KiB, and of a
// larger message only the first 2 KiB must be copied to make it whole. While the socket is
// empty neither is held: a thousand idle sockets share the buffers of the few that are not.
type receiver struct {
	vector
	zones
	vigil  vigil
	watch  watch
	joined bool          // a message may be several datagrams
	named  bool          // not connected: the kernel says who sent it
	peer   Peer          // who did, if connected
	places int           // messages to make room for
	most   int           // how many at most
	filled bool          // the last call filled all
	glance time.Duration // how long this call may wait; 0: for ever

	in    []Inbound // of this call
	n     int       // messages received
	errno syscall.Errno
	call  func(fd uintptr) bool // receive, as a value made once
	ask   func(fd uintptr) bool // tryReceive
	sys   func(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno)

	counted   uint32        // what the kernel last said that it dropped
	overflows atomic.Uint64 // the same without wrapping
}

func (r *receiver) init() {
	r.places, r.most = placesMin, maxBatch
	r.sys = batchCall
	r.watch.init()
	r.call, r.ask = r.receive, r.tryReceive
}

// receive makes one system call to read, and false means that there is nothing to read. The runtime
// calls it again when there is.
func (r *receiver) receive(fd uintptr) bool {
	waits := false
	if !r.vigil.on.Load() {
		r.watch.row = 0
	} else if !r.filled {
		if r.vigil.naps() {
			if r.tryReceive(fd); r.n > 0 || r.errno != 0 {
				return true
			}
		}
		if r.glance != 0 && !r.vigil.glance(fd, r.glance) {
			r.n, r.errno = 0, 0
			return true
		}
		if waits = r.glance == 0; waits {
			if r.watch.begins() && (r.watch.atOnce && r.takeMore(fd) || r.look(fd)) {
				return true
			}
			waits = r.vigil.waits(fd)
		}
	}
	filled := r.filled
	r.take(fd, waits)
	if waits && refusesToWait(r.errno) {
		waits = false
		r.vigil.q.patient = false
		r.vigil.end()
		r.take(fd, false)
	}
	if waits && r.shut() {
		r.n = 0
	}
	if r.n == 0 && r.errno == 0 {
		if r.glance != 0 {
			if filled && r.vigil.on.Load() && r.vigil.glance(fd, r.glance) {
				r.tryReceive(fd) // the last call happened to take all that there was, and this one has waited, too
			}
			return true
		}
		Release(r.in)
		r.places = max(r.places/2, placesMin)
		r.vigil.end() // the wait was in vain, or somebody else took what came
		r.vigil.parks()
		return false
	}
	r.came()
	return true
}

// came takes down what a call brought.
func (r *receiver) came() {
	if r.vigil.came(r.n) && r.n > 0 {
		r.watch.ended(r.n, int(r.hdrs[0].n))
	}
}

// shut reports whether what was read is what a wait that Close ended looks like: a datagram of no length.
func (r *receiver) shut() bool { return r.n > 0 && r.hdrs[0].n == 0 && r.vigil.q.isClosed() }

// look watches for a datagram, and reports whether there is one, or an error.
func (r *receiver) look(fd uintptr) bool {
	r.vigil.since = r.watch.now()
	r.offer(1)
	r.n, r.errno = r.watch.look(fd, &r.hdrs[0], r.vigil.since)
	r.drop(len(r.iovs))
	if r.n == 0 && r.errno == 0 || r.shut() {
		r.vigil.since = time.Time{}
		return false
	}
	r.filled = false
	r.came()
	return true
}

// takeMore is for a watch that found its datagram at once: there may be several, of which a look takes one.
func (r *receiver) takeMore(fd uintptr) bool {
	r.watch.atOnce = false
	if r.tryReceive(fd); r.n == 0 && r.errno == 0 {
		return false
	}
	if r.n > 0 {
		r.watch.ended(r.n, int(r.hdrs[0].n))
	}
	return true
}

// tryReceive is receive for who does not wait, and keeps the buffers.
func (r *receiver) tryReceive(fd uintptr) bool {
	r.take(fd, false)
	return true
}

// take makes one system call to read, and waits in it for something to read if told to.
func (r *receiver) take(fd uintptr, wait bool) {
	n := min(len(r.in), r.places)
	lone := wait && r.vigil.lone
	if lone {
		n = 1
	}
	r.offer(n)
	r.n, r.errno = r.sys(unix.SYS_RECVMMSG, fd, &r.vector, n, wait)
	r.drop(len(r.iovs))
	if r.errno == unix.EAGAIN || r.errno == unix.EINTR {
		r.n, r.errno = 0, 0
	}
	if r.filled = r.n == n && !lone; r.filled {
		r.places = min(2*r.places, r.most)
	}
}

// offer readies n messages.
func (r *receiver) offer(n int) {
	const pieces = 2
	class := pool.ClassWide
	if r.joined {
		class = pool.ClassBatch
	}
	r.grow(n, n*pieces)
	for i := range n {
		in, h := &r.in[i], &r.hdrs[i]
		r.pieces(i, i*pieces, pieces)
		r.data(i*pieces, in.buffer())
		if in.big == nil {
			in.big = pool.Get(class)
		}
		r.data(i*pieces+1, in.big.B[pool.ClassRead:])
		if r.named {
			h.Name = (*byte)(unsafe.Pointer(&r.names[i]))
			h.Namelen = unix.SizeofSockaddrInet6
		}
		if r.control {
			h.Control = (*byte)(unsafe.Pointer(&r.ctrl[i]))
			h.SetControllen(controlSize)
		}
	}
}

// read waits for messages and returns them as ReadBatch does.
func (r *receiver) read(rc syscall.RawConn, in []Inbound) (int, error) {
	r.in = in
	defer func() { r.in = nil }()
	for {
		err := rc.Read(r.call)
		if err == nil && r.errno != 0 {
			err = os.NewSyscallError("recvmmsg", r.errno)
		}
		if err != nil {
			Release(in)
			return 0, err
		}
		if r.n == 0 && r.glance != 0 {
			return 0, nil
		}
		if n := r.collect(); n > 0 {
			return n, nil
		}
	}
}

// collect fills in the first entries from what was received, and moves those that are not
// to be handed on behind the others. It returns how many there are.
func (r *receiver) collect() int {
	kept := 0
	bytes, long := 0, false
	for i := range r.n {
		h, in := &r.hdrs[i], &r.in[i]
		var c control
		if r.control {
			c = parseControl(r.controlBytes(i)[:h.Controllen])
		}
		if c.drops != 0 {
			r.overflows.Add(r.moreDrops(c.drops))
		}
		size := int(h.n)
		bytes += size
		if h.Flags&unix.MSG_TRUNC != 0 || datagram(size, c.segment) > pool.ClassWide {
			continue // a datagram that does not fit its buffer
		}
		from := r.peer
		if r.named {
			from = Peer{AddrPort: r.address(&r.names[i])}
			if from.AddrPort.Port() == 0 {
				continue
			}
		}
		long = long || c.segment > 0 && c.segment < size || size > pool.ClassRead
		if size > pool.ClassRead {
			copy(in.big.B, in.small.B)
			in.Buf, in.big = in.big, nil
		} else {
			in.Buf, in.small = in.small, nil
		}
		in.Buf.N = size
		in.N, in.Segment, in.From, in.Local = size, 0, from, c.local
		if c.segment > 0 && c.segment < size {
			in.Segment = c.segment
		}
		if i != kept {
			r.in[i], r.in[kept] = r.in[kept], r.in[i]
		}
		kept++
	}
	r.vigil.weigh(bytes, long)
	r.most = maxBatch
	if long {
		r.most = max(placesJoined, min(readBytes*r.n/bytes, placesMost))
		r.places = min(r.places, r.most)
	}
	return kept
}

// datagram is the length of the longest datagram of a message of size bytes.
func datagram(size, segment int) int {
	if segment > 0 {
		return min(size, segment)
	}
	return size
}

// moreDrops returns how many datagrams were dropped since the count was last heard of.
func (r *receiver) moreDrops(count uint32) uint64 {
	more := count - r.counted // which may have wrapped
	r.counted = count
	return uint64(more)
}
