package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// Controller decides how much may be in flight. The engine calls it once per ACK
// datagram and per batch of losses, not per frame. A Controller belongs to one
// engine and, like it, reads no clock.
type Controller interface {
	// OnSent is called for each frame set that leaves.
	OnSent(now monotime.Time, bytes, inFlight int)
	// OnAck is called once for each ACK datagram that acknowledged something new.
	OnAck(now monotime.Time, a AckSample)
	// OnLoss is called once for each batch of datagrams given up together.
	OnLoss(now monotime.Time, l LossSample)
	// OnSpurious is called when all datagrams that were given up in the last episode of
	// losses, those of one flight, have been acknowledged after all: what OnLoss reported
	// did not happen.
	OnSpurious(now monotime.Time)
	// Window is the number of bytes of datagrams that may be in flight.
	Window() int
	// PacingRate is the rate at which new datagrams may leave, in bytes a second; 0
	// is no limit.
	PacingRate() int64
}

// AckSample is what one ACK datagram told.
type AckSample struct {
	Bytes    int           // newly acknowledged
	InFlight int           // after it
	RTT      time.Duration // of the newest datagram acknowledged; 0 if that was known before
	SRTT     time.Duration
	MinRTT   time.Duration
	// WindowLimited says that lately more than half of the window was in flight; if
	// not, a larger window would have changed nothing.
	WindowLimited bool
	// Rate is the delivery rate over the flight of the newest datagram, in bytes a
	// second; 0 if unknown. AppLimited says that for want of data, not of window,
	// less was in flight than could have been.
	Rate       int64
	AppLimited bool
	Delivered  int64 // bytes acknowledged since the start
	Newest     int64 // the highest datagram number acknowledged by this ACK
	Next       int64 // the number that the next datagram will get
}

// LossSample is a batch of datagrams given up together.
type LossSample struct {
	Bytes    int
	InFlight int   // after it
	Newest   int64 // the highest datagram number lost
	Next     int64 // the number that the next datagram will get
	// Timeout says that nothing was heard for so long that everything in flight was
	// given up; otherwise an ACK or NACK exposed the loss.
	Timeout bool
}
