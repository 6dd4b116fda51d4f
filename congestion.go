package raknet

import (
	"fmt"

	"github.com/raknet-go/raknet/internal/arq"
)

// Congestion selects how much a connection keeps in flight before it waits for
// acknowledgements. The zero value is the default controller, which is right
// unless measurements of the link in question say otherwise. Values can be compared.
type Congestion struct {
	kind   congestionKind
	window int
}

type congestionKind uint8

const (
	congestionDefault congestionKind = iota
	congestionSliding
	congestionFixed
	congestionCubic
	congestionModel
)

// SlidingWindow is the congestion control of the original engine: slow start, and
// after a loss a window that shrinks sharply and grows by one datagram per round trip.
func SlidingWindow() Congestion { return Congestion{kind: congestionSliding} }

// ModelBased follows a model of the path, its delivery rate and its least round trip, in
// the manner of BBR: it keeps its speed where datagrams are lost at random, and the
// queues in front of narrow links short. It is the default.
func ModelBased() Congestion { return Congestion{kind: congestionModel} }

// Cubic is the congestion control of most TCP stacks (RFC 9438). It takes every loss for
// congestion, so it shares a link with TCP fairly and is slow where datagrams are lost
// at random.
func Cubic() Congestion { return Congestion{kind: congestionCubic} }

// maxFixedWindow bounds FixedWindow, in datagrams: the receivers of this library
// remember that many datagram numbers, so a larger window is loss by construction.
const maxFixedWindow = 4096

// FixedWindow keeps up to the given number of datagrams in flight whatever is
// lost. It suits a link that nobody else uses, such as a cable between two machines, and
// tests. It is unfair to other traffic on any shared link. Numbers below 1 count
// as 1, above 4096 as 4096.
func FixedWindow(datagrams int) Congestion {
	return Congestion{kind: congestionFixed, window: min(max(datagrams, 1), maxFixedWindow)}
}

// controller returns what makes a connection's controller; nil is the engine's default.
func (c Congestion) controller() func(mtu int) arq.Controller {
	switch c.kind {
	case congestionSliding:
		return arq.NewSliding
	case congestionFixed:
		return arq.NewFixed(c.window)
	case congestionCubic:
		return arq.NewCubic
	case congestionModel:
		return arq.NewModel
	}
	return nil
}

// String names the selection.
func (c Congestion) String() string {
	switch c.kind {
	case congestionSliding:
		return "sliding window"
	case congestionCubic:
		return "CUBIC"
	case congestionModel:
		return "model-based"
	case congestionFixed:
		return fmt.Sprintf("fixed window of %d datagrams", c.window)
	}
	return "default"
}
