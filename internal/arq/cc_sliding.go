package arq

import "github.com/raknet-go/raknet/internal/monotime"

// slidingWindow is the congestion control of the original engine
// (CCRakNetSlidingWindow): slow start, then growth once per period, which is about
// a round trip; a NACK ends slow start and leaves the window as it is; a timeout
// drops the window to one datagram.
//
// It departs from the original where that does harm. It starts with
// initialDatagrams instead of one. A period grows the window by a datagram and not
// by a datagram squared over the window, which all but stops for good after the first
// loss of a fast connection. A period that loses a good part of what it sent halves
// the window, which the original never does, so that it goes on flooding a full
// queue; a little loss still means nothing, since paths lose at random. And what
// was done for a loss that turns out to be none is undone.
type slidingWindow struct {
	mtu, window, threshold int
	periodEnd              int64 // the period ends when a datagram of this number or above is acknowledged
	acked, lost            int   // bytes in this period
	backedOff, grown       bool  // in this period
	silent                 bool  // since a timeout
	undoWindow, undoThresh int
}

const (
	// initialDatagrams is the first window, in full datagrams: a third of what the default
	// receive buffer of most systems holds, and as many as the pacer lets leave at once. RFC
	// 6928's ten are not enough for a game flow through an outage of a quarter of a second.
	initialDatagrams = 32
	// minDatagrams is the least window, but for the collapse to one at a timeout.
	minDatagrams = 4
	// congestedShare is the part of a period's bytes whose loss is taken for a full
	// queue: one in congestedShare, and at least congestedDatagrams full datagrams,
	// so that two unlucky ones in a small window do not count. Both arbitrary.
	congestedShare     = 4
	congestedDatagrams = 3
	// maxWindow bounds every window: more than the send buffer and any peer's 4096
	// outstanding frames can fill.
	maxWindow = 16 << 20
)

// NewSliding makes a controller that behaves like the original engine's, mended.
func NewSliding(mtu int) Controller {
	return &slidingWindow{mtu: mtu, window: initialDatagrams * mtu, periodEnd: -1}
}

func (w *slidingWindow) OnSent(monotime.Time, int, int) {}

func (w *slidingWindow) OnAck(_ monotime.Time, a AckSample) {
	if a.Newest >= w.periodEnd {
		w.startPeriod(a.Next)
	}
	w.acked += a.Bytes
	w.silent = false
	if !a.WindowLimited {
		return
	}
	switch {
	case w.slowStart():
		w.window += a.Bytes
		if w.threshold > 0 {
			w.window = min(w.window, max(w.threshold, w.mtu))
		}
	case !w.grown && !w.backedOff:
		w.grown = true
		w.window += w.mtu
	}
	w.window = min(w.window, maxWindow)
}

func (w *slidingWindow) slowStart() bool { return w.threshold == 0 || w.window < w.threshold }

func (w *slidingWindow) startPeriod(end int64) {
	w.periodEnd, w.acked, w.lost = end, 0, 0
	w.backedOff, w.grown = false, false
}

func (w *slidingWindow) OnLoss(_ monotime.Time, l LossSample) {
	w.lost += l.Bytes
	if l.Timeout {
		if !w.silent { // a second timeout in a row says nothing new
			w.remember()
			w.threshold = max(w.window/2, minDatagrams*w.mtu)
		}
		w.silent = true
		w.window = w.mtu
		w.startPeriod(l.Next)
		w.backedOff = true
		return
	}
	if w.backedOff {
		return
	}
	if w.lost >= congestedDatagrams*w.mtu && w.lost*congestedShare >= w.acked+w.lost {
		w.remember()
		w.window = max(w.window/2, minDatagrams*w.mtu)
		w.threshold = w.window
		w.backedOff = true
	} else if w.slowStart() {
		w.remember()
		w.threshold = max(w.window/2, minDatagrams*w.mtu)
	}
}

// remember keeps what a loss is about to change, in case it was none.
func (w *slidingWindow) remember() { w.undoWindow, w.undoThresh = w.window, w.threshold }

func (w *slidingWindow) OnSpurious(monotime.Time) {
	if w.undoWindow > 0 {
		w.window = max(w.window, w.undoWindow)
		w.threshold = w.undoThresh
		w.undoWindow = 0
	}
}

func (w *slidingWindow) Window() int       { return w.window }
func (w *slidingWindow) PacingRate() int64 { return 0 }
