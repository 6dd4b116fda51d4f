package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// model is a controller that does not take loss for congestion. In the manner of BBR it
// keeps two measurements, the rate at which the path delivers and its least round
// trip, and holds in flight about twice what they make; paced at the measured rate, the
// queue in front of the narrowest link stays short. It probes for more by sending a
// little faster for one round trip in eight, and drains what that queued in the next.
//
// What keeps it from flooding a short queue is a ceiling that a round trip in which
// much was lost lowers, and that calm ones raise again.
type model struct {
	mtu    int
	phase  modelPhase
	rates  maxFilter // delivery rates, bytes a second, over the last rateRounds round trips
	extras maxFilter // bytes acknowledged in excess of the rate: the peer's ACKs come in lumps
	minRTT time.Duration

	round    int64 // round trips so far
	roundEnd int64 // the round ends when a datagram of this number or above is acknowledged

	// Startup.
	fullRate   int64
	fullRounds int

	// Probing.
	cycle   int
	cycleAt monotime.Time

	// Lumps of ACKs.
	lumpAt    monotime.Time
	lumpBytes int

	// The ceiling.
	ceiling     int // 0: none
	acked, lost int // bytes in this round
	lossyRound  bool
	undoCeiling int

	collapsed bool // nothing was heard for so long that one datagram at a time must do
	window    int
}

type modelPhase uint8

const (
	modelStartup modelPhase = iota // double each round trip until the rate stops growing
	modelDrain                     // let the queue that startup built run empty
	modelProbe                     // hold, and probe now and then
)

const (
	// rateRounds is how long a measured rate counts, in round trips: longer than a cycle
	// of probing, so that what a probe found outlasts it.
	rateRounds = 10
	// startupGain doubles the rate in each round trip (2/ln 2); drainGain undoes it.
	startupGain = 2.885
	drainGain   = 1 / startupGain
	// growthGoal and growthRounds end startup: this many round trips in a row without
	// that much growth.
	growthGoal   = 1.25
	growthRounds = 3
	// windowGain is the multiple of the path's content that may be in flight: one on
	// the way, one for ACKs that come late or in lumps.
	windowGain = 2.0
	// heavyLoss is the share of a round's bytes whose loss means a full queue and not a
	// bad path: above what paths lose at random, below what a full queue costs.
	// Arbitrary between a tenth and a half.
	heavyLoss = 0.2
	// heavyDatagrams is how many full datagrams must be lost for that, so that two
	// unlucky ones in a small window do not count.
	heavyDatagrams = 8
	// ceilingCut is what such a round leaves of what was in flight, ceilingGrowth what a
	// calm one adds to the ceiling.
	ceilingCut    = 0.7
	ceilingGrowth = 1.1
	// longestTick bounds how long a peer is taken to collect ACKs: the slowest in use do so for 100 ms.
	longestTick = 100 * time.Millisecond
	// shortWindow is the least window on a path so short that the machines are slower
	// than it: two thirds of a default receive buffer.
	shortWindow = 64 * 1464
	shortRTT    = 2 * time.Millisecond
)

// probeGains are the pacing gains of a cycle, each for about a round trip.
var probeGains = [...]float64{1.25, 0.75, 1, 1, 1, 1, 1, 1}

// NewModel makes a controller that follows a model of the path.
func NewModel(mtu int) Controller {
	return &model{mtu: mtu, window: initialDatagrams * mtu, roundEnd: -1}
}

func (m *model) OnSent(monotime.Time, int, int) {}

func (m *model) OnAck(now monotime.Time, a AckSample) {
	m.collapsed = false
	m.acked += a.Bytes
	if a.MinRTT > 0 {
		m.minRTT = a.MinRTT
	}
	newRound := a.Newest >= m.roundEnd
	if newRound {
		m.round++
		m.roundEnd = a.Next
		m.endRound()
	}
	if a.Rate > 0 && (!a.AppLimited || a.Rate > m.rates.max()) {
		m.rates.add(m.round, a.Rate)
	}
	m.lump(now, a.Bytes)
	switch m.phase {
	case modelStartup:
		if newRound && !a.AppLimited {
			m.checkFull()
		}
	case modelDrain:
		if a.InFlight <= m.content(1) {
			m.phase, m.cycle, m.cycleAt = modelProbe, int(m.round)%(len(probeGains)-2)+2, now
		}
	}
	if m.phase == modelProbe && now.Sub(m.cycleAt) > m.minRTT {
		m.cycle = (m.cycle + 1) % len(probeGains)
		m.cycleAt = now
	}
	m.setWindow(a)
}

// checkFull ends startup when the rate has stopped growing.
func (m *model) checkFull() {
	if rate := m.rates.max(); float64(rate) >= growthGoal*float64(m.fullRate) {
		m.fullRate, m.fullRounds = rate, 0
		return
	}
	if m.fullRounds++; m.fullRounds >= growthRounds {
		m.phase = modelDrain
	}
}

// lump measures how much more than the rate allows is acknowledged at once.
func (m *model) lump(now monotime.Time, bytes int) {
	rate := m.rates.max()
	expected := int(float64(rate) * now.Sub(m.lumpAt).Seconds())
	if m.lumpAt.IsZero() || m.lumpBytes <= expected {
		m.lumpAt, m.lumpBytes, expected = now, 0, 0
	}
	m.lumpBytes += bytes
	most := int(float64(rate) * longestTick.Seconds())
	m.extras.add(m.round, int64(min(m.lumpBytes-expected, most)))
}

// endRound looks at what the round lost and starts the next.
func (m *model) endRound() {
	if !m.lossyRound && m.ceiling > 0 {
		m.ceiling = int(float64(m.ceiling) * ceilingGrowth)
		if m.ceiling > maxWindow {
			m.ceiling = 0
		}
	}
	m.acked, m.lost, m.lossyRound = 0, 0, false
}

func (m *model) OnLoss(_ monotime.Time, l LossSample) {
	m.lost += l.Bytes
	if l.Timeout {
		m.collapsed = true
		return
	}
	if m.lossyRound || m.lost < heavyDatagrams*m.mtu || float64(m.lost) < heavyLoss*float64(m.acked+m.lost) {
		return
	}
	m.lossyRound = true
	m.undoCeiling = m.ceiling
	m.ceiling = max(int(ceilingCut*float64(l.InFlight+l.Bytes)), minDatagrams*m.mtu, m.content(1)/2)
	if m.phase == modelStartup && m.rates.max() > 0 {
		m.phase = modelDrain
	}
	m.window = min(m.window, m.ceiling)
}

func (m *model) OnSpurious(monotime.Time) {
	if m.lossyRound {
		m.ceiling = m.undoCeiling
	}
}

// content is what the path holds at the measured rate, times gain.
func (m *model) content(gain float64) int {
	return int(gain * float64(m.rates.max()) * m.minRTT.Seconds())
}

func (m *model) setWindow(a AckSample) {
	gain := windowGain
	if m.phase == modelStartup {
		gain = startupGain
	}
	target := m.content(gain) + int(m.extras.max())
	if m.minRTT < shortRTT {
		target = max(target, shortWindow)
	}
	if m.phase == modelStartup {
		// As in slow start: no faster than what arrives, and never back down.
		m.window = max(m.window, min(m.window+a.Bytes, max(target, m.window)))
		if a.WindowLimited && target < m.window+a.Bytes && m.fullRounds == 0 {
			m.window += a.Bytes
		}
	} else {
		m.window = target
	}
	m.window = min(max(m.window, minDatagrams*m.mtu), maxWindow)
	if m.ceiling > 0 {
		m.window = min(m.window, m.ceiling)
	}
}

func (m *model) Window() int {
	if m.collapsed {
		return m.mtu
	}
	return m.window
}

// PacingRate leaves startup to the window, since the rate of an application that has
// little to send says nothing about the path.
func (m *model) PacingRate() int64 {
	if m.phase == modelStartup || m.minRTT < minPacedRTT {
		return 0
	}
	gain := drainGain
	if m.phase == modelProbe {
		gain = probeGains[m.cycle]
	}
	return max(int64(gain*float64(m.rates.max())), 1)
}

// maxFilter keeps the greatest of the values of the last rateRounds rounds, by the
// greatest, and the greatest later ones (Kathleen Nichols' windowed filter).
type maxFilter struct {
	best [3]struct {
		round, value int64
	}
}

func (f *maxFilter) max() int64 { return f.best[0].value }

func (f *maxFilter) add(round, value int64) {
	b := &f.best
	if value >= b[0].value || round-b[2].round > rateRounds {
		for i := range b {
			b[i].round, b[i].value = round, value
		}
		return
	}
	if value >= b[1].value {
		b[1].round, b[1].value = round, value
		b[2] = b[1]
	} else if value >= b[2].value {
		b[2].round, b[2].value = round, value
	}
	if age := round - b[0].round; age > rateRounds {
		b[0], b[1] = b[1], b[2]
		b[2].round, b[2].value = round, value
		if round-b[0].round > rateRounds {
			b[0], b[1] = b[1], b[2]
		}
	} else if b[1].round == b[0].round && age > rateRounds/4 {
		b[1].round, b[1].value = round, value
		b[2] = b[1]
	} else if b[2].round == b[1].round && age > rateRounds/2 {
		b[2].round, b[2].value = round, value
	}
}
