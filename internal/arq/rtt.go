package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// rttEstimator keeps the smoothed round trip of RFC 6298 and two things that this
// protocol leaves to be learned: the least round trip, and how long the peer sits
// on its ACKs, since an ACK carries no delay field. Every transmission has a
// datagram number of its own, so a sample is never ambiguous (Karn's rule holds by
// construction).
type rttEstimator struct {
	srtt, rttvar, latest time.Duration
	min                  time.Duration // over the last minWindow
	minAt                monotime.Time
	ackDelay             time.Duration // a slowly falling maximum of sample - min
	samples              int32
	beat                 beat          // of the departures, to a peer that may wait for the second
	hint                 time.Duration // of the round trip, from before the first sample; 0: none
}

const (
	// initialRTO waits for the first answer: long enough for a peer that
	// acknowledges every 100 ms at 300 ms of distance, short enough that a lost
	// first datagram does not cost the original's 2 s.
	initialRTO = 500 * time.Millisecond
	// maxRTO is the original's cap.
	maxRTO = 2 * time.Second
	// assumedAckDelay is what a peer may sit on an ACK until enough samples tell:
	// the slowest in use acknowledges every 100 ms.
	assumedAckDelay = 100 * time.Millisecond
	// leastAckDelay is granted whatever was learned: a peer that answered at once so
	// far, as in the beginning of a connection or under load, may let the next lone
	// datagram wait for company. It is the original's tick; ours waits maxAckDelay.
	leastAckDelay = 10 * time.Millisecond
	// ackDelaySamples is how many samples it takes to trust what was learned.
	// Arbitrary.
	ackDelaySamples = 8
	// granularity is the least variation that a timeout allows for: timers here
	// overshoot by about a millisecond.
	granularity = 2 * time.Millisecond
	// hintedRTO is the least timeout that a hint allows. Arbitrary.
	hintedRTO = 100 * time.Millisecond
	// maxPause bounds how long backoff may keep a silent connection from trying again,
	// unless its timeout alone is longer: what comes after a blackout should flow
	// soon, and two datagrams in this time congest nothing.
	maxPause = 250 * time.Millisecond
	// unknownLeast stands for the least round trip until there is one. Arbitrary.
	unknownLeast = 50 * time.Millisecond
	// minWindow is how long a least round trip stays valid.
	minWindow = 10 * time.Second
)

func (r *rttEstimator) add(now monotime.Time, sample time.Duration) {
	if sample <= 0 {
		sample = 1
	}
	r.latest = sample
	if r.samples == 0 || sample <= r.min || now.Sub(r.minAt) > minWindow {
		r.min, r.minAt = sample, now
	}
	if r.samples == 0 {
		r.srtt, r.rttvar = sample, sample/2
	} else {
		diff := sample - r.srtt
		if diff < 0 {
			diff = -diff
		}
		r.rttvar += (diff - r.rttvar) / 4
		r.srtt += (sample - r.srtt) / 8
	}
	if d := min(sample-r.min, assumedAckDelay*2); d > r.ackDelay {
		r.ackDelay = d
	} else {
		r.ackDelay -= (r.ackDelay - d) / 16
	}
	r.samples++
}

// peerAckDelay is how long the peer must be granted to acknowledge.
func (r *rttEstimator) peerAckDelay() time.Duration {
	if r.samples < ackDelaySamples {
		return assumedAckDelay
	}
	if r.beat.granted() {
		return max(r.ackDelay, beatDelay)
	}
	return max(r.ackDelay, leastAckDelay)
}

// rto is the retransmission timeout without backoff.
func (r *rttEstimator) rto() time.Duration {
	if r.samples == 0 {
		if r.hint > 0 {
			return min(max(3*r.hint, hintedRTO)+assumedAckDelay, initialRTO)
		}
		return initialRTO
	}
	return min(r.srtt+max(4*r.rttvar, granularity)+r.peerAckDelay(), maxRTO)
}

// pause is the timeout after so many timeouts in a row.
func (r *rttEstimator) pause(backoff int) time.Duration {
	rto := r.rto()
	return min(rto<<backoff, max(rto, maxPause), maxRTO)
}

// flight is how long a datagram takes to be acknowledged, as things stand.
func (r *rttEstimator) flight() time.Duration {
	if r.samples == 0 {
		return initialRTO
	}
	return max(r.srtt, r.latest)
}

// least is a time in which no datagram is acknowledged yet.
func (r *rttEstimator) least() time.Duration {
	if r.samples == 0 {
		return unknownLeast
	}
	return r.min
}
