package forge

import (
	"net/netip"

	"github.com/raknet-go/raknet/internal/wire"
)

// Answered says what a listener may send in answer to a stranger.
type Answered uint8

// What strangers are answered with.
const (
	Silence   Answered = iota // with nothing
	Handshake                 // with no more bytes than came
	Pong                      // with as many pongs as the budget allows
)

// Stranger is an attack by somebody without a connection.
type Stranger struct {
	Name, What string
	// Spoofed: every datagram comes from an address of its own.
	Spoofed bool
	// Answered says with what the datagrams may be answered.
	Answered Answered
	// Make appends the i-th datagram to dst.
	Make func(i uint64, dst []byte) []byte
	// Follow, unless nil, appends what is sent back to whoever sent an answer.
	Follow func(answer, dst []byte) []byte
}

const (
	// smallestProbe is the smallest MTU that a listener answers, in which an answer is largest
	// compared with its request.
	smallestProbe = 400
	version       = 11
)

// server stands for the server's address in datagrams, which nobody checks.
var server = netip.MustParseAddrPort("127.0.0.1:19132")

// Strangers are all attacks of this kind.
func Strangers() []Stranger {
	return []Stranger{
		{Name: "pings", What: "server list pings from one address", Answered: Pong, Make: Ping},
		{Name: "spoofed pings", What: "the same, each from another address", Spoofed: true, Answered: Pong, Make: Ping},
		{Name: "garbage", What: "random bytes, 1 to 600 of them", Make: Garbage},
		{Name: "request 1", What: "the smallest request 1 that is answered", Answered: Handshake, Make: Request1},
		{Name: "spoofed request 1", What: "the same, each from another address", Spoofed: true, Answered: Handshake, Make: Request1},
		{Name: "wrong versions", What: "requests 1 of an unknown version", Answered: Handshake, Make: WrongVersion},
		{Name: "bad cookies", What: "requests 2 with a guessed cookie", Make: BadCookie},
		{Name: "spoofed bad cookies", What: "the same, each from another address", Spoofed: true, Make: BadCookie},
		{Name: "no session", What: "frame sets, ACKs and NACKs of connections that never were, each from another address", Spoofed: true, Make: NoSession},
		{
			Name: "half-open", What: "requests 1 and 2 with the cookie, each from another address, and no more", Spoofed: true, Answered: Handshake,
			Make: Request1, Follow: FollowCookie,
		},
	}
}

// Ping is a server list ping.
func Ping(i uint64, dst []byte) []byte {
	p := wire.UnconnectedPing{Time: int64(i), GUID: int64(scatter(i)), HasGUID: true}
	return p.Append(dst)
}

// Garbage is 1 to 600 random bytes.
func Garbage(i uint64, dst []byte) []byte { return noise(dst, i, 1+int(scatter(i)%600)) }

// Request1 is the smallest request 1 that is answered.
func Request1(_ uint64, dst []byte) []byte {
	p := wire.OpenRequest1{Version: version, MTU: smallestProbe}
	return p.Append(dst)
}

// WrongVersion is a request 1 of a version that nobody speaks.
func WrongVersion(i uint64, dst []byte) []byte {
	p := wire.OpenRequest1{Version: byte(100 + i%100), MTU: smallestProbe}
	return p.Append(dst)
}

// BadCookie is a request 2 with a guessed cookie.
func BadCookie(i uint64, dst []byte) []byte {
	p := wire.OpenRequest2{HasCookie: true, Cookie: uint32(scatter(i)), Server: server, MTU: 1400, GUID: int64(i)}
	return p.Append(dst)
}

// NoSession is a datagram of a connection: a frame set, an ACK or a NACK.
func NoSession(i uint64, dst []byte) []byte {
	switch i % 3 {
	case 0:
		l := Link{Number: uint32(i), Reliable: uint32(i), Order: uint32(i)}
		return l.Message(dst, []byte{0xfe, byte(i)})
	case 1:
		return everything(dst, wire.ACKID, uint32(i), 1)
	}
	return everything(dst, wire.NACKID, uint32(i), 1)
}

// FollowCookie answers a reply 1 with a request 2 that has its cookie.
func FollowCookie(answer, dst []byte) []byte {
	var r wire.OpenReply1
	if r.Parse(answer) != nil {
		return dst
	}
	p := wire.OpenRequest2{HasCookie: r.Security, Cookie: r.Cookie, Server: server, MTU: r.MTU, GUID: 1}
	return p.Append(dst)
}

// everything appends an ACK or NACK of n ranges, each of which names every number below last
// of the half of all numbers that is older.
func everything(dst []byte, id byte, last uint32, n int) []byte {
	a := wire.StartRanges(dst, id, mostBytes)
	for range n {
		if !a.Add(last-1<<22, last) {
			break
		}
	}
	return a.Finish()
}

// Source is the i-th of the addresses in 127.0.0.0/8 that spoofed datagrams come from: no two of
// the first 16 million are equal, and neighbours lie in different networks.
func Source(i uint64) netip.Addr {
	n := uint32(i*0x9e3779b1) & 0xffffff // odd, so that every number comes once
	if low := byte(n); n>>8 == 0 && low <= 1 || n == 0xffffff {
		n = 0x123456 // 127.0.0.0 and .1, and the broadcast address
	}
	return netip.AddrFrom4([4]byte{127, byte(n >> 16), byte(n >> 8), byte(n)})
}
