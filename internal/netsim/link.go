package netsim

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// Link describes one direction of a path. The zero value is perfect: everything arrives,
// once, in order, at the very moment it was sent. Probabilities run from 0 to 1.
type Link struct {
	// Delay is how long every datagram is under way, after it has left the queue.
	Delay time.Duration
	// Jitter is the most that is added to Delay, evenly spread. It never makes one datagram
	// overtake another, as Reorder does; the one behind waits.
	Jitter time.Duration
	// Loss is the share of datagrams that vanish, each for itself.
	Loss float64
	// Burst makes datagrams vanish in groups, on top of Loss. Nil: it does not.
	Burst *GilbertElliott
	// Duplicate is the share of datagrams that arrive twice, the second time right after
	// the first.
	Duplicate float64
	// Reorder is the share of datagrams that are held back by ReorderBy while others
	// overtake them.
	Reorder float64
	// ReorderBy is for how long. Zero means a millisecond.
	ReorderBy time.Duration
	// Corrupt is the share of datagrams with one flipped bit, as slips through the UDP
	// checksum now and then.
	Corrupt float64
	// Truncate is the share of datagrams that lose a piece of their end, maybe all of it.
	Truncate float64
	// Bandwidth is how many bytes a second fit through, each datagram with its 28 bytes of
	// IP and UDP header. Zero: any number.
	Bandwidth int64
	// Queue is how many bytes, headers included, wait for a link with a Bandwidth; what
	// comes when it is full is dropped. Zero means DefaultQueue, negative no bound but
	// that of what is under way.
	Queue int
	// MTU is the largest IP packet the path takes: a datagram of more than MTU-28 bytes
	// vanishes without a word, as behind a router that does not fragment and whose ICMP
	// is filtered. Zero: any size.
	MTU int
	// Blackout, if not nil, makes everything vanish that is sent at a time for which it is
	// true.
	Blackout func(at monotime.Time) bool
}

const (
	// DefaultQueue is the queue in front of a link with a Bandwidth, in bytes: about what a
	// home router has. It fills when senders are faster than the link.
	DefaultQueue = 256 << 10

	// headers is what IPv4 and UDP put in front of each datagram. It is counted for IPv6
	// as well, as RakNet's own MTU does.
	headers = 28

	defaultReorderBy = time.Millisecond
)

// GilbertElliott is the classic model of loss in bursts: a path is in a good or a bad
// state, changes it at random before each datagram, and loses datagrams at a different
// rate in either. It starts good.
type GilbertElliott struct {
	ToBad, ToGood     float64 // probability per datagram of changing to that state
	LossGood, LossBad float64 // share of datagrams that vanish in that state
}

// queue returns the bound of the queue in bytes, and whether there is one.
func (l *Link) queue() (int64, bool) {
	if l.Queue == 0 {
		return DefaultQueue, true
	}
	return int64(l.Queue), l.Queue > 0
}

// transmission returns how long a datagram of n bytes occupies the link.
func (l *Link) transmission(n int) time.Duration {
	if l.Bandwidth <= 0 {
		return 0
	}
	return time.Duration(int64(n+headers) * int64(time.Second) / l.Bandwidth)
}

// reorderBy returns how long a datagram that is to be overtaken is held back.
func (l *Link) reorderBy() time.Duration {
	if l.ReorderBy > 0 {
		return l.ReorderBy
	}
	return defaultReorderBy
}
