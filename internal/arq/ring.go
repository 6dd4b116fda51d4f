package arq

// ring is a queue of values numbered without a gap, looked up by number in
// constant time. It grows as it fills, up to its limit, and gives memory back some
// time after a burst.
type ring[T any] struct {
	buf    []T // a power of two, or nil
	lo, hi int64
	limit  int
	slack  slack
}

// ringMin is the first size of a ring. Arbitrary.
const ringMin = 16

// init empties the ring: the first value pushed has the number first, and at most
// limit values are held.
func (r *ring[T]) init(first int64, limit int) { *r = ring[T]{lo: first, hi: first, limit: limit} }

// len returns how many values are held: those numbered from lo up to but not including hi.
func (r *ring[T]) len() int { return int(r.hi - r.lo) }

// at returns the value numbered n, or nil if it is not held. The pointer is good
// until the next push or pop.
func (r *ring[T]) at(n int64) *T {
	if n < r.lo || n >= r.hi {
		return nil
	}
	return &r.buf[n&int64(len(r.buf)-1)]
}

// push adds a zero value numbered hi and returns it, or nil if the ring is full.
func (r *ring[T]) push() *T {
	n := r.len()
	if n == len(r.buf) {
		if n >= r.limit {
			return nil
		}
		r.grow()
	} else if n >= r.limit {
		return nil
	}
	r.slack.used(n + 1)
	r.hi++
	return &r.buf[(r.hi-1)&int64(len(r.buf)-1)]
}

// pop drops the value numbered lo and zeroes it. An empty ring stays as it is.
func (r *ring[T]) pop() {
	if r.lo == r.hi {
		return
	}
	var zero T
	r.buf[r.lo&int64(len(r.buf)-1)] = zero
	r.lo++
	if r.lo == r.hi && r.slack.emptied(len(r.buf), ringMin) {
		r.buf = nil
	}
}

func (r *ring[T]) grow() {
	buf := make([]T, max(ringMin, 2*len(r.buf)))
	for n := r.lo; n < r.hi; n++ {
		buf[n&int64(len(buf)-1)] = r.buf[n&int64(len(r.buf)-1)]
	}
	r.buf = buf
}

// slack decides when storage that grew in a burst is given back: not at once, or a
// connection whose load comes in waves would allocate in every one of them, but
// when it has run empty slackRounds times in a row without using a quarter.
type slack struct {
	peak   int
	rounds uint8
}

const slackRounds = 64 // arbitrary

// used notes that n places are in use.
func (s *slack) used(n int) {
	if n > s.peak {
		s.peak = n
	}
}

// emptied notes that none is, and reports whether storage of the given capacity
// should be dropped. Storage of up to keep places never is.
func (s *slack) emptied(capacity, keep int) bool {
	if s.peak*4 > capacity || capacity <= keep {
		s.rounds = 0
	} else {
		s.rounds++
	}
	s.peak = 0
	if s.rounds < slackRounds {
		return false
	}
	s.rounds = 0
	return true
}
