package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// pathDelay tells the delay of a path from the delay of the queue in front of it. It
// keeps the least round trip, and what is more than that is the queue.
type pathDelay struct {
	min, latest time.Duration
	minAt       monotime.Time // when the least was seen last, about
	inRound     time.Duration // least of this round; 0: no sample yet
	lastRound   time.Duration // least of the round before
	sum         time.Duration // of the queue's delays in this round
	queuedAt    monotime.Time // when the first of the queued was seen
	queued      int32         // round trips in a row up to now that show a queue
	samples     int32         // in this round
	lastSamples int32         // of the round before
	losses      int32         // so far, up to lossMemory

	usual  time.Duration // delay in the queue, smoothed over round trips
	atLoss time.Duration // the same when losses came to light, smoothed over these
}

const (
	// minFresh is how long a least round trip counts that was not seen again. A flow
	// whose queue runs empty now and then, as when it has the path for itself, sees it all
	// the time.
	minFresh = 5 * time.Second
	// leastStanding is what a queue must hold throughout a round trip to be called
	// standing: this, and at least an eighth of the least round trip, which is half of what
	// a probe builds up. Arbitrary, but above what timers and a good peer's ACKs add.
	leastStanding = 5 * time.Millisecond
	// buildingSamples is how many round trips of a round must show a queue (RFC 9406).
	buildingSamples = 8
	// fillingSamples and fillingShare are how many round trips in a row must show a queue, and for
	// what part of the least one, for it to be filling: a machine that was held up for
	// a moment delivers as many at once. Arbitrary.
	fillingSamples = 16
	fillingShare   = 16
	// sparseStanding is leastStanding for rounds with few samples: then the peer may let
	// each ACK wait for company. A little more than the original engine's tick.
	sparseStanding = 12 * time.Millisecond
	// lossMemory is over how many round trips, and how many losses, delays are smoothed.
	// Losses at random come with the usual delay in the mean; over 16 of them the mean is
	// still so rough that it is mistaken for a full queue too often (in the laboratory a
	// path with 5 % loss then carries 83 % instead of 90 %), over 64 it follows a path
	// too slowly.
	lossMemory = 32
	// tellingDelay is by how much more than twice the usual delay the delay at losses must
	// stand out. Arbitrary: the granularity of timers.
	tellingDelay = 2 * time.Millisecond
)

// add takes a round trip into account; 0 is none.
func (p *pathDelay) add(now monotime.Time, rtt time.Duration) {
	if rtt <= 0 {
		return
	}
	p.latest = rtt
	if !p.isQueue(rtt) {
		p.queued = 0
	} else if p.queued++; p.queued == 1 {
		p.queuedAt = now
	}
	if p.min == 0 || rtt < p.min {
		p.min = rtt
	}
	if rtt <= p.min+p.min/16 {
		p.minAt = now
	}
	if p.inRound == 0 || rtt < p.inRound {
		p.inRound = rtt
	}
	p.sum += rtt - p.min
	p.samples++
}

func (p *pathDelay) endRound() {
	if p.samples == 0 {
		return
	}
	p.usual += (p.sum/time.Duration(p.samples) - p.usual) / lossMemory
	p.lastRound, p.lastSamples = p.inRound, p.samples
	p.inRound, p.sum, p.samples = 0, 0, 0
}

// lost takes into account how long the queue is as a loss comes to light.
func (p *pathDelay) lost() {
	p.atLoss += (p.latest - p.min - p.atLoss) / lossMemory
	p.losses = min(p.losses+1, lossMemory)
}

// isQueue reports whether a round trip is so long that there must be a queue.
func (p *pathDelay) isQueue(rtt time.Duration) bool {
	return rtt > p.min+max(p.min/8, leastStanding)
}

// standing reports whether the queue did not run empty in the round before.
func (p *pathDelay) standing() bool {
	return p.isQueue(p.lastRound) && (p.lastSamples >= buildingSamples || p.lastRound > p.min+sparseStanding)
}

// building reports whether the queue has not been empty in this round so far.
func (p *pathDelay) building() bool {
	return p.samples >= buildingSamples && p.isQueue(p.inRound)
}

// filling reports whether a queue has been there for a while, in the middle of a round
// trip or not.
func (p *pathDelay) filling(now monotime.Time) bool {
	return p.queued >= fillingSamples && now.Sub(p.queuedAt) >= p.min/fillingShare
}

// telling reports whether losses have come when the queue was long: then they came from
// there. A path that loses at random does so whatever its queue.
func (p *pathDelay) telling() bool {
	return p.losses >= lossMemory && p.atLoss > 2*p.usual+tellingDelay
}

// long reports whether the queue is about as long as it has been at losses.
func (p *pathDelay) long() bool { return p.latest-p.min > p.atLoss/2 }

// stale reports whether the least round trip was not seen for long.
func (p *pathDelay) stale(now monotime.Time) bool {
	return p.min > 0 && now.Sub(p.minAt) > minFresh
}

// replace takes the least of what was seen since the last round ended for the least
// there is.
func (p *pathDelay) replace(now monotime.Time) {
	p.min, p.minAt = p.latest, now
	if p.inRound > 0 {
		p.min = p.inRound
	}
}
