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
	// lateNumbers is how far behind the newest a datagram may come late. As far as the
	// engine remembers numbers; beyond, it takes what is reliable without knowing whether it came.
	lateNumbers = 4096
	// leftNumbers is how far behind the peer may be left by a forged jump, the longest that the engine
	// takes, and leftTime how long it must not have been seen where it was, in units of strangeUnit,
	// before it is looked for there.
	leftNumbers = 50_000 + lateNumbers
	leftTime    = 2
	// farNumbers is how far from the newest, ahead or behind, no number lies that the peer used, whatever it and
	// the path are like. One in 16 guesses lies nearer. Arbitrary.
	farNumbers = 1 << 19
	// siegeTime is for how long one strange datagram counts, in the same units. Somebody who
	// guesses gets one attempt in that time, of which one in 130,000 is near.
	siegeTime = 10
	// strangeUnit is the precision with which these times are kept, about a second.
	strangeUnit = 1 << 30
	// doubtTime is how long a peer has to show that it lives after somebody said that it left. After
	// echoTime, when what was under way has come, it is asked once more. Arbitrary.
	doubtTime = time.Second
	echoTime  = 300 * time.Millisecond
)

// place is what the number of a datagram says about its sender.
type place uint8

const (
	nowhere   place = iota // an ACK or a NACK, which has none
	here                   // it is near the peer's newest
	moved                  // it is near the strange one before, which a guess is not
	somewhere              // it may be the peer's
	elsewhere              // it is not, and must be dropped
)

// place judges the number of a datagram, and notes one that is strange.
//
// The engine takes the reliable frames of the oldest datagrams, since a forged jump can make the
// peer's own ones old. But of guesses at a reliable index one in 250 is one that the peer may
// use, and the peer's frame would then be taken for a copy, so that its channel waits for ever. So
// what lies far behind is dropped, unless the peer is not seen any more where it was. And once a number came that
// the peer cannot have used, somebody guesses, of whose numbers one in 2000 is in the window: then
// everything that is not near is dropped while the peer is seen where it was. It will send again what
// it lost by that.
func (c *Conn) place(now monotime.Time, data []byte) place {
	if len(data) < wire.DatagramHeaderSize || data[0]&0xe0 != 0x80 {
		return nowhere
	}
	n := wire.Uint24(data[1:])
	if (n-c.newest+nearNumbers)&wire.Mask24 <= 2*nearNumbers {
		return here
	}
	follows, guessed := (n-c.stranger-1)&wire.Mask24 < nearNumbers, c.guessed(now)
	behind := (c.newest - n) & wire.Mask24
	far := (n-c.newest+farNumbers)&wire.Mask24 > 2*farNumbers
	c.noteStranger(now, n, far)
	switch {
	case (far || guessed) && !c.unseen(now):
		return elsewhere
	case follows:
		return moved
	case behind <= lateNumbers || behind >= 1<<23 || behind <= leftNumbers && c.unseen(now):
		return somewhere
	}
	return elsewhere
}

// noteStranger takes down a number that is not near, and if it is far, when it came.
func (c *Conn) noteStranger(now monotime.Time, n uint32, far bool) {
	guessAt := c.stranger >> 24
	if far {
		guessAt = uint32(max(uint8(siegeClock(now)), 1))
	}
	c.strangeAt, c.stranger = siegeClock(now), guessAt<<24|n
}

// guessed reports whether such a number came of late. The time is kept with 8 bits, which may make one of minutes ago
// count again for some seconds, if the connection is besieged then.
func (c *Conn) guessed(now monotime.Time) bool {
	at := uint8(c.stranger >> 24)
	return at != 0 && c.besieged(now) && uint8(siegeClock(now))-at <= siegeTime
}

// follow notes where the peer is, from a datagram that was taken. A single one far ahead says nothing: the
// engine takes such guesses of a connection that rests.
func (c *Conn) follow(now monotime.Time, data []byte, p place) {
	if p == nowhere {
		return
	}
	n := wire.Uint24(data[1:])
	ahead := (n - c.newest) & wire.Mask24
	switch {
	case p == somewhere && (!c.unseen(now) || ahead > lateNumbers && ahead < 1<<23):
		return
	case p == here && ahead > nearNumbers: // a little late
	default:
		c.newest = n
	}
	c.keepalive.seenAt = siegeClock(now)
}

// unseen reports whether nothing came for some time from where the peer was.
func (c *Conn) unseen(now monotime.Time) bool { return siegeClock(now)-c.keepalive.seenAt >= leftTime }

// siegeClock is the time in units of strangeUnit. It wraps after 19 hours, which may make
// something strange of old look new for some seconds. It is never zero.
func siegeClock(now monotime.Time) uint16 { return max(uint16(now/strangeUnit), 1) }

// besieged reports whether somebody else may be writing the peer's address on datagrams.
func (c *Conn) besieged(now monotime.Time) bool {
	return c.strangeAt != 0 && siegeClock(now)-c.strangeAt <= siegeTime
}

// doubt is what became of a disconnect that somebody else may have sent: a set of bits.
type doubt uint8

const (
	doubted    doubt = 1 << iota // it waits to be believed
	justSaid                     // it lies in the datagram that is being taken
	askedTwice                   // what the peer sent before it left, if it did, has come

	noDoubt doubt = 0
)

// doubtful handles a disconnect that somebody else may have sent: the peer is asked for a sign
// of life, reliably: who has closed does not acknowledge that, but says again that it left. In the handshake, which ends soon in any case, nothing comes of it.
func (c *Conn) doubtful(now monotime.Time) {
	if c.state == Handshaking {
		return
	}
	if c.doubt == noDoubt {
		c.timers.set(timerHandshake, now.Add(echoTime))
		c.pingIn(now, protocol.Reliable)
	}
	c.doubt |= doubted | justSaid
}

// doubtExpires asks once more, since a datagram that was forged with the right number hides
// one of the peer's, or reports that the disconnect is to be believed.
func (c *Conn) doubtExpires(now monotime.Time) (believed bool) {
	if c.doubt&askedTwice != 0 {
		return true
	}
	c.doubt |= askedTwice
	c.timers.set(timerHandshake, now.Add(doubtTime-echoTime))
	c.pingIn(now, protocol.Reliable)
	return false
}

// reassure takes note of a datagram of the peer's while a disconnect is doubted. At first it says
// nothing: it may have left before the disconnect, and who closes in order goes on to acknowledge until
// that is acknowledged. What was lost or doubled is what makes a connection look besieged in the first place.
// An ACK that is said again says nothing at all: who has closed answers with those for a while.
// Later it only puts the decision off, since the answer to a ping, which settles it, may be hidden by
// numbers that somebody made up, while who closes falls silent in the end.
func (c *Conn) reassure(now monotime.Time) {
	switch {
	case c.doubt&justSaid != 0:
		c.doubt &^= justSaid
	case c.doubt&askedTwice != 0:
		c.doubt &^= askedTwice
		c.timers.set(timerHandshake, now.Add(echoTime))
	}
}

// answered takes note of the answer to a ping of that time: who has left gives none.
func (c *Conn) answered(asked monotime.Time) {
	since := c.timers.of(timerHandshake).Add(-echoTime)
	if c.doubt&askedTwice != 0 {
		since = c.timers.of(timerHandshake).Add(-doubtTime)
	}
	if c.doubt == noDoubt || asked < since {
		return
	}
	c.doubt = noDoubt
	if c.state < Closed {
		c.timers.stop(timerHandshake)
	}
}
