package endpoint

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/protocol"
)

// Config says what an Endpoint is and whom it calls. The zero value is an endpoint
// that only dials and pings. Of each number, zero means the default and negative
// means no limit, except where noted.
type Config struct {
	// GUID is this side's identifier in every packet. Zero is a legal GUID.
	GUID int64
	// Versions are the protocol versions that are admitted; the highest is named in
	// refusals of any other. Default 10 and 11.
	Versions []byte
	// MaxMTU is the largest MTU agreed on. Default protocol.MaxMTU.
	MaxMTU int

	// Accepting makes the endpoint answer pings and connection requests.
	Accepting bool
	// NoCookies skips the proof of address before a connection may begin: for
	// clients that do not know cookies.
	NoCookies bool
	// CookieKeys returns the secrets under which cookies are issued, the first, and recognised, all
	// of up to offline.MaxCookieKeys. The reader asks again every cookieKeysFor. Nil: secrets of
	// this endpoint's own.
	CookieKeys func(now time.Time) []siphash.Key
	// CookieIssue and CookieVerify make and judge cookies in the endpoint's place, if both are
	// set; a version of 0 is the highest. They are called by the reader for every request of a
	// stranger, and must return fast. After a panic a cookie is 0, or wrong.
	CookieIssue  func(client netip.AddrPort, version byte) uint32
	CookieVerify func(client netip.AddrPort, cookie uint32) (version byte, ok bool)
	// MaxConnections bounds the connections of this endpoint, those in their
	// handshake not counted. A request beyond it is answered with 0x14. Default: no limit.
	MaxConnections int
	// MaxPerIP bounds the complete connections of one IPv4 address or IPv6 /64. A request beyond
	// it is answered with 0x14. Default: no limit.
	MaxPerIP int
	// AcceptBacklog bounds the connections that are complete and wait for Accept.
	// A request beyond it is answered with 0x14. Default 128.
	AcceptBacklog int
	// HalfOpen and HalfOpenPerIP bound the connections in their handshake, in all and
	// per IPv4 address or IPv6 /64. Beyond, the oldest gives way. Defaults 4096 and 32.
	HalfOpen, HalfOpenPerIP int
	// PongRate and PongRateTotal bound the pings that are answered in a second, of one network
	// (a /24 of IPv4, a /56 of IPv6) and of all. Defaults 20 and 2000.
	PongRate, PongRateTotal int
	// Exempt are networks to whose addresses Block, MaxPerIP, HalfOpenPerIP and PongRate do not
	// apply. Those of Proxies are exempt, too.
	Exempt []netip.Prefix
	// Proxies are networks whose hosts are believed when a PROXY header in front of a datagram
	// says whose it is. From everybody else such a header is noise.
	Proxies []netip.Prefix
	// Budget bounds the memory of all connections that share it. Nil: that of the process.
	Budget *Budget

	// ARQ is the template of every connection's engine; its MTU is overwritten.
	ARQ arq.Config
	// LimitName is what the user calls the bound on a message's fragments. Default: nothing.
	LimitName string
	// Timing holds the durations of every connection's life.
	Timing session.Timing

	// Admit decides on a connection request whose address is proven and for which
	// there is room: 0 is welcome, RefuseSilently drops the request, any other value
	// is the identifier of the refusal (0x12, 0x14, 0x17, 0x1a). Called by the
	// goroutine that reads the socket, before any state exists: it must return fast,
	// and must not call into the endpoint. A panic counts as RefuseSilently. Nil: all are welcome.
	Admit func(*Request) byte
	// Pong returns the data of the answer to an unconnected ping. Called by the
	// goroutine that reads the socket: it must return fast, and must not keep the request. The slice is not kept. A
	// panic leaves the ping unanswered. Nil: the data that SetPong set.
	Pong func(*PingRequest) []byte
	// Raw answers datagrams of strangers that are of another protocol, within a budget like that of
	// pongs; nil is no answer, and what is longer than maxRaw is cut off. It must not keep the packet. A
	// panic leaves the datagram unanswered. Nil: they are dropped.
	Raw func(*RawPacket) []byte
	// Wrap is called once for every connection that completed its handshake, before
	// anybody else learns of it; what it returns is the connection's User. It
	// must return fast. Nil: User is nil.
	Wrap func(*Conn) any
	// Handler, unless nil, is given every message of every connection, see
	// Conn.Handle. Nobody need call Accept then: a full queue turns nobody away.
	Handler func(*Conn, Message)
	// Cause maps the reason for which a connection ended (an error of package
	// session, ErrReplaced, ErrUnaccepted, ErrHandlerPanic, the error that broke the
	// socket, net.ErrClosed after a local close, or what Abort was given) to the error that its
	// methods and Context report from then on. Called once per connection. Nil: as it is.
	Cause func(error) error

	// Trace is given what the engine of every connection records, in order: from when it is
	// open, with what was recorded before, until it is dead. Calls for one connection
	// come one after the other, by a goroutine that exists only while there is something
	// to tell. It may take its time; what then finds no room is lost, and a TraceGap
	// counts it. It must not keep the slice. After a panic in it the connection
	// is traced no further. Nil: nothing is recorded.
	Trace func(c *Conn, records []arq.TraceRecord)
	// TraceEnd is called after the last call of Trace for a connection that was open. Nil: nobody is told.
	TraceEnd func(c *Conn)

	// Log receives what an operator may want to know. It is called by a goroutine of
	// its own, never by one that serves connections; lines are dropped when it is slow. Nil: discard.
	Log *slog.Logger
	// MaxTransient is how many errors in a row reading the socket may give before
	// the endpoint ends with the last of them while it has no connection that is
	// complete. Default and negative: no limit.
	MaxTransient int
	// Solo marks an endpoint that was opened for the one connection that Dial makes:
	// it closes itself and the socket when the dial fails or the connection is dead,
	// and a blocked Read of the connection may do the work of the socket's reader.
	Solo bool
}

// RefuseSilently is the answer of Admit that leaves a request unanswered.
const RefuseSilently byte = 0xff

// Request is a connection request from a proven address.
type Request struct {
	Peer    udp.Peer
	Client  netip.AddrPort // Peer's, or what the proxy at Peer says
	GUID    int64          // as the client gave it
	Version byte
	MTU     int
}

// PingRequest is an unconnected ping. Its address is not proven.
type PingRequest struct {
	Peer       udp.Peer
	Client     netip.AddrPort // Peer's, or what the proxy at Peer says
	GUID       int64          // 0 when the ping carried none
	OnlyIfOpen bool           // a ping that asks for an answer only while there is room; there is
}

// RawPacket is a datagram of another protocol. Its address is not proven.
type RawPacket struct {
	Peer   udp.Peer
	Client netip.AddrPort // Peer's, or what the proxy at Peer says
	Data   []byte
}

// Pong is the answer to an unconnected ping.
type Pong struct {
	Data []byte // belongs to the caller
	GUID int64
	RTT  time.Duration
	From udp.Peer
}

// DialConfig holds what differs between dials from one endpoint.
type DialConfig struct {
	// Version is the protocol version. Default: the current one, and once more the
	// server's own if it refuses that and speaks one that is known.
	Version byte
	// MaxMTU is the first size probed. Default that of the Endpoint.
	MaxMTU int
	// Client holds the state of the offline handshake, so that a dial from another port
	// goes on where the one that ended with ErrFreshPort stopped; Again says that this is such
	// a dial. Nil: the handshake stands alone.
	Client *offline.Client
	Again  bool
	// KnownGUID says that the endpoint's GUID is the same in every dial. Then a silent server is not dialed from
	// another port: it may take that for one GUID in two places, which the original refuses.
	KnownGUID bool
}

// SendOptions say how a message travels.
type SendOptions struct {
	Reliability protocol.Reliability
	Channel     uint8 // ordering channel, 0 to 31
	Priority    protocol.Priority
}

// Message is one message as it was received.
type Message struct {
	// Data belongs to the caller of Receive. In a Handler it is valid during the call only.
	Data        []byte
	Reliability protocol.Reliability
	Channel     uint8
}

// ConnStats are the counters and gauges of one connection.
type ConnStats struct {
	session.Stats
	ReceiveQueueBytes    int    // received and not yet read
	ReceiveQueueMessages int    // received and not yet read
	UnreliableDropped    uint64 // unreliable messages dropped because the send buffer was full
}

// Stats are the counters and gauges of an endpoint. Counters only grow.
type Stats struct {
	Connections int // complete and not yet ended
	HalfOpen    int // in their handshake, admitted by this endpoint
	AcceptQueue int // waiting for Accept

	DatagramsReceived, BytesReceived uint64
	DatagramsSent, BytesSent         uint64
	SendErrors, ReceiveErrors        uint64 // transient errors of the socket
	ReadBatches, WriteBatches        uint64 // calls into the socket
	ReceiveOverflows                 uint64 // datagrams that found the system's receive buffer full

	Pings           uint64 // unconnected pings received
	Pongs           uint64 // answered
	PongsSuppressed uint64 // left unanswered: over budget, or no data to tell
	RawAnswers      uint64 // datagrams of other protocols that Raw answered
	Request1        uint64
	Request2        uint64 // those without a valid cookie not counted
	BadCookies      uint64
	Accepted        uint64 // handshakes completed
	Rejected        uint64 // requests answered with a refusal
	Evicted         uint64 // half-open connections that gave way to newer ones
	// Dropped counts datagrams that were dropped without an answer, by reason.
	Dropped map[string]uint64
}
