package arq

// Phase is what a controller is doing. Each has its own ideas of that; these are what
// they have in common.
type Phase uint8

// The phases.
const (
	PhaseNone      Phase = iota // the controller has none
	PhaseStartup                // it doubles what is in flight with each round trip
	PhaseDrain                  // it lets the queue that startup built run empty
	PhaseSteady                 // it holds the speed that it found, and probes for more
	PhaseCalm                   // it holds less for a moment, to see the least round trip
	PhaseCollapsed              // nothing was heard for so long that little may be in flight
)

var phases = [...]string{"none", "startup", "drain", "steady", "calm", "collapsed"}

// String names the phase.
func (p Phase) String() string { return nameOf(phases[:], p) }

// phased is a controller that has phases.
type phased interface{ tracePhase() Phase }

func (m *model) tracePhase() Phase {
	switch {
	case m.collapsed:
		return PhaseCollapsed
	case m.phase == modelStartup:
		return PhaseStartup
	case m.phase == modelDrain:
		return PhaseDrain
	case m.phase == modelCalm:
		return PhaseCalm
	}
	return PhaseSteady
}

func (c *cubic) tracePhase() Phase { return windowPhase(c.silent, c.window < c.threshold) }

func (w *slidingWindow) tracePhase() Phase { return windowPhase(w.silent, w.slowStart()) }

// windowPhase is the phase of a controller that has slow start and nothing else.
func windowPhase(silent, slowStart bool) Phase {
	switch {
	case silent:
		return PhaseCollapsed
	case slowStart:
		return PhaseStartup
	}
	return PhaseSteady
}
