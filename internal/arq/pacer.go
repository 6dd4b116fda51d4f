package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// pacer spreads a window over its round trip: a token bucket of bytes. Without it, a
// peer that acknowledges every 100 ms gets the whole window in one burst per tick,
// and the default receive buffer of most systems holds 92 full datagrams.
//
// What fits the burst never waits, and that includes every lone game message; on a
// path shorter than minPacedRTT nothing does.
type pacer struct {
	tokens int           // may go below 0: probes and the like do not ask
	filled monotime.Time // when tokens was true
	at     monotime.Time // when a datagram that had to wait may leave; Never if none waits
}

const (
	// paceBurst is how many bytes may leave at once after a pause: 32 full datagrams,
	// a third of a default receive buffer.
	paceBurst = 32 * 1492
	// paceGain is how much faster than a window a round trip datagrams may leave, so that
	// pacing never is what limits: in slow start the window doubles meanwhile.
	paceGain = 2
	// minPacedRTT is the shortest round trip that is paced: timers overshoot by a
	// millisecond, which on a shorter path costs more than bursts do.
	minPacedRTT = 4 * time.Millisecond
	// maxPaceRate bounds the rate in bytes a second, so that a second of it fits 63 bits of
	// bytes times nanoseconds.
	maxPaceRate = 8 << 30
	// paceLate is how late a wake-up may come without a loss of speed: on a busy machine
	// timers overshoot by milliseconds.
	paceLate = 5 * time.Millisecond
	// paceTick is the least time that a datagram is made to wait, for the same reason.
	paceTick = time.Millisecond
)

// pacingRate is the rate at which new datagrams may leave, in bytes a second; 0 is no limit.
func (e *Engine) pacingRate() int64 {
	rate := e.cc.PacingRate()
	if rate == 0 {
		if e.rtt.samples == 0 || e.rtt.srtt < minPacedRTT {
			return 0
		}
		rate = max(int64(float64(paceGain*e.cc.Window())/e.rtt.srtt.Seconds()), 1)
	}
	return min(rate, maxPaceRate)
}

// paced reports whether size more bytes may leave now, and notes when if not.
func (e *Engine) paced(now monotime.Time, size int) bool {
	rate := e.pacingRate()
	if rate == 0 {
		return true
	}
	p := &e.pacer
	burst := max(paceBurst, int(rate*int64(paceLate)/int64(time.Second)))
	if since := now.Sub(p.filled); since > time.Second {
		p.tokens, p.filled = burst, now
	} else if more := rate * int64(since) / int64(time.Second); more > 0 {
		p.tokens, p.filled = min(p.tokens+int(more), burst), now
	}
	if p.tokens >= size {
		return true
	}
	wait := time.Duration(int64(size-p.tokens) * int64(time.Second) / max(rate, 1))
	p.at = now.Add(max(wait, paceTick))
	return false
}

// spend takes a departure into account.
func (p *pacer) spend(size int) { p.tokens = max(p.tokens-size, -paceBurst) }
