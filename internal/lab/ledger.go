package lab

import (
	"slices"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
)

// ledger reads what one end sends, and knows what became of it.
type ledger struct {
	frames    []copies // by reliable index
	bytes     uint64   // UDP payload, everything
	datagrams uint64   // everything
	data      uint64   // datagrams with reliable frames
	resent    uint64   // of them, those with nothing new
	needless  uint64   // of them, those of whose frames each had passed the link before
	dropped   uint64   // datagrams that found the queue full
	waits     []time.Duration
}

// copies says what is known of one reliable frame.
type copies uint8

const (
	copySent copies = 1 << iota
	copyPassed
)

// note takes a datagram that is just leaving.
func (l *ledger) note(b []byte, f fate, waited time.Duration, measured bool) {
	l.bytes += uint64(len(b))
	l.datagrams++
	if f == lostQueue {
		l.dropped++
	} else if measured {
		l.waits = append(l.waits, waited)
	}
	if wire.Classify(b) != wire.KindFrameSet {
		return
	}
	reliable, fresh, missing := false, false, false
	it := wire.Frames(b[wire.DatagramHeaderSize:])
	var frame wire.Frame
	for it.Next(&frame) {
		if !frame.Reliability.IsReliable() {
			continue
		}
		reliable = true
		i := int(frame.Reliable)
		for i >= len(l.frames) {
			l.frames = append(l.frames, 0)
		}
		had := l.frames[i]
		fresh = fresh || had == 0
		missing = missing || had&copyPassed == 0
		l.frames[i] |= copySent
		if f == passed {
			l.frames[i] |= copyPassed
		}
	}
	if !reliable {
		return
	}
	l.data++
	if !fresh {
		l.resent++
		if !missing {
			l.needless++
		}
	}
}

// fill writes what was counted into a result.
func (l *ledger) fill(r *Result) {
	slices.Sort(l.waits)
	r[QueueP50], r[QueueP95] = quantile(l.waits, 0.5), quantile(l.waits, 0.95)
	r[Resent] = percent(float64(l.resent), float64(l.data))
	r[Needless] = percent(float64(l.needless), float64(l.data))
	r[Dropped] = percent(float64(l.dropped), float64(l.datagrams))
}

// percent returns part of whole in percent.
func percent(part, whole float64) float64 { return 100 * part / whole }
