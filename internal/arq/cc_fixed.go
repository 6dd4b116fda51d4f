package arq

import "github.com/raknet-go/raknet/internal/monotime"

// fixedWindow is no congestion control at all: a constant window, for a LAN whose
// capacity is known, and for tests.
type fixedWindow int

// NewFixed returns a function that makes controllers with a constant window of the
// given number of full datagrams.
func NewFixed(datagrams int) func(mtu int) Controller {
	return func(mtu int) Controller { return fixedWindow(max(datagrams, 1) * mtu) }
}

func (fixedWindow) OnSent(monotime.Time, int, int)   {}
func (fixedWindow) OnAck(monotime.Time, AckSample)   {}
func (fixedWindow) OnLoss(monotime.Time, LossSample) {}
func (fixedWindow) OnSpurious(monotime.Time)         {}
func (w fixedWindow) Window() int                    { return int(w) }
func (fixedWindow) PacingRate() int64                { return 0 }
