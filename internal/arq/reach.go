package arq

import "github.com/raknet-go/raknet/internal/wire"

// reach says how far reliable frames may run ahead of the oldest one that is not
// acknowledged. Some peers acknowledge and drop what is too far above the first frame they
// miss, and then their channel stalls for good: so there is a bound, which costs speed on a
// fast path that loses, since one frame takes two round trips and more to come back.
//
// Nothing on the wire tells how far a peer goes. But a receiver of this library says its
// first ACKs again, and later ones while the path loses (see ackQueue), which no other
// implementation does, and goes far. So a peer that is seen to do that gets more. One that says who it is
// in the handshake gets it at once.
type reach struct {
	last   [2]uint32 // the highest numbers that were new in the last two ACKs, as on the wire
	acks   uint8     // of which there are so many
	score  uint8
	tries  uint8
	echoes bool // the peer says ACKs again
}

const (
	// reliableInFlight bounds the reliable indexes from the lowest unacknowledged
	// one to the next: beyond it some peers drop frames after acknowledging their
	// datagram. New reliable data waits; resends and unreliable data do not.
	reliableInFlight = 4096
	// wideInFlight is the same for a peer that says ACKs again. It stays below what this
	// library's receivers hold for order by default.
	wideInFlight = 18432
	// cleanInFlight is the same on a path that has lost nothing yet: less than half, so that
	// the first loss, which takes two round trips to mend, does not slow the flow.
	cleanInFlight = 8192
	// echoProof is how many ACKs must have named what the two before them named, less
	// echoDoubt for each that did not: a path that doubles datagrams makes any receiver
	// acknowledge some of them twice, but not all of them, and not in three ACKs.
	echoProof = 32
	echoDoubt = 8
	// echoTries is how many ACKs of a connection are looked at on a path that has lost nothing:
	// those that a receiver of this library says again are the first. Arbitrary.
	echoTries = 200
)

// learn looks at an ACK whose highest new number is newest. Lossy says that the path has
// lost something.
func (r *reach) learn(b []byte, newest, next int64, lossy bool) {
	if r.echoes || r.tries == echoTries && !lossy {
		return
	}
	r.tries = min(r.tries+1, echoTries)
	if int(r.acks) == len(r.last) {
		if names(b, expand24(r.last[0], next), next) && names(b, expand24(r.last[1], next), next) {
			r.score++
			r.echoes = r.score >= echoProof
		} else {
			r.score -= min(r.score, echoDoubt)
		}
	} else {
		r.acks++
	}
	r.last[1], r.last[0] = r.last[0], wire24(newest)
}

// inFlight is the bound, on a path that has lost something or has not.
func (r *reach) inFlight(lossy bool) int64 {
	switch {
	case !r.echoes:
		return reliableInFlight
	case lossy:
		return wideInFlight
	}
	return cleanInFlight
}

// MeetKin tells the engine that the peer is one of this library.
func (e *Engine) MeetKin() { e.reach.echoes, e.acks.kin = true, true }

// reliableReach is the bound that holds: the user's, who knows the peer, or what was learned.
func (e *Engine) reliableReach() int64 {
	if n := e.limits.ReliableInFlight; n > 0 {
		return int64(n)
	}
	return e.reach.inFlight(e.stats.DatagramsLost > 0)
}

// names reports whether an ACK names a datagram.
func names(b []byte, n, next int64) bool {
	it, err := wire.ParseRanges(b)
	if err != nil {
		return false
	}
	for x, ok := it.Next(); ok; x, ok = it.Next() {
		first := expand24(x.First, next)
		if n >= first && n <= first+int64((x.Last-x.First)&0xffffff) {
			return true
		}
	}
	return false
}
