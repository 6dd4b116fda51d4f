package session

import "github.com/raknet-go/raknet/internal/monotime"

// timerKind names one of a connection's deadlines.
type timerKind uint8

const (
	timerHandshake timerKind = iota // the handshake has failed; after it, a disconnect that was doubted is believed
	timerPing                       // see whether a ping is due
	timerIdle                       // see whether the peer is dead
	timerUnacked                    // see whether the peer acknowledges nothing
	timersUsual                     // what follows has no place in a connection on which nothing happens
)

const (
	timerRequest timerKind = timersUsual + iota // send the connection request again
	timerPong                                   // a pong that was held back may leave
	timerStall                                  // the application has not read for too long
	timerClose                                  // drain, farewell or linger is over
	timerKinds
)

// timers is the fixed table of a connection's deadlines: the next is the least.
// Timers that move with every datagram (ping, idle, unacked) are not re-armed by
// it: they fire at the earliest moment that could matter, look, and arm again.
type timers struct {
	at   [timersUsual]monotime.Time
	rare *rareTimers // nil: none of these is armed
	// requested is the deadline last given to the caller: waking much later
	// than that means that the process, not the peer, was asleep.
	requested monotime.Time
}

// rareTimers are those of the kinds from timersUsual on.
type rareTimers struct {
	at       [timerKinds - timersUsual]monotime.Time
	pongOwed int64 // the newest held-back ping's time, while timerPong is armed
}

func (t *timers) clear() {
	for i := range t.at {
		t.at[i] = monotime.Never
	}
	t.rare = nil
}

// of returns when k comes.
func (t *timers) of(k timerKind) monotime.Time {
	switch {
	case k < timersUsual:
		return t.at[k]
	case t.rare == nil:
		return monotime.Never
	}
	return t.rare.at[k-timersUsual]
}

func (t *timers) set(k timerKind, at monotime.Time) {
	if k < timersUsual {
		t.at[k] = at
		return
	}
	if t.rare == nil {
		if at == monotime.Never {
			return
		}
		t.rare = new(rareTimers)
		for i := range t.rare.at {
			t.rare.at[i] = monotime.Never
		}
	}
	t.rare.at[k-timersUsual] = at
}

func (t *timers) stop(k timerKind)       { t.set(k, monotime.Never) }
func (t *timers) armed(k timerKind) bool { return t.of(k) != monotime.Never }

// due reports whether k has come, and disarms it.
func (t *timers) due(k timerKind, now monotime.Time) bool {
	if t.of(k) > now {
		return false
	}
	t.stop(k)
	return true
}

func (t *timers) next() monotime.Time {
	first := t.at[0]
	for _, at := range t.at[1:] {
		first = min(first, at)
	}
	if t.rare != nil {
		for _, at := range t.rare.at {
			first = min(first, at)
		}
	}
	return first
}

// rest gives back memory.
func (t *timers) rest() {
	if t.rare == nil {
		return
	}
	for _, at := range t.rare.at {
		if at != monotime.Never {
			return
		}
	}
	t.rare = nil
}
