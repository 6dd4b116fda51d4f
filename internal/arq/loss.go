package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
)

// lossState decides when a datagram is lost, in the manner of RACK (RFC 8985) on
// datagram numbers. Three things expose a datagram: an ACK of a later one, a NACK
// that names it, and silence. The first two are evidence, not proof, since paths
// reorder: once this path has shown that it does, an exposed datagram gets a
// tolerance before it is given up.
type lossState struct {
	exposed   int64 // numbers below this one were exposed by the ACK of a later one
	nackedTo  int64 // one above the highest number that a NACK named
	newest    int64 // highest number acknowledged; -1 before the first
	raisedAt  int64 // next number when the tolerance was last raised: once a round trip
	lossAt    monotime.Time
	timeoutAt monotime.Time
	tolerance int16 // in quarters of the least round trip; 0: no reordering seen
	calm      int16 // batches of losses since the tolerance changed, up to calmLosses
	backoff   int16 // timeouts in a row, up to maxBackoff
	probes    int16 // datagrams that may leave in spite of the window, to make the peer talk
	// probeBelow is the next number at the last timeout: only what left before is probed with.
	probeBelow int64
	episode    episode
}

// episode is the losses of a flight, which controllers answer once. It was a false alarm
// if every one of them turns out false: one late datagram among many lost ones does not
// mean that there was no congestion.
type episode struct {
	first, end int64 // numbers
	lost       int   // of these, and not acknowledged since
}

// add takes a loss into account. The next is the number that the next datagram gets.
func (p *episode) add(n, next int64) {
	if n >= p.end {
		*p = episode{first: n, end: next}
	}
	if n >= p.first {
		p.lost++
	}
}

// deny takes a loss back, and reports whether that was the last.
func (p *episode) deny(n int64) bool {
	if n < p.first || p.lost == 0 {
		return false
	}
	p.lost--
	return p.lost == 0
}

const (
	// packetThreshold is how many later datagrams must be acknowledged before one is
	// given up at once on a path that was never seen to reorder (RFC 9002, 6.1.1).
	packetThreshold = 3
	// maxTolerance bounds the reordering tolerance, in quarters of the least round
	// trip; the smoothed round trip bounds it as well.
	maxTolerance = 16
	// calmLosses is after how many batches of losses without a false one the tolerance
	// falls by a step: a path may have changed, and an ACK that was lost and said
	// again looks like reordering (RFC 8985 forgets after 16, too).
	calmLosses = 16
	// probeDatagrams is how many of the oldest datagrams are sent again at a
	// timeout, whatever the window says: two, so that one more loss does not cost another timeout (RFC 9002, 6.2.4).
	probeDatagrams = 2
	// maxBackoff bounds the doublings of the timeout; maxPause does so as well.
	maxBackoff = 6
)

// reorderWindow is how much later than expected an exposed datagram may still be
// acknowledged before it is given up.
func (e *Engine) reorderWindow() time.Duration {
	quarters := max(e.loss.tolerance, 1)
	return min(max(e.rtt.min*time.Duration(quarters)/4, granularity/2), max(e.rtt.srtt, granularity/2))
}

// detectLosses gives up what has been exposed for long enough, and sets the time
// to look again.
func (e *Engine) detectLosses(now monotime.Time) {
	e.loss.lossAt = monotime.Never
	window := e.rtt.flight() + e.reorderWindow()
	sample := LossSample{Newest: -1, Next: e.sent.next}
	for n := e.sent.base; n < min(max(e.loss.exposed, e.loss.nackedTo), e.sent.next); n++ {
		d := e.sent.at(n)
		if d.state != sentOut || n >= e.loss.exposed && !d.nacked {
			continue
		}
		due := d.sentAt.Add(window)
		if e.loss.tolerance == 0 && (d.nacked || e.loss.newest-n >= packetThreshold) {
			// No honest answer comes sooner than the least round trip: so a peer that
			// names everything missing at once gets each frame once a round trip.
			due = d.sentAt.Add(e.rtt.least())
		}
		if now < due {
			e.loss.lossAt = min(e.loss.lossAt, due)
			continue
		}
		says := e.lose(n, d)
		e.traceLost(now, n, d, false)
		if says {
			sample.Bytes += int(d.size)
			sample.Newest = n
		}
	}
	if sample.Newest < 0 {
		return
	}
	sample.InFlight = e.inFlight
	e.cc.OnLoss(now, sample)
	e.loss.calm = min(e.loss.calm+1, calmLosses)
	if e.loss.calm == calmLosses && e.loss.tolerance > 0 {
		e.loss.tolerance--
		e.loss.calm = 0
	}
}

// lose gives up one datagram: what it carried is queued again, unless it is already
// on its way in a later one. It reports whether that says something about the path's load.
func (e *Engine) lose(n int64, d *sentDatagram) bool {
	d.state = sentLost
	e.sent.out--
	e.inFlight -= int(d.size)
	if p := d.carried(); p != nil && p.isSounding() {
		e.reportReceipt(p.messages[0], false)
		e.freePacket(p)
		d.state, d.packet = sentAcked, nil // it is settled
		return false
	}
	e.sawWide(d, true)
	e.trouble().DatagramsLost++
	e.loss.episode.add(n, e.sent.next)
	e.repeats.sawVerdict(true)
	if d.also != nil {
		for _, s := range d.also {
			if q := s.get(); q != nil && q.number == n && q.place == nowhere {
				e.queue.pushLost(q)
			}
		}
	}
	p := d.carried()
	if p == nil || p.number != n || p.place != nowhere {
		return true
	}
	if p.reliable == 0 {
		for _, m := range p.messages {
			e.reportReceipt(m, false)
		}
		e.freePacket(p)
		return true
	}
	before := p.buf.N
	if e.stripUnreliable(p) > 0 {
		e.charge(p, p.buf.N-before)
	}
	e.queue.pushLost(p)
	return true
}

// armTimeout sets the retransmission timer from the latest departure or progress.
func (e *Engine) armTimeout(now monotime.Time) {
	if e.sent.out == 0 {
		e.loss.timeoutAt = monotime.Never
		return
	}
	e.loss.timeoutAt = now.Add(e.rtt.pause(int(e.loss.backoff)))
}

// onTimeout handles silence. The first timeout gives nothing up: it sends the oldest
// datagrams again, whose ACK then tells what was lost. A second one in a row gives
// up everything.
func (e *Engine) onTimeout(now monotime.Time) {
	e.loss.backoff = min(e.loss.backoff+1, maxBackoff)
	e.loss.probeBelow = e.sent.next
	e.traceTimeout(now)
	if e.loss.backoff == 1 && e.oldest != nil {
		e.loss.probes = probeDatagrams
		e.armTimeout(now)
		return
	}
	e.narrowed()
	sample := LossSample{Newest: -1, Next: e.sent.next, Timeout: true}
	for n := e.sent.base; n < e.sent.next; n++ {
		d := e.sent.at(n)
		if d.state != sentOut {
			continue
		}
		says := e.lose(n, d)
		e.traceLost(now, n, d, true)
		if says {
			sample.Bytes += int(d.size)
			sample.Newest = n
		}
	}
	if sample.Newest >= 0 && !e.queue.empty() {
		// With nothing to resend, only unreliable datagrams went unanswered, which
		// says little about a path that carries nothing else.
		sample.InFlight = e.inFlight
		e.cc.OnLoss(now, sample)
	}
	e.loss.probes = probeDatagrams
	e.armTimeout(now)
}

// probe returns a packet to send again without evidence of its loss, or nil.
func (e *Engine) probe() *packet {
	for p := e.oldest; p != nil; p = p.newer {
		if p.place == nowhere && p.number < e.loss.probeBelow {
			return p
		}
	}
	return nil
}

// second returns one of the oldest packets that were sent again, to be sent once more
// though nothing says that it was lost. It is for a moment in which these keep back
// everything else: the path is idle, and a resend that is lost as well costs another
// round trip of everybody.
func (e *Engine) second() *packet {
	steps := 0
	for p := e.oldest; p != nil && steps < secondSteps; p, steps = p.newer, steps+1 {
		if p.place == nowhere && p.resent && !p.second {
			return p
		}
	}
	return nil
}

// secondSteps bounds how far second looks. Arbitrary.
const secondSteps = 64

// onNack handles a NACK datagram.
func (e *Engine) onNack(now monotime.Time, b []byte) Verdict {
	it, err := wire.ParseRanges(b)
	if err != nil {
		return VerdictMalformed
	}
	e.trouble().NacksReceived++
	news := false
	verdict := e.eachSent(&it, nackWork, func(n int64, d *sentDatagram) {
		if d.state == sentOut && !d.nacked {
			d.nacked, news = true, true
			e.traceNacked(now, n, d)
			e.loss.nackedTo = max(e.loss.nackedTo, n+1)
		}
	})
	if news || now >= e.loss.lossAt { // else it was asked for before, and its time has not come
		e.detectLosses(now)
	}
	return verdict
}

// onAck handles an ACK datagram.
func (e *Engine) onAck(now monotime.Time, b []byte) Verdict {
	it, err := wire.ParseRanges(b)
	if err != nil {
		return VerdictMalformed
	}
	e.stats.AcksReceived++
	var newest *sentDatagram
	sample := AckSample{Newest: -1}
	spurious := false
	verdict := e.eachSent(&it, ackWork, func(n int64, d *sentDatagram) {
		if (d.state == sentOut || d.state == sentLost) && n > sample.Newest {
			// Late or not, it tells the round trip: were late ones left out, a queue that
			// grew faster than the timeout would never be seen.
			newest, sample.Newest = d, n
		}
		switch d.state {
		case sentOut:
			e.sent.out--
			e.inFlight -= int(d.size)
			sample.Bytes += int(d.size)
			e.sawWide(d, false)
			e.repeats.sawVerdict(false)
			e.traceAcked(now, n, d)
		case sentLost:
			spurious = e.loss.episode.deny(n) || spurious
			e.repeats.sawSpurious()
			e.trouble().SpuriousLosses++
			e.traceSpurious(now, n, d)
			sample.Bytes += int(d.size)
			if n >= e.loss.raisedAt {
				e.loss.tolerance = min(e.loss.tolerance+1, maxTolerance)
				e.loss.calm = 0
				e.loss.raisedAt = e.sent.next
			}
		default:
			return
		}
		d.state = sentAcked
		if p := d.carried(); p != nil {
			e.settle(p)
		}
		if d.also != nil {
			for _, s := range d.also {
				if q := s.get(); q != nil {
					e.settle(q)
				}
			}
		}
		d.packet, d.also = nil, nil
	})
	if sample.Bytes == 0 {
		return verdict
	}
	e.delivered += int64(sample.Bytes)
	e.loss.backoff, e.loss.probes = 0, 0
	if newest != nil {
		if sample.Newest > e.loss.newest {
			e.loss.newest = sample.Newest
			e.loss.exposed = max(e.loss.exposed, sample.Newest)
			sample.RTT = now.Sub(newest.sentAt)
			e.rtt.add(now, sample.RTT)
		}
		sample.AppLimited = newest.limited
		sample.Rate = e.deliveryRate(now, newest)
		e.firstSentAt = newest.sentAt
	}
	e.deliveredAt = now
	if sample.Newest >= 0 {
		e.reach.learn(b, sample.Newest, e.sent.next, e.stats.DatagramsLost > 0)
	}
	sample.InFlight, sample.Delivered, sample.Next = e.inFlight, e.delivered, e.sent.next
	sample.WindowLimited = 2*e.peakInFlight > e.cc.Window()
	e.peakInFlight = e.inFlight
	sample.SRTT, sample.MinRTT = e.rtt.srtt, e.rtt.min
	if spurious {
		e.cc.OnSpurious(now)
	}
	e.cc.OnAck(now, sample)
	e.detectLosses(now)
	e.armTimeout(now)
	e.sent.trim(now.Add(-2 * e.rtt.rto()))
	return verdict
}

// deliveryRate is the rate, in bytes a second, at which the network delivered while
// d was in flight: the slower of the rates of sending and of acknowledging, as in
// the delivery rate estimation of BBR.
func (e *Engine) deliveryRate(now monotime.Time, d *sentDatagram) int64 {
	span := max(now.Sub(d.deliveredAt), d.sentAt.Sub(d.firstSentAt))
	if span <= 0 {
		return 0
	}
	return int64(float64(e.delivered-d.delivered) * float64(time.Second) / float64(span))
}

// eachSent calls f for each recorded transmission that the ranges name, visiting at
// most the given number of records, and about twice what is on record. Ranges are intersected with
// the record, never expanded.
func (e *Engine) eachSent(it *wire.RangeIter, most int, f func(n int64, d *sentDatagram)) Verdict {
	verdict, work := VerdictIgnored, min(most, 2*int(e.sent.next-e.sent.base)+ackSlack)
	lo, hi := int64(0), int64(-1) // what was visited: of several ranges the longest, since they come in any order
	for r, ok := it.Next(); ok; r, ok = it.Next() {
		first := expand24(r.First, e.sent.next)
		last := first + int64((r.Last-r.First)&0xffffff)
		if last >= e.sent.next {
			verdict = VerdictUnsent
			last = e.sent.next - 1
		}
		first = max(first, e.sent.base)
		for n := first; n <= last; n++ {
			if lo <= n && n <= hi {
				n = hi // 200 ranges that each name everything are read like one
				continue
			}
			if work--; work < 0 {
				return VerdictUnsent
			}
			if verdict == VerdictIgnored {
				verdict = VerdictAccepted
			}
			f(n, e.sent.at(n))
		}
		if last-first > hi-lo {
			lo, hi = first, last
		}
	}
	return verdict
}

// settle ends the life of a packet whose frames have all arrived.
func (e *Engine) settle(p *packet) {
	for _, m := range p.messages {
		if m.remaining--; m.remaining == 0 {
			if m.split {
				e.splits--
			}
			e.reportReceipt(m, true)
		}
	}
	e.freePacket(p)
}
