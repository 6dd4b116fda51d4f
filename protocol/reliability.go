package protocol

import "strconv"

// Reliability is a delivery mode. On the wire it is the top three bits of a
// frame's flags. The zero value is Unreliable.
type Reliability uint8

// The delivery modes of RakNet. Modes 5 to 7 ask the sender for a receipt; the
// wire carries them as 0, 2 and 3, since the receiver need not know.
const (
	// Unreliable messages arrive at most once per datagram, in any order, or not at all.
	Unreliable Reliability = iota
	// UnreliableSequenced messages may be lost; one that arrives after a newer one is dropped.
	UnreliableSequenced
	// Reliable messages arrive exactly once, in any order.
	Reliable
	// ReliableOrdered messages arrive exactly once, in the order sent on their channel.
	ReliableOrdered
	// ReliableSequenced messages are resent until they arrive; one that arrives after a newer one is dropped.
	ReliableSequenced
	// UnreliableWithReceipt is Unreliable, and the sender learns whether it was acknowledged.
	UnreliableWithReceipt
	// ReliableWithReceipt is Reliable, and the sender learns when it was acknowledged.
	ReliableWithReceipt
	// ReliableOrderedWithReceipt is ReliableOrdered, and the sender learns when it was acknowledged.
	ReliableOrderedWithReceipt
)

// OrderingChannels is the number of ordering channels, 0 to 31.
const OrderingChannels = 32

var reliabilityNames = [...]string{"unreliable", "unreliable sequenced", "reliable", "reliable ordered",
	"reliable sequenced", "unreliable with receipt", "reliable with receipt", "reliable ordered with receipt"}

// String names the mode.
func (r Reliability) String() string {
	if int(r) < len(reliabilityNames) {
		return reliabilityNames[r]
	}
	return "reliability " + strconv.Itoa(int(r))
}

// Valid reports whether r is one of the eight modes.
func (r Reliability) Valid() bool { return r <= ReliableOrderedWithReceipt }

// Wire returns the mode that the wire carries for r: 0, 2, 3 for 5, 6, 7, and r otherwise.
func (r Reliability) Wire() Reliability {
	switch r {
	case UnreliableWithReceipt:
		return Unreliable
	case ReliableWithReceipt:
		return Reliable
	case ReliableOrderedWithReceipt:
		return ReliableOrdered
	}
	return r
}

// WithReceipt reports whether the mode asks for a receipt.
func (r Reliability) WithReceipt() bool {
	return r >= UnreliableWithReceipt && r <= ReliableOrderedWithReceipt
}

// IsReliable reports whether lost frames of the mode are resent; such frames carry a reliable index.
func (r Reliability) IsReliable() bool {
	switch r.Wire() {
	case Reliable, ReliableOrdered, ReliableSequenced:
		return true
	}
	return false
}

// IsSequenced reports whether the mode drops what is older than the newest delivered;
// such frames carry a sequencing index beside the ordering index.
func (r Reliability) IsSequenced() bool {
	return r == UnreliableSequenced || r == ReliableSequenced
}

// IsOrdered reports whether the mode delivers in the order sent on its channel.
func (r Reliability) IsOrdered() bool { return r.Wire() == ReliableOrdered }

// HasChannel reports whether frames of the mode carry an ordering index and a channel.
func (r Reliability) HasChannel() bool { return r.IsOrdered() || r.IsSequenced() }

// Split returns the mode that a message sent as r uses when it is too large for
// one frame: the unreliable modes become reliable, as in the original engine,
// since losing one fragment would lose the whole message.
func (r Reliability) Split() Reliability {
	switch r {
	case Unreliable:
		return Reliable
	case UnreliableSequenced:
		return ReliableSequenced
	case UnreliableWithReceipt:
		return ReliableWithReceipt
	}
	return r
}
