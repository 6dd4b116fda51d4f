package offline

import (
	"flag"
	"net/netip"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/wire"
)

var seed = flag.Uint64("seed", 1, "seed of the random tests")

const (
	start      = monotime.Time(1)
	serverGUID = -0x1122334455667788
	clientGUID = -0x7fffffffffffffff
)

var (
	serverAddr = netip.MustParseAddrPort("127.0.0.1:19132")
	clientAddr = netip.MustParseAddrPort("127.0.0.1:40000")
	client6    = netip.MustParseAddrPort("[2001:db8::1]:40000")
)

func newServer(c ServerConfig) *Server {
	c.GUID = serverGUID
	c.Key = siphash.Key{0: 1, 15: 2}
	s := new(Server)
	s.Init(start, &c)
	return s
}

func request1(version byte, mtu int) []byte {
	return (&wire.OpenRequest1{Version: version, MTU: mtu}).Append(nil)
}

// cookieFor has the server issue a cookie the way a client gets one.
func cookieFor(t testing.TB, s *Server, now monotime.Time, from netip.AddrPort, version byte) uint32 {
	t.Helper()
	reply, out := s.Handle(now, from, request1(version, 1492), nil)
	var r wire.OpenReply1
	if err := r.Parse(reply); err != nil || out.Kind != Reply || !r.Security {
		t.Fatalf("no cookie: %v, %+v", err, out)
	}
	return r.Cookie
}

func request2(cookie uint32, mtu int) []byte {
	return (&wire.OpenRequest2{HasCookie: true, Cookie: cookie, Server: serverAddr, MTU: mtu, GUID: clientGUID}).Append(nil)
}

func plainRequest2(mtu int) []byte {
	return (&wire.OpenRequest2{Server: serverAddr, MTU: mtu, GUID: clientGUID}).Append(nil)
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
