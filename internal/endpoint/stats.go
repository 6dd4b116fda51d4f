package endpoint

import (
	"sync/atomic"

	"github.com/raknet-go/raknet/internal/offline"
)

// counters are the endpoint's totals. They are bumped once per batch where that is
// possible, by whichever goroutine did the work.
type counters struct {
	datagramsReceived, bytesReceived, readBatches, receiveErrors atomic.Uint64
	datagramsSent, bytesSent, writeBatches, sendErrors           atomic.Uint64

	pings, pongs, pongsSuppressed atomic.Uint64
	raws                          atomic.Uint64
	request1, request2            atomic.Uint64
	accepted, rejected, evicted   atomic.Uint64
	dropped                       [offline.DropReasons]atomic.Uint64

	halfOpen atomic.Int64 // what the reader's books say
}

// stats returns the counters of this member.
func (e *Endpoint) stats() Stats {
	k := &e.counters
	s := Stats{
		Connections:       int(e.here.Load()),
		HalfOpen:          int(k.halfOpen.Load()),
		DatagramsReceived: k.datagramsReceived.Load(),
		BytesReceived:     k.bytesReceived.Load(),
		DatagramsSent:     k.datagramsSent.Load(),
		BytesSent:         k.bytesSent.Load(),
		SendErrors:        k.sendErrors.Load(),
		ReceiveErrors:     k.receiveErrors.Load(),
		ReadBatches:       k.readBatches.Load(),
		WriteBatches:      k.writeBatches.Load(),
		ReceiveOverflows:  e.sock.Overflows(),
		Pings:             k.pings.Load(),
		Pongs:             k.pongs.Load(),
		PongsSuppressed:   k.pongsSuppressed.Load(),
		RawAnswers:        k.raws.Load(),
		Request1:          k.request1.Load(),
		Request2:          k.request2.Load(),
		BadCookies:        k.dropped[offline.DropCookie].Load() + k.dropped[offline.DropNoCookie].Load(),
		Accepted:          k.accepted.Load(),
		Rejected:          k.rejected.Load(),
		Evicted:           k.evicted.Load(),
		Dropped:           make(map[string]uint64),
	}
	for r := range k.dropped {
		if n := k.dropped[r].Load(); n > 0 {
			s.Dropped[offline.DropReason(r).String()] = n
		}
	}
	return s
}

func (k *counters) drop(r offline.DropReason) { k.dropped[r].Add(1) }
