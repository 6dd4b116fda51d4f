// Package pool lends the byte buffers that datagrams live in. A buffer is
// reference counted, because the same bytes may at once wait in a socket's
// queue, be kept for retransmission and, on the receiving side, be held by
// several messages that were never copied out of the datagram.
package pool

import (
	"sync"
	"sync/atomic"
)

// Size classes in bytes. A request is served from the smallest class that holds it.
const (
	ClassSmall    = 256       // ACK and NACK datagrams, control messages
	ClassDatagram = 1536      // one datagram to send: at most MTU 1492 - 28, rounded up
	ClassRead     = 2048      // one datagram to receive: some peers fill more than the MTU
	ClassWide     = 8 * 1024  // one of those that peers of this library send each other on one machine
	ClassBatch    = 64 * 1024 // a received batch, or a slab
)

// classes are these, and some between them for copies of what has to wait: it is charged by what it
// takes, which is at most twice its length from 128 bytes on, and mostly a quarter more.
var classes = [...]int{ClassSmall, 512, 1024, 1280, ClassDatagram, ClassRead, 2560, 3072, 4096, 5120, 6144, ClassWide, ClassBatch}

var (
	pools [len(classes)]sync.Pool
	inUse atomic.Int64
)

// Buffer is a byte buffer with a reference count. B is its memory; N is for the
// owner to note how much of B is in use. Retain and Release are safe for
// concurrent use; the bytes are not, and must not change once shared.
type Buffer struct {
	B     []byte
	N     int
	class int8
	refs  atomic.Int32
}

// Get returns a buffer with len(B) >= n, N == 0 and one reference. Requests above the
// largest class are served from the heap.
func Get(n int) *Buffer {
	inUse.Add(1)
	for i, size := range classes {
		if n > size {
			continue
		}
		b, _ := pools[i].Get().(*Buffer)
		if b == nil {
			b = &Buffer{B: make([]byte, size), class: int8(i)}
		}
		b.N = 0
		b.refs.Store(1)
		return b
	}
	b := &Buffer{B: make([]byte, n), class: -1}
	b.refs.Store(1)
	return b
}

// Fit returns the length of the buffer that Get(n) returns.
func Fit(n int) int {
	for _, size := range classes {
		if n <= size {
			return size
		}
	}
	return n
}

// Bytes returns B[:N].
func (b *Buffer) Bytes() []byte { return b.B[:b.N] }

// Retain adds a reference.
func (b *Buffer) Retain() {
	if b.refs.Add(1) <= 1 {
		panic("pool: retained a buffer that nobody owned")
	}
}

// RetainTimes adds n references.
func (b *Buffer) RetainTimes(n int) {
	if b.refs.Add(int32(n)) <= int32(n) {
		panic("pool: retained a buffer that nobody owned")
	}
}

// Shared reports whether somebody besides the caller holds a reference. Only the
// caller's own certainty that nobody is about to retain makes a false answer final.
func (b *Buffer) Shared() bool { return b.refs.Load() > 1 }

// Release drops a reference; the last one returns the buffer to its pool.
func (b *Buffer) Release() {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("pool: released a buffer more often than it was retained")
	}
	inUse.Add(-1)
	if b.class >= 0 {
		pools[b.class].Put(b)
	}
}

// InUse returns how many buffers are lent out, for leak checks.
func InUse() int64 { return inUse.Load() }
