package arq

import "github.com/raknet-go/raknet/internal/monotime"

// Abandon drops everything queued and everything unacknowledged, so that only ACKs
// and what is sent from now on leaves. The peer will miss messages, on ordered
// channels for good, so this is for connections that have ended and say so once more.
// Nothing is reported for dropped messages; ACKs of them are ignored from now on.
//
// Datagrams with reliable frames that are new are not acknowledged from now on: nobody
// will read them, and the peer must not take them for delivered. A disconnect
// notification is: it has nothing to deliver.
func (e *Engine) Abandon() {
	e.abandoned = true
	e.traceAbandon()
	for e.oldest != nil {
		e.freePacket(e.oldest)
	}
	var none sendQueue
	queue := e.queue
	if queue == nil {
		queue = &none
	}
	for i := range queue.level {
		l := &queue.level[i]
		for l.lost.head != nil {
			e.freePacket(l.lost.head)
		}
		for _, f := range l.flows {
			for f.head != nil {
				e.freePacket(f.head)
			}
		}
	}
	e.free, e.freeCount = nil, 0
	e.queue.releaseSpares()
	e.sent = sentRing{base: e.sent.next, next: e.sent.next}
	e.inFlight, e.splits = 0, 0
	e.loss.lossAt, e.loss.timeoutAt = monotime.Never, monotime.Never
	e.loss.backoff, e.loss.probes = 0, 0
	e.traceAbandoned()
}
