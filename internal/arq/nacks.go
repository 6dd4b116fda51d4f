package arq

import "github.com/raknet-go/raknet/internal/wire"

// nackQueue collects the datagram numbers found missing. Each is reported once:
// the loss of a NACK is left to the peer's timer, as in the original engine.
type nackQueue struct{ missing *rangeSet } // nil: nothing was missing lately

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
	if q.missing == nil {
		q.missing = &rangeSet{limit: nackRanges}
	}
	q.missing.add(max(lo, hi-nackGap), hi)
}

// rest gives back memory.
func (q *nackQueue) rest() {
	if !q.pending() {
		q.missing = nil
	}
}

// arrived cancels the report of n, which came late.
func (q *nackQueue) arrived(n int64) {
	if q.missing.len() > 0 {
		q.missing.remove(n, n+1)
	}
}

// pending reports whether any number waits to be reported.
func (q *nackQueue) pending() bool { return q.missing.len() > 0 }

// append adds one NACK datagram of at most maxSize bytes to dst and forgets what
// it names, oldest first; call again for the rest. It returns nil when nothing is pending.
func (q *nackQueue) append(dst []byte, maxSize int) []byte {
	return appendRanges(dst, wire.NACKID, maxSize, q.missing)
}
