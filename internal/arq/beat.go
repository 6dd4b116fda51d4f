package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// beat tells when a peer of this library sends one datagram every so often, as a game server does with each of its
// ticks. Each of them, alone for longer than an ACK is held back, would draw an ACK of its own: half of all the
// datagrams of a game. In a steady beat an ACK leaves with every second datagram instead, and at once, so that the
// round trip that it shows is none longer.
//
// Who waits for each answer before it sends the next has a beat as well, that of the ACKs: it must be told
// apart, or it would go slower. It breaks its beat as soon as an ACK waits for the second datagram.
//
// The sender looks at its own departures in the same way, and grants the time. It is more generous, since the
// path may hide what made it lose the beat.
type beat struct {
	last  uint16 // when there was a datagram, but those within rideAge of another, in units of beatUnit; it wraps
	score uint8
	count uint8 // beats since the last ACK
}

const (
	// beatLeast and beatMost are how far apart datagrams may come: ticks of 40 to 100 in a second, and some jitter. What waits
	// for an ACK that waits for company, on a path of no length, comes after less than the first.
	beatLeast = 10 * time.Millisecond
	beatMost  = 24 * time.Millisecond
	// beatSlip is by how much the sender's gaps may be longer than those that its peer sees.
	beatSlip = 4 * time.Millisecond
	// beatDelay is how long an ACK waits for the second datagram. It is longer than beatMost, so that who
	// waits for it leaves the beat.
	beatDelay = 25 * time.Millisecond
	// beatSteady is how many beats in a row there must be. Arbitrary.
	beatSteady = 8
	// beatUnit is what time is counted in: 16 bits hold 16 s of it, and a pause of a multiple of that counts for one beat.
	beatUnit = 250 * time.Microsecond
)

// note takes notice of a datagram. A gap may be longer than beatMost by slip.
func (b *beat) note(now monotime.Time, slip time.Duration) {
	at := uint16(now / monotime.Time(beatUnit))
	gap := time.Duration(at-b.last) * beatUnit
	if gap < rideAge {
		return
	}
	b.last = at
	b.count = min(b.count+1, beatSteady)
	switch {
	case gap > beatMost+slip:
		b.score = 0
	case gap >= beatLeast:
		b.score = min(b.score+1, beatSteady)
	case b.score > 0:
		b.score-- // jitter: the one before was late
	}
}

// granted reports whether the peer may wait for the second of the datagrams that depart.
func (b *beat) granted() bool { return b.score >= beatSteady/2 }

// steady reports whether there is a beat.
func (b *beat) steady() bool { return b.score == beatSteady }

// deadline returns when the datagrams of which the oldest came at since are to be acknowledged.
func (b *beat) deadline(since monotime.Time) monotime.Time {
	if b.count > 1 {
		return since
	}
	return since.Add(beatDelay)
}
