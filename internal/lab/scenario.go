package lab

import (
	"fmt"
	"time"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/protocol"
)

// Scenario is a link, the flows on it, and what must be reached.
type Scenario struct {
	Name   string // as on the command line
	Family string // scenarios of one family share a table
	Title  string // a line that says it all

	// Up carries what the senders send, Down the way back.
	Up, Down netsim.Link
	// Spread is how much longer than Link.ReorderBy an overtaken datagram is held back
	// at most, evenly spread.
	Spread time.Duration
	// AckEvery, if not zero, lets the receivers send only at multiples of it.
	AckEvery time.Duration
	// Blackout begins at BlackoutAt or up to a second later, and takes both directions. It
	// lasts so long or up to a tenth longer, as the seed decides, so that it does not end at
	// the same point between two attempts each time.
	BlackoutAt, Blackout time.Duration

	Flows []Flow
	// Measured are the goodput, queue and messages between From and Until; counters of
	// datagrams and bytes run from the start to Until. Messages that were sent before Until
	// have a few seconds more to arrive.
	From, Until time.Duration

	// Baseline names the scenario that ratios are ratios to.
	Baseline string
	Goals    []Goal
	Show     []Metric // what the table has beside the goals
	// Bound says what no sender can do better, and why; written beside the goals.
	Bound string
	// Ideal are the metrics that an ideal sender reaches on this link, for Bound.
	Ideal func(s *Scenario, seed uint64) *Result
}

// Flow is one connection, or one TCP model.
type Flow struct {
	TCP     bool
	Start   time.Duration
	Sources []Source
}

// Source is an application that sends ReliableOrdered messages on a channel of its own.
type Source struct {
	// Every is the time between two messages; zero keeps the send buffer full.
	Every    time.Duration
	Size     int // bytes of a message
	Priority protocol.Priority
}

// Goal is a number that must be reached.
type Goal struct {
	Metric  Metric
	AtLeast bool // or at most
	Value   float64
}

// Reached reports whether v is good enough.
func (g *Goal) Reached(v float64) bool {
	if g.AtLeast {
		return v >= g.Value
	}
	return v <= g.Value
}

// String writes the goal.
func (g *Goal) String() string {
	sign := "<="
	if g.AtLeast {
		sign = ">="
	}
	return fmt.Sprintf("%v %s %s", g.Metric, sign, with(g.Metric, g.Value))
}

func atMost(m Metric, v float64) Goal  { return Goal{m, false, v} }
func atLeast(m Metric, v float64) Goal { return Goal{m, true, v} }

// Find returns the scenario of that name.
func Find(name string) (*Scenario, bool) {
	for i := range Scenarios {
		if Scenarios[i].Name == name {
			return &Scenarios[i], true
		}
	}
	return nil, false
}
