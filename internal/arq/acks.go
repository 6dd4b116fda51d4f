package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
)

// ackQueue collects the datagrams to acknowledge and says when. ACKs are never
// acknowledged themselves, so one that is lost costs the peer a retransmission for
// every datagram it named. So while the path is seen to lose datagrams, each ACK says
// again what the last ackEchoes said: mostly by starting a range earlier, for no
// byte more. A sender finds nothing on record for what it knows already.
//
// On a clean path the first ACKs of a connection are said again, too: see reach.
type ackQueue struct {
	ranges  rangeSet
	echoes  *[ackEchoes + 1]rangeSet // what was new in the last ACKs, the newest first; nil: the path is clean
	hello   *[2]shortSpan            // the highest ranges that were new in the last two ACKs, until told is full
	since   monotime.Time            // when the oldest pending one came; Never when none is pending
	waiting int16                    // size of the datagrams noted since the last ACK was written, in units of ackUnit; heldBytes at most
	lossy   int16                    // datagrams to go until the path counts as clean
	told    uint8                    // ACKs that said the two before them again on a clean path
	urgent  bool
	partial bool // the last ACK left a part for the next, which has the echoes in it already
	hold    Hold // see Engine.HoldAcks
	beat    beat
	kin     bool // the peer is one of this library, and grants that a beat is acknowledged late
}

const (
	// maxAckDelay is how long a lone datagram waits for company. Original peers
	// wait 10 ms; a little less keeps the round trip that they see below theirs.
	maxAckDelay = 8 * time.Millisecond
	// rideAge is how long an ACK waits before it takes the chance to leave with data. Arbitrary.
	rideAge = time.Millisecond
	// ackBytes is how much is acknowledged without delay: about two full datagrams, as
	// TCP does. Counting bytes and not datagrams, a quick exchange of small messages
	// does not draw an ACK for every second one. The engine asks after a whole batch
	// was read, so a burst still draws one ACK.
	ackBytes = 2400
	// heldBytes is the same while the caller looks for more (HoldByLooking): of the half of a megabyte that a sender
	// of this library has under way on a short path a quarter, which is about what it waits for.
	heldBytes = 128 << 10
	// timedBytes is the same while nobody looks (HoldByTime), and timedDelay how long they are waited for, less
	// than which timers here do not count. A sender with less under way loses that much; some eleven
	// datagrams for one ACK are most of what is to be won. Arbitrary.
	timedBytes = 16 << 10
	timedDelay = time.Millisecond
	// ackUnit is how many bytes are counted as one, so that two bytes hold the count.
	ackUnit = 16
	// ackRanges bounds the ranges pending. A peer whose datagrams arrive with a hole
	// after every one fills it; then the oldest are not acknowledged, and sent again.
	ackRanges = 256
	// ackEchoes is in how many further ACKs a datagram is named on a path that loses:
	// at 5 % loss each way the ACK of one datagram in three million is lost for good, and
	// most bursts of losses end sooner. Arbitrary.
	ackEchoes = 4
	// echoRanges bounds the ranges of one ACK that are said again, the highest ones.
	echoRanges = 16
	// helloAcks is how many of a connection's ACKs name, on a clean path, what the two before
	// them named: what a sender of this library has to see, and some that may be lost.
	helloAcks = echoProof + 16
	// lossyFor is how many datagrams without a gap make a path clean. Arbitrary.
	lossyFor = 512
)

func (q *ackQueue) init() {
	q.ranges.init(ackRanges)
	q.since, q.waiting, q.urgent = monotime.Never, 0, false
	q.lossy, q.echoes, q.told, q.hello = 0, nil, 0, nil
}

// ease gives back memory.
func (q *ackQueue) ease() {
	if !q.pending() {
		q.ranges.spans = nil
	}
}

// rest forgets what it says again, which nobody has missed since.
func (q *ackQueue) rest() {
	if !q.pending() {
		q.echoes, q.hello = nil, nil
	}
}

// sawLoss notes that the path to here lost a datagram, so that it may lose ACKs, too.
func (q *ackQueue) sawLoss() { q.lossy = lossyFor }

// note adds datagram n of size bytes, which came now. An urgent one is not delayed.
func (q *ackQueue) note(now monotime.Time, n int64, size int, urgent bool) {
	q.ranges.add(n, n+1)
	if q.kin {
		q.beat.note(now, 0)
	}
	if q.waiting == 0 && q.since == monotime.Never {
		q.since = now
	}
	q.waiting = int16(min(int(q.waiting)+(size+ackUnit-1)/ackUnit, heldBytes/ackUnit))
	if q.lossy > 0 {
		q.lossy--
	}
	q.urgent = q.urgent || urgent
}

// pending reports whether any datagram waits to be acknowledged.
func (q *ackQueue) pending() bool { return q.ranges.len() > 0 }

// due reports whether an ACK should leave now.
func (q *ackQueue) due(now monotime.Time) bool { return now >= q.deadline() }

// deadline returns when an ACK should leave: a moment past when at once, Never when there is none.
func (q *ackQueue) deadline() monotime.Time {
	if !q.pending() {
		return monotime.Never
	}
	if q.urgent || q.waiting >= q.enough() {
		return q.since
	}
	if q.hold == HoldByTime && q.lossy == 0 && q.waiting >= ackBytes/ackUnit {
		return q.since.Add(timedDelay)
	}
	if q.beat.steady() && q.lossy == 0 {
		return q.beat.deadline(q.since)
	}
	return q.since.Add(maxAckDelay)
}

// enough is how much is acknowledged without delay, in units of ackUnit.
func (q *ackQueue) enough() int16 {
	switch {
	case q.hold == HoldByLooking && q.lossy == 0:
		return heldBytes / ackUnit
	case q.hold == HoldByTime && q.lossy == 0:
		return timedBytes / ackUnit
	}
	return ackBytes / ackUnit
}

// Hold says whether ACKs of a transfer wait for more to acknowledge.
type Hold uint8

// The ways to wait.
const (
	HoldNot       Hold = iota
	HoldByLooking      // the caller looks soon whether more has come, and calls HurryAcks if not
	HoldByTime         // it does not: so the wait is a short one
)

// worthRiding reports whether an ACK that is not due should leave with a frame set that
// does. A fresh one waits: in a quick exchange of single messages it would be half
// of all datagrams.
func (q *ackQueue) worthRiding(now monotime.Time) bool {
	return q.pending() && now.Sub(q.since) >= rideAge
}

// names returns how many ranges the next ACK names at most, with what it says again.
func (q *ackQueue) names() int {
	n := q.ranges.len()
	switch {
	case q.partial:
	case q.lossy > 0 && q.echoes != nil:
		for i := range q.echoes[:ackEchoes] {
			n += q.echoes[i].len()
		}
	case q.lossy == 0 && q.told < helloAcks:
		n += len(q.hello)
	}
	return n
}

// append adds one ACK datagram of at most maxSize bytes to dst and forgets what it
// names, oldest first; call again for the rest. It returns nil when nothing is pending.
func (q *ackQueue) append(dst []byte, maxSize int) []byte {
	if q.pending() && !q.partial {
		switch {
		case q.lossy > 0:
			q.echo()
		case q.told < helloAcks:
			q.greet()
		}
	}
	dst = appendRanges(dst, wire.ACKID, maxSize, &q.ranges)
	if dst == nil {
		return nil
	}
	if q.partial = q.pending(); q.partial {
		q.urgent = true // the rest of a flush under way
		return dst
	}
	q.since, q.waiting, q.urgent = monotime.Never, 0, false
	q.beat.count = 0
	return dst
}

// echo adds what the last ACKs named to what the next one names, and remembers what
// is new in it.
func (q *ackQueue) echo() {
	if q.echoes == nil {
		q.echoes = new([ackEchoes + 1]rangeSet)
		for i := range q.echoes {
			q.echoes[i].init(echoRanges)
		}
	}
	oldest := q.echoes[ackEchoes]
	copy(q.echoes[1:], q.echoes[:ackEchoes])
	oldest.spans = append(oldest.spans[:0], q.ranges.spans[max(0, q.ranges.len()-echoRanges):]...)
	q.echoes[0] = oldest
	for i := range q.echoes[1:] {
		for _, r := range q.echoes[1+i].spans {
			q.ranges.add(r.lo, r.hi)
		}
	}
}

// greet is what echo is on a path that loses nothing: it adds the highest ranges of the last
// two ACKs.
func (q *ackQueue) greet() {
	if q.hello == nil {
		q.hello = new([2]shortSpan)
	}
	last := *q.hello
	highest := q.ranges.spans[q.ranges.len()-1]
	q.hello[1], q.hello[0] = last[0], shortSpan{uint32(highest.lo), uint32(highest.hi)}
	for _, r := range last {
		if r != (shortSpan{}) {
			q.ranges.add(expand32(r.lo, highest.hi), expand32(r.hi, highest.hi))
		}
	}
	if last[1] != (shortSpan{}) {
		if q.told++; q.told == helloAcks {
			q.hello = nil
		}
	}
}

// shortSpan is a span of numbers near others that are known: their low 32 bits. The zero value is none.
type shortSpan struct{ lo, hi uint32 }

// expand32 returns the number nearest to one with these low 32 bits.
func expand32(low uint32, near int64) int64 { return near + int64(int32(low-uint32(near))) }

// appendRanges adds to dst an ACK or NACK of at most maxSize bytes that names the
// lowest spans of s, as many as fit, and takes them out of s. It returns nil when
// s is empty or not even one fits.
func appendRanges(dst []byte, id byte, maxSize int, s *rangeSet) []byte {
	if s.len() == 0 {
		return nil
	}
	a := wire.StartRanges(dst, id, maxSize)
	n := 0
	for n < s.len() {
		r := s.spans[n]
		r.lo = max(r.lo, r.hi-seqMask) // more would name every number there is
		if !a.Add(wire24(r.lo), wire24(r.hi-1)) {
			break
		}
		n++
		if r.lo>>seqBits != r.hi>>seqBits {
			break // the original reads nothing behind a record that ends at the highest number
		}
	}
	if n == 0 {
		return nil
	}
	s.removeFirst(n)
	return a.Finish()
}
