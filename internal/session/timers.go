package session

import "github.com/raknet-go/raknet/internal/monotime"

// timerKind names one of a connection's deadlines.
type timerKind uint8

const (
	timerHandshake timerKind = iota // the handshake has failed; after it, a disconnect that was doubted is believed
	timerRequest                    // send the connection request again
	timerPing                       // see whether a ping is due
	timerPong                       // a pong that was held back may leave
	timerIdle                       // see whether the peer is dead
	timerUnacked                    // see whether the peer acknowledges nothing
	timerStall                      // the application has not read for too long
	timerClose                      // drain, farewell or linger is over
	timerKinds
)

// timers is the fixed table of a connection's deadlines: the next is the least.
// Timers that move with every datagram (ping, idle, unacked) are not re-armed by
// it: they fire at the earliest moment that could matter, look, and arm again.
type timers struct {
	at [timerKinds]monotime.Time
	// requested is the deadline last given to the caller: waking much later
	// than that means that the process, not the peer, was asleep.
	requested monotime.Time
}

func (t *timers) clear() {
	for i := range t.at {
		t.at[i] = monotime.Never
	}
}

func (t *timers) set(k timerKind, at monotime.Time) { t.at[k] = at }
func (t *timers) stop(k timerKind)                  { t.at[k] = monotime.Never }
func (t *timers) armed(k timerKind) bool            { return t.at[k] != monotime.Never }

// due reports whether k has come, and disarms it.
func (t *timers) due(k timerKind, now monotime.Time) bool {
	if t.at[k] > now {
		return false
	}
	t.at[k] = monotime.Never
	return true
}

func (t *timers) next() monotime.Time {
	first := t.at[0]
	for _, at := range t.at[1:] {
		first = min(first, at)
	}
	return first
}
