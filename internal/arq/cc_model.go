package arq

import (
	"math"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// model is a controller that does not take every loss for congestion. In the manner of BBR
// it keeps two measurements, the rate at which the path delivers and its least round
// trip, and holds in flight about twice what they make; paced at the measured rate, the
// queue in front of the narrowest link stays short. It probes for more by sending a
// little faster for one round trip in eight, and then drains what that queued.
//
// Congestion is what the delay says is congestion: loss while the queue never runs empty,
// which its own probes do not cause, so that somebody else must be there; and loss that
// comes whenever the queue is long. Then a ceiling bounds what is in flight, which the
// loss lowers and time raises as in CUBIC, so that all get their share.
type model struct {
	rates  maxFilter // delivery rates, bytes a second, over the last rateRounds round trips
	extras maxFilter // bytes acknowledged in excess of the rate: the peer's ACKs come in lumps

	roundEnd int64 // the round ends when a datagram of this number or above is acknowledged

	path pathDelay

	// Startup: what the rate was when it last grew. Probing: what it was as the cycle began.
	rateThen int64

	// Probing: when this phase of the cycle began. Calm: when it ends; Never while more is in
	// flight than should be.
	phaseAt monotime.Time

	// Probing.
	slow  [2]int  // bytes acknowledged and lost since the last drain
	noise float64 // share that the path loses whatever the rate

	// Lumps of ACKs.
	lumpAt monotime.Time

	ceiling     ceiling
	acked, lost int32 // bytes in this round
	window      int32

	// Side by side, which takes less room.
	lumpBytes  int32
	mtu        int32
	round      uint32 // round trips so far
	phase      modelPhase
	fullRounds int8 // startup: round trips in a row without growth, up to growthRounds
	cycle      int8 // probing: which of probeGains
	grown      int8 // probing: cycles in a row in which the rate grew and nothing spoke of congestion, up to restartCycles
	lossyRound bool
	collapsed  bool // nothing was heard for so long that few datagrams at a time must do
}

type modelPhase uint8

const (
	modelStartup modelPhase = iota // double each round trip until the rate stops growing
	modelDrain                     // let the queue that startup built run empty
	modelProbe                     // hold, and probe now and then
	modelCalm                      // hold less for a moment, to see the least round trip
)

const (
	// rateRounds is how long a measured rate counts, in round trips: longer than a cycle
	// of probing, so that what a probe found outlasts it.
	rateRounds = 10
	// startupGain is the multiple of the path's content that may be in flight at the
	// start: enough to double the rate in each round trip, and no more than what a queue of
	// one content takes. drainGain empties such a queue in about two round trips.
	startupGain = 2.0
	// A window beyond fastBytes was reached on a path that shows no queue yet, and so is either fast
	// or long: there startup multiplies by fastGain, which brings it to its end a round trip or two
	// sooner. Both arbitrary; in the laboratory queues as long as the path
	// then lose next to nothing, which they do from a gain of 3 on.
	fastBytes = 512 << 10
	fastGain  = 2.5
	drainGain = 0.35
	// growthGoal and growthRounds end startup: this many round trips in a row without
	// that much growth.
	growthGoal   = 1.25
	growthRounds = 3
	// windowGain is the multiple of the path's content that may be in flight: one on
	// the way, one for ACKs that come late or in lumps.
	windowGain = 2.0
	// calmGain is the multiple that is held to see the least round trip.
	calmGain = 0.5
	// drainRounds bounds how long a cycle drains, in round trips. Arbitrary.
	drainRounds = 4
	// noiseMemory is over how many cycles the share is averaged, noiseDatagrams how much must
	// be known of a drain for it to count. Less than leastNoise is left to the probes, which
	// go a quarter above the rate, and no more than mostNoise is made up for. All arbitrary.
	noiseMemory    = 4
	noiseDatagrams = 8
	leastNoise     = 0.1
	mostNoise      = 0.3
	// restartGrowth is how much a cycle must find for startup to come back, near all that a
	// probe can show, and restartCycles how many cycles in a row must.
	restartGrowth = 1.2
	restartCycles = 2
	// heavyLoss is the share of a flight whose loss means a full queue and not a bad path,
	// though the delay says nothing: above what paths lose at random, below what it costs to double
	// the rate once too often. From outageLoss on it means nothing. Both arbitrary.
	// In startup, which fills queues on purpose, less says so.
	heavyLoss   = 0.35
	startupLoss = 0.2
	outageLoss  = 0.9
	// heavyDatagrams is how many full datagrams must be lost for that, so that two
	// unlucky ones in a small window do not count.
	heavyDatagrams = 8
	// longestTick bounds how long a peer is taken to collect ACKs: the slowest in use do so for 100 ms.
	longestTick = 100 * time.Millisecond
	// shortWindow is the least window on a path so short that the machines are slower
	// than it: two thirds of a default receive buffer.
	shortWindow = 64 * 1464
	shortRTT    = 2 * time.Millisecond
)

// probeGains are the pacing gains of a cycle, each for about a round trip.
var probeGains = [...]float64{1.25, 0.75, 1, 1, 1, 1, 1, 1}

const cycleDrain = 1 // the phase of a cycle that drains

// NewModel makes a controller that follows a model of the path.
func NewModel(mtu int) Controller {
	return &model{mtu: int32(mtu), window: int32(initialDatagrams * mtu), roundEnd: -1}
}

func (m *model) OnSent(monotime.Time, int, int) {}

func (m *model) OnAck(now monotime.Time, a AckSample) {
	m.collapsed = false
	m.acked += int32(a.Bytes)
	m.slow[0] += a.Bytes
	m.path.add(now, a.RTT)
	newRound := a.Newest >= m.roundEnd
	if newRound {
		m.round++
		m.roundEnd = a.Next
		m.path.endRound()
		if !m.lossyRound && !m.path.standing() && !m.path.telling() {
			m.ceiling.lift()
		}
		m.acked, m.lost, m.lossyRound = 0, 0, false
	}
	if a.Rate > 0 && (!a.AppLimited || a.Rate > m.rates.max()) {
		m.rates.add(uint16(m.round), a.Rate)
	}
	m.lump(now, a.Bytes)
	switch m.phase {
	case modelStartup:
		if newRound && !a.AppLimited {
			m.checkFull()
		}
	case modelDrain:
		if m.drained(a) {
			m.cruise(now)
		}
	case modelProbe:
		m.nextInCycle(now, a)
		m.checkCalm(now, a)
	case modelCalm:
		m.calm(now, a)
	}
	m.ceiling.grow(now, int(m.mtu), newRound)
	m.setWindow(now, a)
}

// checkFull ends startup when the rate has stopped growing.
func (m *model) checkFull() {
	if rate := m.rates.max(); float64(rate) >= growthGoal*float64(m.rateThen) {
		m.rateThen, m.fullRounds = rate, 0
		return
	}
	m.fullRounds++
	if m.fullRounds >= growthRounds {
		m.phase = modelDrain
	}
}

// cruise begins to hold and probe, somewhere in the cycle, so that the flows of a link do
// not all probe at once.
func (m *model) cruise(now monotime.Time) {
	m.phase, m.cycle, m.phaseAt = modelProbe, int8(m.round%(uint32(len(probeGains))-2)+2), now
	m.rateThen, m.grown = m.rates.max(), 0
}

// drained reports whether no more is in flight than the path and the peer's ACKs hold.
func (m *model) drained(a AckSample) bool { return a.InFlight <= m.content(1)+int(m.extras.max()) }

func (m *model) nextInCycle(now monotime.Time, a AckSample) {
	since := now.Sub(m.phaseAt)
	if m.cycle == cycleDrain {
		if since <= drainRounds*m.path.min && !m.drained(a) {
			return
		}
	} else if since <= m.path.min {
		return
	}
	m.cycle = (m.cycle + 1) % int8(len(probeGains))
	m.phaseAt = now
	switch m.cycle {
	case 0:
		m.restart()
	case cycleDrain + 1:
		m.slow = [2]int{}
	case cycleDrain + 2:
		m.hearNoise()
	}
}

// hearNoise learns how much the path loses whatever the rate, from what became of the
// datagrams that left while the cycle drained: slower than the path delivers, they found
// room in any queue.
func (m *model) hearNoise() {
	if all := m.slow[0] + m.slow[1]; all >= noiseDatagrams*int(m.mtu) {
		m.noise += (float64(m.slow[1])/float64(all) - m.noise) / noiseMemory
	}
}

// replacement is by how much more is sent so that the same arrives, on a path that loses so
// much that probes could not show any growth.
func (m *model) replacement() float64 {
	if m.noise < leastNoise || m.path.standing() {
		return 1
	}
	return 1 / (1 - min(m.noise, mostNoise))
}

// restart goes back to startup when each of the last cycles found more: startup ended before
// the path was full, or there is a faster path now, and what doubles each round trip gets there sooner.
func (m *model) restart() {
	rate := m.rates.max()
	if float64(rate) < restartGrowth*float64(m.rateThen) || m.path.standing() {
		m.grown = 0
	} else if m.grown++; m.grown >= restartCycles {
		m.phase, m.grown = modelStartup, 0
		m.fullRounds = 0
	}
	m.rateThen = rate
}

// checkCalm begins a calm when the least round trip has not been seen for long.
func (m *model) checkCalm(now monotime.Time, a AckSample) {
	switch {
	case !m.path.stale(now):
	case a.AppLimited || !a.WindowLimited && a.InFlight <= m.content(calmGain):
		m.path.replace(now) // it sends so little that what it sees is the path
	default:
		m.phase, m.phaseAt = modelCalm, monotime.Never
	}
}

// calm waits until little is in flight, sees the round trip for one of its length, and
// goes on.
func (m *model) calm(now monotime.Time, a AckSample) {
	switch {
	case m.phaseAt == monotime.Never:
		if a.InFlight <= m.calmWindow() {
			m.phaseAt = now.Add(m.path.latest)
		}
	case now >= m.phaseAt:
		m.path.replace(now)
		m.cruise(now)
	}
}

// calmWindow is how much may be in flight in a calm.
func (m *model) calmWindow() int { return max(m.content(calmGain), minDatagrams*int(m.mtu)) }

// lump measures how much more than the rate allows is acknowledged at once.
func (m *model) lump(now monotime.Time, bytes int) {
	rate := m.rates.max()
	expected := int(float64(rate) * now.Sub(m.lumpAt).Seconds())
	if m.lumpAt.IsZero() || int(m.lumpBytes) <= expected {
		m.lumpAt, m.lumpBytes, expected = now, 0, 0
	}
	m.lumpBytes = int32(min(int(m.lumpBytes)+bytes, math.MaxInt32))
	most := int(float64(rate) * longestTick.Seconds())
	m.extras.add(uint16(m.round), int64(min(int(m.lumpBytes)-expected, most)))
}

func (m *model) OnLoss(now monotime.Time, l LossSample) {
	m.lost += int32(l.Bytes)
	m.slow[1] += l.Bytes
	if l.Timeout {
		m.collapsed = true
		return
	}
	if m.phase == modelProbe {
		m.path.lost()
	}
	flying := l.InFlight + l.Bytes
	if m.lossyRound || 2*flying < int(m.window) {
		return // once a round trip, and not to a flow that takes little of the path
	}
	congestion := m.path.standing() || m.path.telling() && m.path.long() || m.heavy(flying)
	if !congestion {
		return
	}
	m.lossyRound, m.grown = true, 0
	m.ceiling.cut(now, int(m.mtu), flying, max(minDatagrams*int(m.mtu), m.content(1)/2))
	if m.phase == modelStartup && m.rates.max() > 0 {
		m.phase = modelDrain
	}
	m.window = int32(min(int(m.window), m.ceiling.bytes))
}

// heavy reports whether so much of a flight was lost that a queue must be full. Nearly all of it
// is an outage, or the loss of the one ACK that named it.
func (m *model) heavy(flying int) bool {
	share := float64(m.lost) / float64(max(int(m.acked)+int(m.lost), flying))
	least := heavyLoss
	if m.phase == modelStartup {
		least = startupLoss
	}
	return m.lost >= heavyDatagrams*m.mtu && share >= least && share <= outageLoss
}

func (m *model) OnSpurious(monotime.Time) { m.ceiling.restore() }

// content is what the path holds at the measured rate, times gain.
func (m *model) content(gain float64) int {
	return int(gain * float64(m.rates.max()) * m.path.min.Seconds())
}

func (m *model) setWindow(now monotime.Time, a AckSample) {
	gain := windowGain
	switch m.phase {
	case modelStartup:
		gain = m.startup()
	case modelCalm:
		m.window = int32(min(m.calmWindow(), math.MaxInt32))
		return
	}
	target := m.content(gain) + int(m.extras.max())
	if m.path.min < shortRTT {
		target = max(target, shortWindow)
	}
	window := int(m.window)
	if m.phase == modelStartup {
		// As in slow start: no faster than what arrives, and never back down. While a queue is
		// seen to fill it stays, or the next round trip would overflow it; whether
		// that is the path's end or another flow's doing shows in whether the rate still grows.
		if more := int((m.startup() - 1) * float64(a.Bytes)); !m.path.filling(now) {
			window = max(window, min(window+more, max(target, window)))
			if a.WindowLimited && target < window+more && m.fullRounds == 0 && !m.path.building() {
				window += more
			}
		}
	} else {
		window = target
	}
	window = min(max(window, minDatagrams*int(m.mtu)), maxWindow)
	if m.ceiling.bytes > 0 {
		window = min(window, m.ceiling.bytes)
	}
	m.window = int32(window)
}

// startup is by how much startup multiplies the window in a round trip.
func (m *model) startup() float64 {
	if m.window > fastBytes {
		return fastGain
	}
	return startupGain
}

func (m *model) Window() int {
	if m.collapsed {
		return minDatagrams * int(m.mtu)
	}
	return int(m.window)
}

// PacingRate leaves startup to the window, since the rate of an application that has
// little to send says nothing about the path.
func (m *model) PacingRate() int64 {
	if m.phase == modelStartup || m.path.min < minPacedRTT {
		return 0
	}
	gain := 1.0
	switch m.phase {
	case modelDrain:
		gain = drainGain
	case modelProbe:
		gain = probeGains[m.cycle]
	}
	return max(int64(gain*m.replacement()*float64(m.rates.max())), 1)
}

// maxFilter keeps the greatest of the values of the last rateRounds rounds, by the
// greatest, and the greatest later ones (Kathleen Nichols' windowed filter).
type maxFilter struct {
	value [3]int64
	round [3]uint16 // in which each was seen; may wrap
}

func (f *maxFilter) max() int64 { return f.value[0] }

func (f *maxFilter) add(round uint16, value int64) {
	if value >= f.value[0] || round-f.round[2] > rateRounds {
		f.set(0, round, value)
		return
	}
	if value >= f.value[1] {
		f.set(1, round, value)
	} else if value >= f.value[2] {
		f.set(2, round, value)
	}
	if age := round - f.round[0]; age > rateRounds {
		f.shift()
		f.set(2, round, value)
		if round-f.round[0] > rateRounds {
			f.shift()
		}
	} else if f.round[1] == f.round[0] && age > rateRounds/4 {
		f.set(1, round, value)
	} else if f.round[2] == f.round[1] && age > rateRounds/2 {
		f.set(2, round, value)
	}
}

// set writes the place i and those behind it.
func (f *maxFilter) set(i int, round uint16, value int64) {
	for ; i < len(f.value); i++ {
		f.value[i], f.round[i] = value, round
	}
}

// shift drops the greatest.
func (f *maxFilter) shift() {
	f.value[0], f.value[1] = f.value[1], f.value[2]
	f.round[0], f.round[1] = f.round[1], f.round[2]
}
