package arq

import "github.com/raknet-go/raknet/internal/monotime"

// slidingWindow is the congestion control of the original engine
// (CCRakNetSlidingWindow): slow start, then one datagram's share per period; a
// NACK only ends slow start, a timeout drops the window to one datagram.
//
// It departs from the original in three places. It starts with initialDatagrams
// instead of one, as every transport of this decade does. A period's growth is one
// datagram and not the original's datagram squared over the window, which all but
// stops growth for good after the first loss of a fast connection. And a timeout
// that turns out to be false is undone.
type slidingWindow struct {
	mtu, window, threshold int
	periodEnd              int64 // the period ends when a datagram above this number is acknowledged
	backedOff, grown       bool  // in this period
	undoWindow, undoThresh int
}

const (
	// initialDatagrams is the first window: RFC 6928's ten full datagrams.
	initialDatagrams = 10
	// minDatagrams is the least window but for the original's collapse to one.
	minDatagrams = 2
	// maxWindow bounds every window: more than the send buffer and any peer's 4096
	// outstanding frames can fill.
	maxWindow = 16 << 20
)

// NewSliding makes a controller that behaves like the original engine's.
func NewSliding(mtu int) Controller {
	return &slidingWindow{mtu: mtu, window: initialDatagrams * mtu}
}

func (w *slidingWindow) OnSent(monotime.Time, int, int) {}

func (w *slidingWindow) OnAck(_ monotime.Time, a *AckSample) {
	if a.Newest > w.periodEnd {
		w.periodEnd, w.backedOff, w.grown = a.Next, false, false
	}
	if a.AppLimited {
		return
	}
	switch {
	case w.threshold == 0 || w.window < w.threshold:
		w.window += a.Bytes
		if w.threshold > 0 && w.window > w.threshold {
			w.window = w.threshold
		}
	case !w.grown:
		w.grown = true
		w.window += w.mtu
	}
	w.window = min(w.window, maxWindow)
}

func (w *slidingWindow) OnLoss(_ monotime.Time, l *LossSample) {
	if w.backedOff {
		return
	}
	w.backedOff = true
	w.periodEnd = l.Next
	w.undoWindow, w.undoThresh = w.window, w.threshold
	w.threshold = max(w.window/2, minDatagrams*w.mtu)
	if l.Timeout {
		w.window = w.mtu
	}
}

func (w *slidingWindow) OnSpurious(monotime.Time) {
	if w.undoWindow > w.window {
		w.window, w.threshold = w.undoWindow, w.undoThresh
	}
	w.undoWindow = 0
}

func (w *slidingWindow) Window() int       { return w.window }
func (w *slidingWindow) PacingRate() int64 { return 0 }
