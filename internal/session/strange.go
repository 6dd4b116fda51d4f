package session

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Anybody can write a peer's address on datagrams, and guess the rest, the easier since every
// count begins at zero. Guesses show: for one number that is right there are many that lie far from
// the last. While such datagrams come the connection is besieged, and what can be guessed does not
// end it: a disconnect is believed only if the peer falls silent, and malformed datagrams
// are dropped without being held against it.

const (
	// nearNumbers is how far from the newest of the peer's datagrams a number may lie without being
	// strange. Loss of more at once only means that a disconnect takes a moment longer.
	nearNumbers = 64
	// siegeTime is for how long one strange datagram counts, in units of strangeUnit. Somebody who
	// guesses gets one attempt in that time, of which one in 130,000 is near.
	siegeTime = 10
	// strangeUnit is the precision with which the time of the last one is kept, about a second.
	strangeUnit = 1 << 30
	// doubtTime is how long a peer has to show that it lives after somebody said that it left.
	doubtTime = time.Second
)

// near reports whether the number of a datagram is one that the peer could use now; one that is
// not is noted as strange. ACKs and NACKs have no number, and so tell nothing.
func (c *Conn) near(now monotime.Time, data []byte) bool {
	if len(data) < wire.DatagramHeaderSize || data[0]&0xe0 != 0x80 {
		return false
	}
	if (wire.Uint24(data[1:])-c.newest+nearNumbers)&wire.Mask24 <= 2*nearNumbers {
		return true
	}
	c.strangeAt = uint32(now/strangeUnit) + 1
	return false
}

// follow notes the number of a datagram that was taken.
func (c *Conn) follow(data []byte) {
	if len(data) < wire.DatagramHeaderSize || data[0]&0xe0 != 0x80 {
		return
	}
	if n := wire.Uint24(data[1:]); (n-c.newest)&wire.Mask24 < 1<<23 {
		c.newest = n
	}
}

// besieged reports whether somebody else may be writing the peer's address on datagrams.
func (c *Conn) besieged(now monotime.Time) bool {
	return c.strangeAt != 0 && uint32(now/strangeUnit)+1-c.strangeAt <= siegeTime
}

// doubt is what became of a disconnect that somebody else may have sent.
type doubt uint8

const (
	noDoubt  doubt = iota
	justSaid       // it lies in the datagram that is being taken
	waiting        // a sign of life would refute it
)

// doubtful handles a disconnect that somebody else may have sent: the peer is asked for a sign
// of life. In the handshake, which ends soon in any case, nothing comes of it.
func (c *Conn) doubtful(now monotime.Time) {
	if c.state == Handshaking {
		return
	}
	if c.doubt == noDoubt {
		c.timers.set(timerHandshake, now.Add(doubtTime))
		p := wire.ConnectedPing{Time: c.secretTime(now)}
		c.sendControl(now, p.Append(nil), protocol.Reliable, protocol.PriorityImmediate)
	}
	c.doubt = justSaid
}

// reassure takes note of a datagram of the peer's while a disconnect is doubted.
func (c *Conn) reassure() {
	if c.doubt == justSaid {
		c.doubt = waiting
		return
	}
	c.doubt = noDoubt
	if c.state < Closed {
		c.timers.stop(timerHandshake)
	}
}
