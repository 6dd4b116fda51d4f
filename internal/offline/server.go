package offline

import (
	"net/netip"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// ReplySize is the length of the longest answer but the pong: reply 2 with an
// IPv6 address. A dst with this much room makes Handle and AppendReply2 free of
// allocations; PongSize is the same for AppendPong.
const ReplySize = 57

// CookieMode says whether request 2 must prove its source address.
type CookieMode uint8

const (
	// CookiesRequired answers request 1 with a cookie and ignores a request 2 without it.
	CookiesRequired CookieMode = iota
	// CookiesOff is for clients that know no cookies and for filters that answer
	// request 1 in the server's place. An Accept then proves nothing about the source.
	CookiesOff
)

// ServerConfig sets up a Server. The zero value is usable, but for its Key.
type ServerConfig struct {
	GUID     int64
	Versions []byte     // accepted protocol versions; nil: 10 and 11. The highest is named in 0x19. Each costs two hashes per bad cookie.
	MaxMTU   int        // largest MTU granted; 0 or out of 400 to 1492: the nearest bound (0: 1492)
	Cookies  CookieMode // zero: required
	Key      siphash.Key
	Cookie   Cookies // who issues and recognises cookies; nil: this server alone, under Key
	PongCap  int     // most bytes of pong data; 0: PongCap, negative: 65535
}

// Kind says what became of a stranger's datagram.
type Kind uint8

const (
	Drop   Kind = iota // no effect; Reason says why
	Reply              // send the reply
	Accept             // a valid request 2: answer with AppendReply2 or AppendRefusal
	Ping               // a ping: answer with AppendPong, if room and budget allow
)

// Outcome is what Server.Handle found in a datagram.
type Outcome struct {
	Kind       Kind
	Reason     DropReason  // Drop: why
	ID         protocol.ID // the packet's first byte, of any kind; 0 when empty
	OnlyIfOpen bool        // Ping: answer only while a new connection would be taken
	Time       int64       // Ping: to be echoed
	GUID       int64       // Ping, Accept: the client's; forgeable in a ping
	MTU        int         // Accept: the connection's; Reply to request 1: the one granted
	Version    byte        // Accept, Reply to request 1: the client's protocol version. With CookiesOff, Accept reports the server's own: request 2 does not carry it.
}

// Server answers the datagrams of addresses that have no connection. It remembers
// nothing about any of them. Init it before use.
type Server struct {
	guid     int64
	versions []byte
	version  byte // the highest of versions
	maxMTU   int
	cookies  CookieMode
	jar      cookieJar
	cookie   Cookies // nil: jar
	pongCap  int
}

// Init sets the server up. It copies what it keeps.
func (s *Server) Init(_ monotime.Time, c *ServerConfig) {
	*s = Server{guid: c.GUID, maxMTU: clampMTU(c.MaxMTU), cookies: c.Cookies, cookie: c.Cookie, pongCap: c.PongCap}
	s.jar.key = c.Key
	s.versions = append(s.versions, c.Versions...)
	if len(s.versions) == 0 {
		s.versions = append(s.versions, protocol.VersionCurrent, protocol.VersionPre1_19)
	}
	for _, v := range s.versions {
		s.version = max(s.version, v)
	}
	switch {
	case s.pongCap == 0:
		s.pongCap = PongCap
	case s.pongCap < 0 || s.pongCap > 65535:
		s.pongCap = 65535
	}
}

// clampMTU maps a configured maximum to one that the wire and the fragmenter can work with.
func clampMTU(mtu int) int {
	if mtu == 0 {
		return protocol.MaxMTU
	}
	return min(max(mtu, protocol.MinMTU), protocol.MaxMTU)
}

// Handle judges one datagram of a stranger at from. For Kind Reply it returns dst
// with the one answer appended, which is smaller than pkt; otherwise nil. It keeps
// no reference to pkt and, if dst has ReplySize bytes of room, allocates nothing.
//
// An Accept comes with every valid request 2, also with a repeated one: while the
// connection of the same address and GUID is not up yet, the runtime answers it
// with the same AppendReply2 again, since a lost reply 2 is the likely cause and a
// refusal would end the client's attempt. After CookiesRequired the address is
// proven; reply 2 may then exceed the request by the longer of two addresses.
func (s *Server) Handle(now monotime.Time, from netip.AddrPort, pkt, dst []byte) (reply []byte, out Outcome) {
	if len(pkt) == 0 {
		return nil, Outcome{Reason: DropEmpty}
	}
	out.ID = protocol.ID(pkt[0])
	switch out.ID {
	case protocol.IDUnconnectedPing, protocol.IDUnconnectedPingOpen:
		s.ping(pkt, &out)
	case protocol.IDOpenConnectionRequest1:
		reply = s.request1(now, from, pkt, dst, &out)
	case protocol.IDOpenConnectionRequest2:
		s.request2(now, from, pkt, &out)
	case protocol.IDOutOfBand:
		out.Reason = DropOutOfBand
	case protocol.IDOpenConnectionReply1, protocol.IDOpenConnectionReply2, protocol.IDUnconnectedPong,
		protocol.IDPublicKeyRequired, protocol.IDSecurityRequired, protocol.IDPublicKeyMismatch,
		protocol.IDConnectionAttemptFailed, protocol.IDAlreadyConnected, protocol.IDNoFreeConnections,
		protocol.IDConnectionLost, protocol.IDBanned, protocol.IDIncompatibleVersion, protocol.IDRecentlyConnected:
		out.Reason = DropClientBound
	default:
		out.Reason = DropUnknown
		if pkt[0]&0x80 != 0 {
			out.Reason = DropNoSession
		}
	}
	return reply, out
}

func (s *Server) ping(pkt []byte, out *Outcome) {
	var p wire.UnconnectedPing
	if err := p.Parse(pkt); err != nil {
		out.Reason = parseReason(err)
		return
	}
	if !p.HasGUID {
		out.Reason = DropNoGUID
		return
	}
	out.Kind, out.OnlyIfOpen, out.Time, out.GUID = Ping, p.OnlyIfOpen, p.Time, p.GUID
}

func (s *Server) request1(now monotime.Time, from netip.AddrPort, pkt, dst []byte, out *Outcome) []byte {
	var r wire.OpenRequest1
	if err := r.Parse(pkt); err != nil {
		out.Reason = parseReason(err)
		return nil
	}
	if r.MTU < protocol.MinMTU {
		// A probe this small is no use, and the answers would be larger than the smallest of them.
		out.Reason = DropSmallMTU
		return nil
	}
	out.Kind, out.Version = Reply, r.Version
	if !s.speaks(r.Version) {
		return s.AppendMismatch(dst)
	}
	out.MTU = min(r.MTU, s.maxMTU)
	answer := wire.OpenReply1{GUID: s.guid, MTU: out.MTU}
	if s.cookies == CookiesRequired {
		answer.Security = true
		if s.cookie != nil {
			answer.Cookie = s.cookie.Issue(now, from, r.Version)
		} else {
			answer.Cookie = s.jar.issue(now, from, r.Version)
		}
	}
	return answer.Append(dst)
}

func (s *Server) speaks(version byte) bool {
	for _, v := range s.versions {
		if v == version {
			return true
		}
	}
	return false
}

func (s *Server) request2(now monotime.Time, from netip.AddrPort, pkt []byte, out *Outcome) {
	var r wire.OpenRequest2
	withCookie := s.cookies == CookiesRequired
	if err := r.Parse(pkt, withCookie); err != nil {
		out.Reason = parseReason(err)
	} else if r.MTU < protocol.MinMTU {
		out.Reason = DropSmallMTU
	} else if version, ok := s.prove(now, from, &r); !ok {
		out.Reason = DropCookie
	} else {
		out.Kind, out.GUID, out.Version = Accept, r.GUID, version
		out.MTU = min(r.MTU, s.maxMTU)
		return
	}
	if withCookie && isCookieless(pkt) {
		out.Reason = DropNoCookie
	}
}

// prove returns the client's version if its cookie shows that it received reply 1 at from.
func (s *Server) prove(now monotime.Time, from netip.AddrPort, r *wire.OpenRequest2) (byte, bool) {
	if s.cookies == CookiesOff {
		return s.version, true
	}
	if s.cookie == nil {
		return s.jar.recognise(now, from, r.Cookie, s.versions)
	}
	version, ok := s.cookie.Recognise(now, from, r.Cookie, s.versions)
	if ok && version == 0 {
		version = s.version
	}
	return version, ok
}

// isCookieless reports whether a refused request 2 has exactly the length and
// the address mark of one that was written without a cookie: the counter tells an
// operator that clients are about which need CookiesOff.
func isCookieless(pkt []byte) bool {
	const head, tail = 1 + 16, 2 + 8
	return len(pkt) == head+7+tail && pkt[head] == 4 || len(pkt) == head+29+tail && pkt[head] == 6
}

// parseReason maps the errors of wire to reasons.
func parseReason(err error) DropReason {
	switch err {
	case wire.ErrTruncated:
		return DropTruncated
	case wire.ErrMagic:
		return DropMagic
	case wire.ErrSecurity:
		return DropChallenge
	case wire.ErrAddressFamily:
		return DropAddress
	}
	return DropUnknown
}

// AppendReply2 appends the answer to a valid request 2: mtu is Outcome.MTU, client
// the address it came from.
func (s *Server) AppendReply2(dst []byte, mtu int, client netip.AddrPort) []byte {
	r := wire.OpenReply2{GUID: s.guid, Client: client, MTU: mtu}
	return r.Append(dst)
}
