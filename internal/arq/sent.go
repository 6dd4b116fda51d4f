package arq

import "github.com/raknet-go/raknet/internal/monotime"

// sentDatagram is the record of one transmission.
type sentDatagram struct {
	packet  *packet                // what it carried; nil if nothing of it can be resent or reported
	serial  uint32                 // packet is meant only while its serial is this
	also    *[maxRiders]sentPacket // what rode along once more; nil: nothing
	size    int32
	state   sentState
	nacked  bool // the peer reported it missing
	limited bool // sent while the application, not the window, was the limit
	sentAt  monotime.Time
	// The delivery state when it was sent, for the rate of delivery over its flight.
	delivered   int64
	deliveredAt monotime.Time
	firstSentAt monotime.Time // departure of the datagram whose ACK came last by then
}

type sentState uint8

const (
	sentNever sentState = iota
	sentOut             // in flight as far as we know
	sentAcked
	sentLost
)

// carried returns the packet that d carried, if that still waits for its ACK.
func (d *sentDatagram) carried() *packet {
	if d.packet != nil && d.packet.serial == d.serial {
		return d.packet
	}
	return nil
}

// sentSlotsMin is the first size of the record. Arbitrary.
const sentSlotsMin = 4

// sentRing is the record of transmissions, by datagram number: a power-of-two ring
// that grows up to datagramsInFlight and holds the numbers from base to next.
type sentRing struct {
	slots      []sentDatagram
	base, next int64
	out        int // datagrams in state sentOut
}

func (r *sentRing) at(n int64) *sentDatagram { return &r.slots[int(n)&(len(r.slots)-1)] }

// full reports whether no further datagram can be recorded.
func (r *sentRing) full() bool {
	return r.next-r.base >= datagramsInFlight && r.at(r.base).state == sentOut
}

// push records a transmission and returns its slot, numbered r.next before the call.
func (r *sentRing) push() *sentDatagram {
	if n := len(r.slots); int(r.next-r.base) == n {
		switch {
		case n == 0:
			r.slots = make([]sentDatagram, sentSlotsMin)
		case n < datagramsInFlight:
			grown := make([]sentDatagram, 2*n)
			for i := r.base; i < r.next; i++ {
				grown[int(i)&(2*n-1)] = *r.at(i)
			}
			r.slots = grown
		default:
			r.base++ // the caller asked full: it is settled
		}
	}
	d := r.at(r.next)
	r.next++
	r.out++
	*d = sentDatagram{state: sentOut}
	return d
}

// trim forgets settled datagrams at the low end: acknowledged ones at once, lost
// ones once they are older than the given moment, or lostHistory numbers old and twice
// what is in flight.
func (r *sentRing) trim(before monotime.Time) {
	for r.base < r.next {
		d := r.at(r.base)
		if d.state == sentOut || d.state == sentLost && r.next-r.base <= lostHistory+2*int64(r.out) && d.sentAt >= before {
			return
		}
		d.packet = nil
		r.base++
	}
}

// rest gives the slots back if nothing is on record: the next burst starts small again.
// That is not for every moment in which all is acknowledged, which comes often where the
// round trip is short.
func (r *sentRing) rest() {
	if r.base == r.next {
		r.slots = nil
	}
}
