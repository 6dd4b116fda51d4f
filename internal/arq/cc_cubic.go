package arq

import (
	"math"

	"github.com/raknet-go/raknet/internal/monotime"
)

// cubic is the congestion control of RFC 9438: after a loss the window returns along a
// cubic curve to where it was, stays there for a while and then probes beyond. It takes
// every loss for congestion, as TCP does, so it shares a link fairly with TCP and makes
// little of a path that loses at random.
type cubic struct {
	mtu, window, threshold int
	peak                   float64       // window before the last reduction, in datagrams
	origin                 float64       // seconds from the reduction to the return to peak
	since                  monotime.Time // of the reduction; 0: none yet
	reno                   float64       // what NewReno would have by now, in datagrams
	recoverAt              int64         // losses of datagrams below this number belong to the last reduction
	silent                 bool          // since a timeout
	undo                   cubicUndo
}

type cubicUndo struct {
	window, threshold int
	peak, origin      float64
	since             monotime.Time
	valid             bool
}

const (
	cubicBeta  = 0.7 // what a reduction leaves of the window
	cubicScale = 0.4 // C of RFC 9438, datagrams per second cubed
)

// NewCubic makes a CUBIC controller.
func NewCubic(mtu int) Controller {
	return &cubic{mtu: mtu, window: initialDatagrams * mtu, threshold: math.MaxInt}
}

func (c *cubic) OnSent(monotime.Time, int, int) {}

func (c *cubic) OnAck(now monotime.Time, a AckSample) {
	c.silent = false
	if !a.WindowLimited {
		return
	}
	if c.window < c.threshold {
		c.window = min(c.window+a.Bytes, maxWindow)
		return
	}
	if c.since.IsZero() {
		c.since, c.peak, c.origin = now, c.datagrams(), 0
		c.reno = c.datagrams()
	}
	acked := float64(a.Bytes) / float64(c.mtu)
	t := now.Sub(c.since).Seconds() + a.SRTT.Seconds()
	target := cubicScale*math.Pow(t-c.origin, 3) + c.peak
	// In the region where NewReno would be faster, be as fast.
	c.reno += 3 * (1 - cubicBeta) / (1 + cubicBeta) * acked / c.datagrams()
	target = max(target, c.reno)
	if w := c.datagrams(); target > w {
		step := min(target-w, w/2) * acked / w
		c.window = min(c.window+int(step*float64(c.mtu)), maxWindow)
	}
}

func (c *cubic) datagrams() float64 { return float64(c.window) / float64(c.mtu) }

func (c *cubic) OnLoss(now monotime.Time, l LossSample) {
	if l.Newest < c.recoverAt && !l.Timeout {
		return
	}
	c.recoverAt = l.Next
	if l.Timeout && c.silent {
		return // a second timeout in a row says nothing new
	}
	c.silent = l.Timeout
	c.undo = cubicUndo{c.window, c.threshold, c.peak, c.origin, c.since, true}
	w := c.datagrams()
	if w < c.peak {
		c.peak = w * (1 + cubicBeta) / 2 // fast convergence: leave room to newer flows
	} else {
		c.peak = w
	}
	c.window = max(int(cubicBeta*float64(c.window)), minDatagrams*c.mtu)
	c.threshold = c.window
	c.since = now
	c.origin = math.Cbrt(max(c.peak-c.datagrams(), 0) / cubicScale)
	c.reno = c.datagrams()
	if l.Timeout {
		c.window = c.mtu
	}
}

func (c *cubic) OnSpurious(monotime.Time) {
	if u := c.undo; u.valid {
		c.window, c.threshold, c.peak, c.origin, c.since = max(c.window, u.window), u.threshold, u.peak, u.origin, u.since
		c.undo.valid = false
	}
}

func (c *cubic) Window() int       { return c.window }
func (c *cubic) PacingRate() int64 { return 0 }
