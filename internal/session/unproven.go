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
	// proofDelay is how long after a 0x13 that proves nothing a ping asks for the proof: at least one
	// client loses what it sends first when it has to answer in that moment. proofInterval
	// is how long it is until the next, and proofPings how many there are before the connection
	// opens without. All are arbitrary.
	proofDelay    = 200 * time.Millisecond
	proofInterval = time.Second
	proofPings    = 3
)

// credit bounds what a server sends to a client whose address is unproven, so that
// whoever forges addresses gains nothing by opening connections for others: without it
// one small connection request makes the engine resend a 0x10 until the handshake
// times out. A datagram may overdraw it, since a 0x10 alone exceeds the bound on what
// the shortest request earns. A client that misses the 0x10 asks again, and so pays
// for the next. A nil one is no bound.
type credit struct {
	proving bool // the handshake is over but for the proof of the client's address
	left    int
}

func newCredit() *credit { return &credit{left: requestCredit} }

// earn counts a datagram that came, spend one that left.
func (k *credit) earn(bytes int) {
	if k != nil {
		k.left += amplification * bytes
	}
}

func (k *credit) spend(bytes int) {
	if k != nil {
		k.left -= bytes
	}
}

// overdrawn reports whether nothing may leave until something comes.
func (k *credit) overdrawn() bool { return k != nil && k.left <= 0 }

// proving reports whether the handshake is over but for the proof of the client's address.
func (c *Conn) proving() bool { return c.credit != nil && c.credit.proving }

// secretTime is the time in what a peer is asked to echo. Towards a client whose address is
// unproven it is made unpredictable, so that who echoes it has seen it: then the client
// receives at its address, as after a cookie. Nothing else that a client sends needs to have seen
// anything: numbers of datagrams to acknowledge, too, can be guessed.
func (c *Conn) secretTime(at monotime.Time) int64 { return c.millis(at) ^ int64(c.nonce) }

// awaitProof keeps a connection in its handshake whose client sent a 0x13 without the time of
// the 0x10, as some do: a ping asks once more. Opened at once, what the application has to send
// would use up what may be sent, and the ping could not leave. What the client sends meanwhile
// is kept as on an open connection. A client that garbles pings, too, is let in
// in the end, and no more goes to it than three times what it sends.
func (c *Conn) awaitProof(now monotime.Time) {
	c.credit.proving = true
	c.timers.stop(timerHandshake) // the pings end it soon enough
	c.timers.set(timerPing, now.Add(proofDelay))
}

// askForProof sends the next of these pings. The connection opens when they were in vain.
func (c *Conn) askForProof(now monotime.Time) {
	if c.keepalive.pingsSent >= proofPings {
		c.connect(now)
		return
	}
	c.ping(now)
	c.timers.set(timerPing, now.Add(proofInterval))
}

// proven lifts the bound on what is sent.
func (c *Conn) proven() {
	proving := c.proving()
	c.credit = nil
	if proving {
		c.timers.stop(timerPing)
		c.connect(c.now)
	}
}

// deadline is when the connection must be looked at: while nothing may leave, the
// engine's deadlines, which would be in the past, do not count.
func (c *Conn) deadline() monotime.Time {
	if c.credit.overdrawn() {
		return c.timers.next()
	}
	return min(c.eng.Deadline(), c.timers.next())
}
