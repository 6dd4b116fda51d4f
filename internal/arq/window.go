package arq

import "math/bits"

// arrivals remembers which datagram numbers came. The original engine does not,
// and so delivers the unreliable messages of a duplicated datagram twice.
//
// While everything comes in order, next says it all. There is a bitmap once a number
// was skipped, until the connection rests.
type arrivals struct {
	next int64          // one above the highest number accepted
	from int64          // the first number expected; lower ones count as seen
	full int64          // lower ones came all, as far as anybody asks
	old  int64          // lower ones are no longer told apart
	seen *[len64]uint64 // bits of the numbers from full up to next; or nil
}

const (
	// arrivalWindow is how many numbers below next are remembered one by one. It
	// takes 512 bytes once one was skipped, and exceeds what a path reorders by a wide margin.
	arrivalWindow = 4096
	// arrivalSkip is how far above next a number may lie. The original engine has
	// the same bound. It cannot be small: resent frames travel under new, higher
	// numbers, so a peer whose datagrams were lost for a second or two would never
	// get below a bound that it once passed. Work per datagram does not depend on it.
	arrivalSkip = 50_000
)

// arrival is what arrivals says about a number.
type arrival uint8

const (
	arrivalNew       arrival = iota
	arrivalDuplicate         // came before: acknowledge again, since the ACK may have been lost
	// arrivalTooOld numbers are below the window, so nobody knows whether they came.
	// Reliable frames in such a datagram are safe to take, for they have a window of
	// their own; unreliable ones are not.
	arrivalTooOld
	arrivalTooFar // no peer jumps that far: drop the datagram and do not acknowledge it
)

// init starts the window: first is the first number expected. Lower ones count as seen.
func (w *arrivals) init(first int64) {
	*w = arrivals{next: first, from: first, full: first, old: first - arrivalWindow}
}

// probe says what accept would, and changes nothing.
func (w *arrivals) probe(n int64) arrival {
	switch {
	case n >= w.next:
		if n-w.next > arrivalSkip {
			return arrivalTooFar
		}
		return arrivalNew
	case n < max(w.next-arrivalWindow, w.old):
		return arrivalTooOld
	case n < w.full, w.seen[n>>6&(len64-1)]&(1<<(n&63)) != 0:
		return arrivalDuplicate
	}
	return arrivalNew
}

// accept notes that datagram n came. When n is new and not below next, every
// number from the old next up to but not including n is missing so far.
func (w *arrivals) accept(n int64) arrival {
	if n == w.next && n == w.full {
		w.next++
		w.full++
		return arrivalNew
	}
	v := w.probe(n)
	if v != arrivalNew {
		return v
	}
	if n >= w.next {
		if w.seen == nil {
			w.seen = new([len64]uint64)
		}
		w.forget(n)
		w.next = n + 1
	}
	w.mark(n)
	if n == w.full || w.full < w.next-arrivalWindow {
		w.full = max(w.full, w.next-arrivalWindow)
		w.advance()
	}
	return arrivalNew
}

// rest gives the bitmap back. Of what was missing until now nobody will be able to tell
// whether it came.
func (w *arrivals) rest() {
	if w.full < w.next {
		w.full, w.old = w.next, w.next
	}
	w.seen = nil
}

const len64 = arrivalWindow / 64

// mark sets the bit of n. Its place last belonged to n-arrivalWindow, which is now
// below the window.
func (w *arrivals) mark(n int64) { w.seen[n>>6&(len64-1)] |= 1 << (n & 63) }

// advance moves full over the numbers that came, a word at a time.
func (w *arrivals) advance() {
	for w.full < w.next {
		n := bits.TrailingZeros64(^(w.seen[w.full>>6&(len64-1)] >> (w.full & 63)))
		if n == 0 {
			return
		}
		w.full = min(w.full+int64(n), w.next)
	}
}

// forget clears the bits from next up to but not including n.
func (w *arrivals) forget(n int64) {
	if n-w.next >= arrivalWindow {
		clear(w.seen[:])
		return
	}
	for at := w.next; at < n; {
		end := min(at|63+1, n)
		ones := ^uint64(0) << (at & 63)
		if end&63 != 0 {
			ones &= 1<<(end&63) - 1
		}
		w.seen[at>>6&(len64-1)] &^= ones
		at = end
	}
}
