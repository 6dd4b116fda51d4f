package udp

import (
	"math"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch is how a reader waits for the answer to what was just sent, where answers come at once: during a vigil it
// looks again and again for a moment before it sleeps, and between two looks lets others have the processor. So
// nobody has to be woken. To wake a thread on another processor takes some 50 us on a virtual machine that gives idle
// processors back to its host, and whether the two ends of an exchange share one is up to chance. There a message there
// and back took 35 us at the median and 266 at the ninety-ninth percentile (seven runs in turns); with it 20 and 128.
//
// It is for a reader with a single peer (Poller.Alone) who asks or answers, one datagram each time. Others have
// something to do besides, or do better to take much at once. So one peer can keep one processor busy, while there is no
// other. Its thread keeps a processor's place from other goroutines for as long as it looks, and offers it to them every
// watchGive; there are never more of them than vigils.
type watch struct {
	alone  bool         // there is a single peer; the reader's
	asked  atomic.Int32 // what was sent since the last wait began: nothing, askedLittle or askedMuch
	asks   int32        // what that was when this wait began
	row    int8         // waits for one datagram each, after little was sent, less twice the others
	doubt  int8         // grows with looks in vain and with those that others had the processor during
	skip   int16        // waits that are not to be watched
	atOnce bool         // the last look found something at once
	gave   time.Time    // when goroutines were last offered the processor

	// lookCall and what else a look needs; tests put something else in their place.
	call  func(fd uintptr, h *mmsghdr) (int, syscall.Errno)
	now   func() time.Time
	yield func()
	give  func()
}

func (w *watch) init() { w.call, w.now, w.yield, w.give = lookCall, time.Now, yield, runtime.Gosched }

const (
	askedLittle = 1 + iota // a datagram and an ACK at most, and less than a transfer has in each
	askedMuch
)

const (
	// watchTime is how long a reader looks: some exchanges. Arbitrary: with half of it and with twice it is no different.
	watchTime = 120 * time.Microsecond
	// watchBytes is how long a datagram of an exchange may be: shorter than those of a transfer, of which the reader would
	// take fewer at a time.
	watchBytes = 1200
	// watchAfter is what row must be, and watchRow the most that it is. How long the waits took does not matter: what takes long
	// may be to wake the threads. Arbitrary.
	watchAfter = 8
	watchRow   = 16
	// watchLap is what is too long for one look: somebody else had the processor, and would not have had it if the
	// datagram had woken the reader. The next lapSkip waits are not watched then. Both arbitrary.
	watchLap = 500 * time.Microsecond
	lapSkip  = 32
	// watchGive is about how long goroutines wait for what a watch keeps from them. Much less would wake
	// a thread to look for them, mostly in vain, as often as there are exchanges. Arbitrary.
	watchGive = 2 * time.Millisecond
	// When one look in five is in vain, or one in twenty took too long, the next watchSkip waits are not watched: on a
	// path that is not that short, or on a machine that has other work. All arbitrary.
	vainDoubt  = 4
	lapDoubt   = 20
	watchDoubt = 100
	watchSkip  = 1024
)

// sent notes that so many datagrams are sent, of which the longest has so many bytes. Whoever sends may call it.
func (w *watch) sent(datagrams, bytes int) {
	was, is := w.asked.Load(), int32(askedLittle)
	if was != 0 || datagrams > 2 || bytes > watchBytes {
		is = askedMuch
	}
	if was != is {
		w.asked.Store(is)
	}
}

// begins notes that a wait begins, and reports whether it is worth looking.
func (w *watch) begins() bool {
	if w.asks = w.asked.Load(); w.asks != 0 {
		w.asks = w.asked.Swap(0)
	}
	if w.skip > 0 {
		w.skip--
		return false
	}
	return w.alone && w.row >= watchAfter
}

// ended notes what a wait brought.
func (w *watch) ended(messages, bytes int) {
	switch {
	case messages != 1 || bytes > watchBytes:
		w.row = 0
	case w.asks == askedLittle:
		w.row = min(w.row+1, watchRow)
	default: // an ACK came, or left on its own, as from time to time in every exchange
		w.row = max(w.row-2, 0)
	}
}

// look waits for one datagram into h in that way, and begins now. Without one and without an error it was in vain.
func (w *watch) look(fd uintptr, h *mmsghdr, began time.Time) (n int, errno syscall.Errno) {
	last := began
	if began.Sub(w.gave) > watchGive {
		w.gave = began
		w.give()
	}
	for first := true; ; first = false {
		n, errno = w.call(fd, h)
		now := w.now()
		found, stolen := errno != unix.EAGAIN && errno != unix.EINTR, now.Sub(last) > watchLap
		switch {
		case refusesToWait(errno): // nor does such a system know of this call
			w.skip = math.MaxInt16
			return 0, 0
		case stolen:
			w.doubts(lapDoubt, lapSkip)
		case found:
			w.doubt = max(w.doubt-1, 0)
		}
		if found {
			w.atOnce = first
			return n, errno
		}
		if stolen || now.Sub(began) > watchTime {
			w.doubts(vainDoubt, 1)
			return 0, 0
		}
		last = now
		w.yield()
	}
}

// doubts makes it less likely that the next waits are watched, and leaves out so many at least.
func (w *watch) doubts(by int8, skip int16) {
	w.skip = max(w.skip, skip)
	if w.doubt += by; w.doubt >= watchDoubt {
		w.doubt, w.skip = watchDoubt/2, watchSkip
	}
}
