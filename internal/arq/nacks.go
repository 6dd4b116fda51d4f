package arq

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
)

// nackQueue collects the datagram numbers found missing. Each is reported at once and once,
// and again only where that does not help: see nackAgain.
type nackQueue struct{ *gaps } // nil: nothing was missing lately

// gaps is what is missing.
type gaps struct {
	missing rangeSet // numbers to report
	again   nackAgain
}

const (
	// nackGap is how many numbers of one gap are reported, the nearest ones. The
	// original has the same bound.
	nackGap = 1000
	// nackRanges bounds the ranges pending; one too many drops the oldest, which
	// the peer then finds lost by its own means.
	nackRanges = 256
)

// gap notes that the numbers from lo up to but not including hi were skipped.
func (q *nackQueue) gap(lo, hi int64) {
	if q.gaps == nil {
		q.gaps = &gaps{missing: rangeSet{limit: nackRanges}, again: newNackAgain()}
	}
	lo = max(lo, hi-nackGap)
	q.missing.add(lo, hi)
	q.again.unheard.add(lo, hi)
}

// cancel takes numbers back that are not to be asked for.
func (q *nackQueue) cancel(lo, hi int64) {
	if q.gaps != nil {
		q.missing.remove(lo, hi)
		q.again.unheard.remove(lo, hi)
	}
}

// rest gives back memory.
func (q *nackQueue) rest() {
	if !q.pending() && q.deadline() == monotime.Never {
		q.gaps = nil
	}
}

// arrived cancels the report of n, which came late.
func (q *nackQueue) arrived(n int64) { q.cancel(n, n+1) }

// pending reports whether any number waits to be reported.
func (q *nackQueue) pending() bool { return q.gaps != nil && q.missing.len() > 0 }

// deadline is when it must be looked at again.
func (q *nackQueue) deadline() monotime.Time {
	if q.gaps == nil {
		return monotime.Never
	}
	return q.again.at
}

// append adds one NACK datagram of at most maxSize bytes to dst and forgets what
// it names, oldest first; call again for the rest. It returns nil when nothing is pending.
func (q *nackQueue) append(dst []byte, maxSize int) []byte {
	if q.gaps == nil {
		return nil
	}
	return appendRanges(dst, wire.NACKID, maxSize, &q.missing)
}
