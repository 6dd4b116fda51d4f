package session

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

const (
	// amplification is how many bytes leave for one that came, to an address that
	// nobody has proven to be the sender's. Three is QUIC's bound (RFC 9000, 8.1).
	amplification = 3
	// requestCredit is what a client's request 2 is worth beyond the reply 2 that it
	// got: three times the shortest, less the reply, rounded down.
	requestCredit = 64
	// proofInterval is how long after a ping the next leaves to a connected client that has
	// not proven its address, whatever else passes. Arbitrary.
	proofInterval = time.Second
)

// credit bounds what a server sends to a client whose address is unproven, so that
// whoever forges addresses gains nothing by opening connections for others: without it
// one small connection request makes the engine resend a 0x10 until the handshake
// times out. A datagram may overdraw it, since a 0x10 alone exceeds the bound on what
// the shortest request earns. A client that misses the 0x10 asks again, and so pays
// for the next. The zero value is no bound.
type credit struct {
	bounded bool
	left    int
}

func (k *credit) bound() { *k = credit{bounded: true, left: requestCredit} }
func (k *credit) lift()  { *k = credit{} }

// earn counts a datagram that came, spend one that left.
func (k *credit) earn(bytes int) { k.left += amplification * bytes }

func (k *credit) spend(bytes int) {
	if k.bounded {
		k.left -= bytes
	}
}

// overdrawn reports whether nothing may leave until something comes.
func (k *credit) overdrawn() bool { return k.bounded && k.left <= 0 }

// secretTime is the time in what a peer is asked to echo. Towards a client whose address is
// unproven it is made unpredictable, so that who echoes it has seen it: then the client
// receives at its address, as after a cookie. Nothing else that a client sends needs to have seen
// anything: numbers of datagrams to acknowledge, too, can be guessed. (Clients write the
// time back as it came; those that do not answer one of the pings that follow, and if they garble
// those, too, no more goes to them than three times what they send.)
func (c *Conn) secretTime(at monotime.Time) int64 { return c.millis(at) ^ int64(c.nonce) }

// proven lifts the bound on what is sent.
func (c *Conn) proven() {
	if !c.credit.bounded {
		return
	}
	c.credit.lift()
	c.timers.stop(timerPing)
	c.armPing()
}

// deadline is when the connection must be looked at: while nothing may leave, the
// engine's deadlines, which would be in the past, do not count.
func (c *Conn) deadline() monotime.Time {
	if c.credit.overdrawn() {
		return c.timers.next()
	}
	return min(c.eng.Deadline(), c.timers.next())
}
