package session

import (
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

const (
	// requestInterval is how long after a connection request the next one leaves,
	// as a new message, on top of the engine's resends: several servers never
	// repeat a lost 0x10, but all answer a second 0x09. It grows by half each time.
	// Arbitrary, but above the round trip of most paths.
	requestInterval = 500 * time.Millisecond
	// repeatInterval is the least time between two 0x10, or two 0x13. One that is
	// not acknowledged yet is not repeated at all, as the engine resends it.
	repeatInterval = 400 * time.Millisecond
	// maxRepeats bounds the 0x10 a server sends in one handshake, and the 0x13 a
	// client sends in one connection. A peer that asks more often gets no answer.
	maxRepeats = 8
)

// handshake remembers what a repeated handshake message is answered with. A server needs it
// until it is connected, a client for as long as the server may ask again.
type handshake struct {
	guid      int64          // client: LocalGUID
	peer      netip.AddrPort // PeerAddr
	interval  time.Duration  // client: until the next 0x09
	lastReply monotime.Time  // server: the last 0x10; client: the last 0x13
	time      int64          // server: the time in its 0x10, the same in each
	replies   uint8          // how many 0x10 or 0x13 were sent
}

func (c *Conn) startHandshake(now monotime.Time) {
	c.timers.set(timerHandshake, now.Add(c.timing.Handshake))
	if c.side == Client {
		c.handshake.interval = requestInterval
		c.sendRequest(now)
	}
}

// sendRequest sends a 0x09 and arms the next.
func (c *Conn) sendRequest(now monotime.Time) {
	h := c.handshake
	c.timers.set(timerRequest, now.Add(h.interval))
	h.interval += h.interval / 2
	var buf [32]byte
	p := wire.ConnectionRequest{GUID: h.guid, Time: c.millis(now)}
	c.sendControl(now, p.Append(buf[:0]), protocol.Reliable, protocol.PriorityImmediate)
}

// mayReply reports whether a repeated request for a 0x10 or 0x13 is answered.
func (h *handshake) mayReply(now monotime.Time) bool {
	return h.replies == 0 || h.replies < maxRepeats && now.Sub(h.lastReply) >= repeatInterval
}

func (h *handshake) replied(now monotime.Time) {
	h.lastReply = now
	h.replies++
}

// requested handles a 0x09. A server that is not connected answers it, whatever GUID
// it names and whatever security it asks for (there is none, and the client
// learns so); everybody else ignores it. The first 0x10 not being acknowledged yet
// means that the engine still resends it: another would only be amplification.
func (c *Conn) requested(now monotime.Time, b []byte) {
	var p wire.ConnectionRequest
	h := c.handshake
	if c.side != Server || c.state != Handshaking || p.Parse(b) != nil {
		return
	}
	if h.replies > 0 && !c.eng.Drained() || !h.mayReply(now) {
		return
	}
	if h.replies == 0 {
		h.time = c.secretTime(now)
	}
	h.replied(now)
	var buf [256]byte
	reply := wire.ConnectionRequestAccepted{Client: h.peer, Internal: protocol.InternalAddresses(c.version), Kin: c.ownKin(), RequestTime: p.Time, Time: h.time}
	c.sendControl(now, reply.Append(buf[:0]), protocol.ReliableOrdered, protocol.PriorityImmediate)
}

// accepted handles a 0x10. A client is connected by the first; a repeated one
// may mean that the server's application of our 0x13 failed, so it gets another.
func (c *Conn) accepted(now monotime.Time, b []byte) {
	var p wire.ConnectionRequestAccepted
	h := c.handshake
	if c.side != Client || c.state > Connected || p.Parse(b) != nil || !h.mayReply(now) {
		return
	}
	h.replied(now)
	var buf [256]byte
	reply := wire.NewIncomingConnection{Server: h.peer, Internal: protocol.InternalAddresses(c.version), Kin: c.ownKin(), AcceptedTime: p.Time, Time: c.millis(now)}
	c.sendControl(now, reply.Append(buf[:0]), protocol.ReliableOrdered, protocol.PriorityImmediate)
	if c.state == Handshaking {
		c.meetKin(p.Kin)
		c.connect(now)
		if !c.relaxed() { // kin have measured the round trip, and a pong and its ACK are a seventh of the datagrams of a connect
			c.ping(now)
		}
	}
}

// incoming handles a 0x13: a server that answered a 0x09 is connected by it.
func (c *Conn) incoming(now monotime.Time, b []byte) {
	if c.side != Server || c.state != Handshaking || c.handshake.replies == 0 || c.proving() || !plausibleIncoming(b) {
		return
	}
	var p wire.NewIncomingConnection
	_ = p.Parse(b) // of which nothing is believed that is not there
	c.meetKin(p.Kin)
	// Some clients write a time of their own first.
	if p.HasTimes && (p.AcceptedTime == c.handshake.time || p.Time == c.handshake.time) {
		c.proven()
	}
	if c.credit != nil {
		c.awaitProof(now)
		return
	}
	c.connect(now)
}

// plausibleIncoming reports whether b can be a whole 0x13. Peers write 0, 1, 10 or
// 20 addresses, wrong ones, with or without times, so that nothing in it is
// believed; but one too short for its two times (as the original engine demands)
// whose last address is cut off was damaged on the way.
func plausibleIncoming(b []byte) bool {
	const addr4, times = 7, 16
	rest := b[1:]
	for len(rest) > 0 {
		_, n, err := wire.ParseAddr(rest)
		if err != nil {
			break
		}
		rest = rest[n:]
	}
	return len(rest) == 0 || len(b) >= 1+addr4+times
}

// connect enters Connected.
func (c *Conn) connect(now monotime.Time) {
	c.state, c.connectedDue = Connected, true
	if c.credit != nil {
		c.credit.proving = false
	}
	if c.side == Server {
		c.handshake = nil
	}
	c.timers.stop(timerHandshake)
	c.timers.stop(timerRequest)
	c.startKeepalive(now)
	c.unreadChanged(now)
}
