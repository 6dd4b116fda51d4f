package session

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

const (
	// strikeBurst and strikeInterval are the budget for datagrams that no correct
	// peer sends: a hundred at once, fifty a second. Filled by a hostile or broken
	// peer, or by somebody who forges its address; over it this connection
	// ends with ErrViolations, and nothing happens to the address.
	strikeBurst    = 100
	strikeInterval = time.Second / 50
	// pongBurst and pongInterval bound the pongs of a connection: five at once,
	// twenty a second. A peer that pings more often gets the newest of its
	// held-back pings answered when the next pong may leave.
	pongBurst    = 5
	pongInterval = time.Second / 20
)

// bucket limits a rate: burst at once, then one per interval. It holds the moment
// at which it would be full again, which is all that it needs to know.
type bucket struct{ full monotime.Time }

// take reports whether one more fits at now, and counts it if so.
func (b *bucket) take(now monotime.Time, interval time.Duration, burst int) bool {
	if b.ready(interval, burst) > now {
		return false
	}
	b.full = max(b.full, now).Add(interval)
	return true
}

// ready returns from when on take succeeds.
func (b *bucket) ready(interval time.Duration, burst int) monotime.Time {
	return b.full.Add(-interval * time.Duration(burst-1))
}
