package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// nackAgain says a NACK again when a reliable frame stays away. Most peers send again what is not acknowledged,
// and need no NACK for that; some (jsp-raknet, and others that answer nothing but NACKs) send a frame again only when
// a NACK names its datagram, and when that one NACK is lost the channel would stand still for good. To everybody else
// it is a datagram that names nothing they still have: the original engine sends the frames of it once more that
// it has no ACK of.
type nackAgain struct {
	unheard rangeSet      // numbers that were reported and never came
	at      monotime.Time // when to look; Never: no reliable frame is missing
	base    int64         // the reliable index that was missing when it was last looked at
	times   uint8
}

const (
	// nackPatience is how long one reliable frame must have been missing: longer than the resend timers of those
	// who have one. It doubles each time.
	nackPatience = time.Second
	// nackTimes is how many times the numbers are said again. Arbitrary.
	nackTimes = 4
)

func newNackAgain() nackAgain {
	return nackAgain{unheard: rangeSet{limit: nackRanges}, at: monotime.Never}
}

// missed starts the clock, if it does not run.
func (e *Engine) missed(now monotime.Time) {
	if a := &e.nacks.again; a.at == monotime.Never && !e.reach.echoes {
		a.base, a.times = e.reliable.base, 0
		a.at = now.Add(nackPatience)
	}
}

// nackLate says NACKs again, if a reliable frame has been missing for too long.
func (e *Engine) nackLate(now monotime.Time) {
	a := &e.nacks.again
	switch {
	case e.reliable.ahead() == 0 || e.reach.echoes: // nothing is missing, or the peer has timers
		a.at = monotime.Never
		a.unheard.init(nackRanges)
	case e.reliable.base != a.base: // another one
		a.base, a.times = e.reliable.base, 0
		a.at = now.Add(nackPatience)
	case a.times == nackTimes: // enough was said, until another is missing
		a.at = monotime.Never
	default:
		for _, r := range a.unheard.spans {
			e.nacks.missing.add(r.lo, r.hi)
		}
		a.times++
		a.at = now.Add(nackPatience << a.times)
	}
}
