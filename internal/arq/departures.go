package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// departures keeps the rate of datagrams within Limits.Departures: some servers count what
// comes from an address, ACKs and all, and hear nothing more from it for minutes once it was too
// much. It remembers the last so many departures, so that no span, wherever it begins, holds more:
// the peer's clock ticks when it likes. It exists only where the limit is set.
type departures struct {
	span time.Duration
	at   []monotime.Time // a ring of the last len(at)
	next int             // the oldest, once full
	full bool
	now  monotime.Time // of the Transmit under way
	shut bool          // the last Transmit came too early
}

// handshakeDepartures is how many datagrams are taken to have left just before the connection
// began, in its handshake. With so few allowed that it would be more than a quarter, it is less.
const handshakeDepartures = 4

func newDepartures(now monotime.Time, l *Limits) *departures {
	if l.Departures <= 0 {
		return nil
	}
	d := &departures{span: l.DepartureSpan, at: make([]monotime.Time, l.Departures), now: now}
	for range min(handshakeDepartures, l.Departures/4) {
		d.left()
	}
	return d
}

// open reports whether a datagram may leave now.
func (d *departures) open(now monotime.Time) bool {
	d.now = now
	d.shut = d.full && now < d.opens()
	return !d.shut
}

// opens is when the next one may leave, once full.
func (d *departures) opens() monotime.Time { return d.at[d.next].Add(d.span) }

// left notes that one leaves.
func (d *departures) left() {
	d.at[d.next] = d.now
	if d.next++; d.next == len(d.at) {
		d.next, d.full = 0, true
	}
}
