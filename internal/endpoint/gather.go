package endpoint

import "github.com/raknet-go/raknet/internal/monotime"

// sent sees to it that what a call of the user's put into the send queue leaves.
//
// A lone message leaves before the call returns. But a game sends to all its players in each
// tick, in a row, and a system call for each would be most of what that costs. So a call
// that comes within burstGap of one for another connection leaves the queue to the driver,
// which runs beside the user's goroutine and takes along whatever has gathered meanwhile. The
// user's goroutine still sends itself what fills a system call, in case that all
// processors are busy.
func (e *Endpoint) sent(c *Conn) {
	waiting := e.tx.n.Load()
	if waiting == 0 || waiting < txBatch && e.rush.takes(e.clock.Now) {
		return
	}
	if e.here.Load() < 2 {
		e.tx.flush(leadBatches)
		return
	}
	now := e.clock.Now()
	before := monotime.Time(e.sentAt.Swap(int64(now)))
	if other := e.sentBy.Swap(c) != c; other && before != 0 && now.Sub(before) < burstGap && waiting < txBatch {
		e.driver.kick()
		return
	}
	e.tx.flush(leadBatches)
}
