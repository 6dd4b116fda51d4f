package offline

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Schedule is when a Client sends. Zero fields take the defaults named.
type Schedule struct {
	// Interval is between two sends of the same packet; 0: 500 ms, as vanilla clients have for probes. The
	// first repetition of request 2 comes earlier: see patience.
	Interval time.Duration
	PerSize  int           // probes of one size before the next smaller one; 0: 4, as vanilla clients have
	Reply2   time.Duration // from reply 1 on without a reply 2 until a fresh port is wanted; 0: 2 s (arbitrary)
}

const (
	// patientTrips is how many times the round trip of request 1 the answer to request 2 may take before
	// that is repeated, at least a part of an interval, one in leastPatience: a server may have to
	// ask somebody whether it takes the client. Arbitrary.
	patientTrips  = 8
	leastPatience = 3
)

// refusalRetries is how many times a client asks again that is told "recently
// connected" (one interval apart: the original refuses an address for 100 ms only),
// or that is told "already connected" at its first request 2 (from a fresh port).
const refusalRetries = 3

// ClientConfig sets up a Client.
type ClientConfig struct {
	GUID       int64
	Version    byte           // 0: automatic: 11, then once the server's own version if that is 6 to 11; see mismatch
	MaxMTU     int            // largest probe; 0 or out of 400 to 1492: the nearest bound (0: 1492)
	ServerAddr netip.AddrPort // as written into request 2; the zero value is written as the unassigned address
	Schedule   Schedule
}

// Negotiated is what the offline handshake agreed on.
type Negotiated struct {
	MTU        int            // from 400 to the size that was probed
	Version    byte           // the protocol version that the server took
	ServerGUID int64          // of reply 2
	ClientAddr netip.AddrPort // this client as the server sees it; not to be trusted
	RoundTrip  time.Duration  // from request 2 to reply 2; 0 if several were sent, so that nobody knows
	Took       time.Duration  // from the first request 2 to reply 2: a round trip or more
}

// VersionError is the end of a dial to a server of another protocol version.
type VersionError struct{ Client, Server byte }

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("incompatible protocol version: client %d, server %d", e.Client, e.Server)
}

// RefusedError is the end of a dial that the server turned down.
type RefusedError struct{ Reason Refusal }

// Error gives the server's reason.
func (e *RefusedError) Error() string { return "connection refused: " + e.Reason.String() }

// ErrSecurityUnsupported is the end of a dial to a server that insists on the
// original engine's libcat security.
var ErrSecurityUnsupported = errors.New("server requires libcat security, which is not supported")

type clientPhase uint8

const (
	probing    clientPhase = iota // request 1 until a reply 1 comes
	requesting                    // request 2 until a reply 2 comes
	finished
)

// Client is the dialling side of the offline handshake.
//
// It probes with request 1 in the sizes 1492, 1200 and 576 (those up to MaxMTU),
// four times each, as vanilla clients do. A vanilla client gives up after the
// last; this one begins again with the largest and goes on until its caller loses
// patience, so that a server that comes up late is still met with a full-sized
// probe. Then it sends request 2 until a reply 2 comes: the original sends that
// only in answer to a reply 1, so every fourth repetition is accompanied by a
// request 1, which also replaces a cookie that has gone stale.
//
// Everything else that arrives is ignored: connected datagrams and pings (some
// servers send them early), broken packets, answers to nothing.
type Client struct {
	guid      int64
	server    netip.AddrPort
	schedule  Schedule
	version   byte
	automatic bool // may still change the version, once
	switched  bool // has done so
	echoed    byte // not 0: the server names the version it was asked in, beginning with this one
	asks      int  // probes sent in the present version
	late      int  // answers to probes in earlier versions that may still come

	sizes    [len(protocol.ProbeMTUs)]int // probe sizes, largest first
	nsizes   int
	largest  int  // index of the largest size that the host itself can send
	size     int  // index of the size being probed
	probes   int  // probes sent of this size
	suspects bool // a protection box answered, and got its reaction

	phase      clientPhase
	now        monotime.Time // the latest seen
	next       monotime.Time // the phase's packet is due again
	probed     monotime.Time // when the last probe was sent
	freshAt    monotime.Time // requesting: the server had its time
	probeDue   bool
	requestDue bool

	security  bool // of the newest reply 1
	cookie    uint32
	mtu       int
	requests  int           // sent of request 2
	asked     monotime.Time // when the first of them was sent
	repeats   int           // of request 2 by the timer
	fresh     bool          // a fresh port is wanted
	restarts  int           // so far
	held      bool          // "already connected" counts when the next interval is over
	recentlys int           // "recently connected" so far

	spent     time.Duration // see Spent
	forgotten bool          // it is why a fresh port is wanted
	result    Negotiated
	err       error
}

// Init starts a dial; the first probe is due at once.
func (c *Client) Init(now monotime.Time, cfg *ClientConfig) {
	*c = Client{guid: cfg.GUID, server: cfg.ServerAddr, schedule: cfg.Schedule, version: cfg.Version}
	if c.version == 0 {
		c.version, c.automatic = protocol.VersionCurrent, true
	}
	if c.schedule.Interval <= 0 {
		c.schedule.Interval = 500 * time.Millisecond
	}
	if c.schedule.PerSize <= 0 {
		c.schedule.PerSize = 4
	}
	if c.schedule.Reply2 <= 0 {
		c.schedule.Reply2 = 2 * time.Second
	}
	c.sizes[0], c.nsizes = clampMTU(cfg.MaxMTU), 1
	for _, s := range protocol.ProbeMTUs {
		if s < c.sizes[0] {
			c.sizes[c.nsizes] = s
			c.nsizes++
		}
	}
	c.probe(now)
}

// probe begins (again) with request 1.
func (c *Client) probe(now monotime.Time) {
	c.now = now
	c.phase, c.probeDue, c.requestDue = probing, true, false
	c.next = now.Add(c.schedule.Interval)
}

// Receive takes one datagram that came from the server's address. It keeps no
// reference to pkt.
func (c *Client) Receive(now monotime.Time, pkt []byte) {
	if c.phase == finished || len(pkt) == 0 {
		return
	}
	c.now = now
	switch protocol.ID(pkt[0]) {
	case protocol.IDOpenConnectionReply1:
		c.reply1(now, pkt)
	case protocol.IDOpenConnectionReply2:
		c.reply2(pkt)
	case protocol.IDIncompatibleVersion:
		c.mismatch(now, pkt)
	case protocol.IDAlreadyConnected, protocol.IDNoFreeConnections, protocol.IDBanned, protocol.IDRecentlyConnected:
		c.refusal(now, pkt)
	case protocol.IDPublicKeyRequired, protocol.IDSecurityRequired:
		// These two carry no marker, so only their exact length is taken for them.
		var r wire.Refusal
		if err := r.Parse(pkt); err == nil && len(pkt) == len(r.Append(make([]byte, 0, ReplySize))) {
			c.fail(&RefusedError{SecurityRequired})
		}
	}
}

func (c *Client) reply1(now monotime.Time, pkt []byte) {
	var r wire.OpenReply1
	if r.Parse(pkt) != nil {
		return
	}
	if r.LibcatKey {
		c.fail(ErrSecurityUnsupported)
		return
	}
	valid := r.MTU >= protocol.MinMTU
	if c.phase == probing && !c.suspects && (!valid || r.GUID == 0) {
		// Protection boxes answer the first request 1 in the server's place, with a
		// broken MTU or no GUID, and let the address through once it has reacted.
		// Both packets are a reaction; whichever gets an answer goes on.
		c.suspects = true
		c.probeDue, c.requestDue = true, true
		c.next = now.Add(c.schedule.Interval)
		c.security, c.cookie, c.mtu = r.Security, r.Cookie, c.sizes[c.size]
	}
	if !valid {
		return
	}
	// What the server grants beyond the probe was not measured. A late answer to a
	// larger probe is cut as well: it cannot be told from a server that grants more
	// than it received.
	mtu := min(r.MTU, c.sizes[c.size])
	if c.phase == requesting && c.security == r.Security && c.cookie == r.Cookie && c.mtu == mtu {
		return // answers to several probes in flight; some servers refuse a repeated request 2
	}
	c.security, c.cookie, c.mtu = r.Security, r.Cookie, mtu
	if c.phase == probing {
		c.phase, c.repeats = requesting, 0
		c.freshAt = now.Add(c.schedule.Reply2)
	}
	c.requestDue = true
	c.next = now.Add(c.patience(now))
}

// patience is how long request 2 waits for its answer, when the answer to request 1 just came.
func (c *Client) patience(now monotime.Time) time.Duration {
	if c.asks != 1 || c.requests > 0 {
		return c.schedule.Interval // it cannot be told which probe was answered
	}
	return min(max(patientTrips*now.Sub(c.probed), c.schedule.Interval/leastPatience), c.schedule.Interval)
}

func (c *Client) reply2(pkt []byte) {
	var r wire.OpenReply2
	if c.requests == 0 || r.Parse(pkt) != nil {
		return
	}
	if r.Encryption {
		c.fail(ErrSecurityUnsupported)
		return
	}
	mtu := c.mtu
	if r.MTU >= protocol.MinMTU {
		mtu = min(r.MTU, c.sizes[c.size])
	}
	c.finish()
	c.result = Negotiated{MTU: mtu, Version: c.version, ServerGUID: r.GUID, ClientAddr: r.Client, Took: max(c.now.Sub(c.asked), 1)}
	if c.requests == 1 {
		c.result.RoundTrip = c.result.Took
	}
}

func (c *Client) mismatch(now monotime.Time, pkt []byte) {
	var r wire.IncompatibleVersion
	if r.Parse(pkt) != nil {
		return
	}
	known := r.Version >= protocol.VersionOriginal && r.Version <= protocol.VersionCurrent
	switch {
	case c.automatic && r.Version == c.version:
		// One server names what it was asked in instead of what it speaks. So the client tries
		// one version after the other.
		if c.echoed == 0 {
			c.echoed = c.version
		}
		if c.version == protocol.VersionOriginal {
			c.fail(&VersionError{Client: c.echoed, Server: c.echoed})
			return
		}
		c.late += max(c.asks-1, 0)
		c.asks = 0
		c.version--
		c.probe(now)
	case c.echoed != 0 && c.late > 0:
		c.late-- // the answer to an earlier request 1
	case c.echoed != 0:
		c.fail(&VersionError{Client: c.echoed, Server: r.Version})
	case c.automatic && known && r.Version != c.version:
		c.version, c.automatic = r.Version, false
		c.switched = true
		c.probe(now)
	case c.switched && r.Version == c.version:
		// The answer to an earlier request 1, from before the change.
	default:
		c.fail(&VersionError{Client: c.version, Server: r.Version})
	}
}

func (c *Client) refusal(now monotime.Time, pkt []byte) {
	var r wire.Refusal
	if r.Parse(pkt) != nil {
		return
	}
	reason := RefusalFromID(protocol.ID(r.ID))
	switch {
	case reason == AlreadyConnected && c.requests >= 2:
		// Some servers answer the second request 2 so when their reply 2 was lost.
		c.fresh = true
	case reason == AlreadyConnected && c.requests == 1:
		// The network may have duplicated the only one. Another port will tell; failing
		// that, reply 2 may have been overtaken by this.
		c.fresh = c.fresh || c.restarts < refusalRetries
		if !c.held {
			c.held = true
			c.next = now.Add(c.schedule.Interval)
		}
	case reason == RecentlyConnected && c.recentlys < refusalRetries:
		c.recentlys++
		c.next = now.Add(c.schedule.Interval)
	default:
		c.fail(&RefusedError{reason})
	}
}

func (c *Client) finish() { c.phase, c.probeDue, c.requestDue = finished, false, false }

func (c *Client) fail(err error) {
	c.finish()
	c.err = err
}

// Advance lets time pass.
func (c *Client) Advance(now monotime.Time) {
	if c.phase == finished {
		return
	}
	c.now = now
	if c.phase == requesting && now >= c.freshAt {
		c.fresh = true
	}
	if now < c.next {
		return
	}
	if c.held {
		c.fail(&RefusedError{AlreadyConnected})
		return
	}
	c.next = now.Add(c.schedule.Interval)
	switch c.phase {
	case probing:
		c.probeDue = true
		if c.probes >= c.schedule.PerSize {
			c.probes = 0
			if c.size++; c.size == c.nsizes {
				c.size = c.largest
			}
		}
	case requesting:
		c.requestDue = true
		if c.repeats++; c.repeats%4 == 0 {
			c.probeDue = true
		}
	}
}

// Transmit appends the next datagram to send to dst and returns it, or nil if
// there is nothing to send now. probe tells that the datagram measures the path and
// must not be fragmented on its way; if the host refuses it for its size, tell
// ProbeTooLarge. A dst with 1464 bytes of room makes it free of allocations.
func (c *Client) Transmit(now monotime.Time, dst []byte) (pkt []byte, probe bool) {
	c.now = now
	switch {
	case c.requestDue:
		c.requestDue = false
		if c.requests++; c.requests == 1 {
			c.asked = now
		}
		r := wire.OpenRequest2{HasCookie: c.security, Cookie: c.cookie, Server: c.server, MTU: c.mtu, GUID: c.guid}
		return r.Append(dst), false
	case c.probeDue:
		c.probeDue = false
		c.probed = now
		c.probes++
		c.asks++
		r := wire.OpenRequest1{Version: c.version, MTU: c.sizes[c.size]}
		return r.Append(dst), true
	}
	return nil, false
}

// Deadline is when Advance has work: monotime.Never once the dial is over, the
// present while Transmit has something to send.
func (c *Client) Deadline() monotime.Time {
	switch {
	case c.phase == finished:
		return monotime.Never
	case c.probeDue || c.requestDue:
		return c.now
	case c.phase == requesting && !c.fresh:
		return min(c.next, c.freshAt)
	}
	return c.next
}

// Result reports whether the dial is over: with an error (*VersionError,
// *RefusedError, ErrSecurityUnsupported), or with what was agreed on. It is never
// over for lack of answers alone: how long to wait is the caller's decision.
func (c *Client) Result() (n Negotiated, done bool, err error) {
	return c.result, c.phase == finished, c.err
}

// ProbeTooLarge tells that the host refused to send the probe just transmitted
// (EMSGSIZE): the next smaller size is tried at once, and that size never again.
// The smallest size just waits for its next turn.
func (c *Client) ProbeTooLarge(now monotime.Time) {
	c.now = now
	if c.phase == finished || c.size == c.nsizes-1 {
		return
	}
	c.size++
	c.largest, c.probes = c.size, 0
	c.mtu = min(c.mtu, c.sizes[c.size])
	if c.phase == probing {
		c.probe(now)
	}
}

// NeedFreshPort reports that the server answers but its reply 2 does not arrive:
// it came to nothing in time, or the server says "already connected", probably
// because its reply 2 was lost and it takes the address for taken. A dial from
// another local port, with another GUID, is a new client to it. Until the caller
// calls Restart the dial goes on as it was and may still succeed; without a
// Restart, "already connected" at the first request 2 ends it an interval later.
func (c *Client) NeedFreshPort() bool { return c.fresh && c.phase != finished }

// Restart begins again with request 1 after the caller has moved to a fresh local
// port. It keeps the size and the version that were answered. guid is the new
// identity, or the same one if it must not change. now may be of another clock than
// before, since the new port may belong to another socket.
func (c *Client) Restart(now monotime.Time, guid int64) {
	if c.phase == finished {
		return
	}
	c.guid = guid
	if !c.forgotten { // by a server that said nothing against it
		c.restarts++
	}
	c.forgotten = false
	c.probes, c.requests, c.fresh, c.held, c.suspects = 0, 0, false, false, false
	c.asks, c.late = 0, 0
	c.probe(now)
}

// Forgotten tells that the server granted the dial and then fell silent, for so long, so that a fresh port is needed
// although the dial was over.
func (c *Client) Forgotten(after time.Duration) {
	if c.phase == finished && c.err == nil {
		c.phase, c.fresh, c.forgotten, c.result = requesting, true, true, Negotiated{}
		c.spent += after
	}
}

// Spent is how much time servers took that forgot the client.
func (c *Client) Spent() time.Duration { return c.spent }
