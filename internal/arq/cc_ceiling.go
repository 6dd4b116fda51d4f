package arq

import (
	"math"

	"github.com/raknet-go/raknet/internal/monotime"
)

// ceiling bounds what a controller may have in flight once there was congestion. A loss
// cuts it to a part of what was in flight, and it grows back along CUBIC's curve (RFC
// 9438): flows that fill the same queue and lose in it at the same time come to equal
// shares, those of TCP among them. The zero value is none.
type ceiling struct {
	bytes  int // 0: none
	*curve     // nil: none
}

// curve is how a ceiling grows back.
type curve struct {
	peak float64       // bytes in flight at the last cut
	k    float64       // seconds from the cut until the curve is back at peak
	at   monotime.Time // of the cut
	reno float64       // bytes that Reno's line allows
	old  *ceiling      // as it was before the last cut
}

// ceilingLift is what lift leaves, as a multiple. Arbitrary.
const ceilingLift = 1.1

// cut lowers the ceiling below what is flying, but not below least.
func (c *ceiling) cut(now monotime.Time, mtu, flying, least int) {
	old := *c
	bytes := max(int(cubicBeta*float64(flying)), least)
	peak := float64(flying)
	if old.curve != nil {
		old.old = nil
		if peak < old.peak {
			peak *= (1 + cubicBeta) / 2 // fast convergence: leave room to newer flows
		}
	}
	peak = max(peak, float64(bytes))
	k := math.Cbrt((peak - float64(bytes)) / float64(mtu) / cubicScale)
	*c = ceiling{bytes, &curve{peak: peak, k: k, at: now, reno: float64(bytes), old: &old}}
}

// restore takes back the last cut, which was a false alarm.
func (c *ceiling) restore() {
	if c.curve != nil && c.old != nil {
		*c = *c.old
	}
}

// grow raises the ceiling as time passes.
func (c *ceiling) grow(now monotime.Time, mtu int, newRound bool) {
	if c.bytes == 0 {
		return
	}
	if newRound {
		c.reno += 3 * (1 - cubicBeta) / (1 + cubicBeta) * float64(mtu)
	}
	t := now.Sub(c.at).Seconds() - c.k
	c.raise(max(c.peak+cubicScale*t*t*t*float64(mtu), c.reno))
}

// lift raises the ceiling quickly, because nobody else seems to want the path.
func (c *ceiling) lift() { c.raise(ceilingLift * float64(c.bytes)) }

// raise goes away with the ceiling when that bounds nothing any more.
func (c *ceiling) raise(to float64) {
	if to > maxWindow {
		*c = ceiling{}
		return
	}
	c.bytes = max(c.bytes, int(to))
}
