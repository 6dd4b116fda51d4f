package offline

import (
	"net/netip"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func ping(id protocol.ID, guid bool) []byte {
	return (&wire.UnconnectedPing{OnlyIfOpen: id == protocol.IDUnconnectedPingOpen, Time: 77, HasGUID: guid, GUID: clientGUID}).Append(nil)
}

func TestServerTakesAClientIn(t *testing.T) {
	for _, version := range []byte{10, 11} {
		s := newServer(ServerConfig{MaxMTU: 1400})
		t.Log("# request 1 is answered with a cookie and what the server can take")
		reply, out := s.Handle(start, clientAddr, request1(version, 1492), nil)
		if out.Kind != Reply || out.MTU != 1400 || out.Version != version || out.ID != protocol.IDOpenConnectionRequest1 {
			t.Fatalf("%+v", out)
		}
		var r1 wire.OpenReply1
		if err := r1.Parse(reply); err != nil || r1.MTU != 1400 || r1.GUID != serverGUID || !r1.Security || r1.LibcatKey {
			t.Fatalf("%+v, %v", r1, err)
		}
		t.Log("# request 2 with the cookie is accepted, whatever else happened meanwhile")
		reply, out = s.Handle(start.Add(30*time.Second), clientAddr, request2(r1.Cookie, r1.MTU), nil)
		want := Outcome{Kind: Accept, ID: protocol.IDOpenConnectionRequest2, GUID: clientGUID, MTU: 1400, Version: version}
		if reply != nil || out != want {
			t.Fatalf("%+v, want %+v", out, want)
		}
		var r2 wire.OpenReply2
		if err := r2.Parse(s.AppendReply2(nil, out.MTU, clientAddr)); err != nil {
			t.Fatal(err)
		}
		if (r2 != wire.OpenReply2{GUID: serverGUID, Client: clientAddr, MTU: 1400}) {
			t.Fatalf("%+v", r2)
		}
	}
}

func TestServerWithoutCookies(t *testing.T) {
	s := newServer(ServerConfig{Cookies: CookiesOff})
	reply, _ := s.Handle(start, clientAddr, request1(10, 1200), nil)
	var r1 wire.OpenReply1
	if err := r1.Parse(reply); err != nil || r1.Security || r1.MTU != 1200 || len(reply) != 28 {
		t.Fatalf("%+v, %v", r1, err)
	}
	_, out := s.Handle(start, clientAddr, plainRequest2(1200), nil)
	if out.Kind != Accept || out.MTU != 1200 || out.Version != 11 {
		t.Fatalf("%+v", out)
	}
}

func TestServerChoosesTheMTU(t *testing.T) {
	for _, tt := range []struct{ max, probe, want int }{
		{0, 1492, 1492}, {0, 1480, 1480}, {0, 1508, 1492}, {0, 4000, 1492}, {0, 400, 400}, {0, 399, 0}, {0, 46, 0},
		{1200, 1492, 1200}, {1200, 576, 576}, {100, 1492, 400}, {9000, 9000, 1492}, {-5, 1492, 400},
	} {
		s := newServer(ServerConfig{MaxMTU: tt.max})
		_, out := s.Handle(start, clientAddr, request1(11, tt.probe), nil)
		if out.MTU != tt.want || (out.Kind == Reply) != (tt.want > 0) {
			t.Errorf("max %d, probe %d: %+v, want %d", tt.max, tt.probe, out, tt.want)
		}
		_, out = s.Handle(start, clientAddr, request2(cookieFor(t, s, start, clientAddr, 11), tt.probe), nil)
		if out.MTU != tt.want || (out.Kind == Accept) != (tt.want > 0) {
			t.Errorf("max %d, request 2 with %d: %+v, want %d", tt.max, tt.probe, out, tt.want)
		}
	}
}

func TestServerSaysWhichVersionItSpeaks(t *testing.T) {
	for _, tt := range []struct {
		versions []byte
		client   byte
		own      byte // 0: it is taken
	}{
		{nil, 11, 0}, {nil, 10, 0}, {nil, 9, 11}, {nil, 12, 11}, {nil, 0, 11},
		{[]byte{6, 8, 7}, 7, 0}, {[]byte{6, 8, 7}, 11, 8},
	} {
		s := newServer(ServerConfig{Versions: tt.versions})
		req := request1(tt.client, 400)
		reply, out := s.Handle(start, clientAddr, req, nil)
		var v wire.IncompatibleVersion
		err := v.Parse(reply)
		if tt.own == 0 {
			if err == nil || out.MTU != 400 {
				t.Errorf("%v: version %d was turned away", tt.versions, tt.client)
			}
			continue
		}
		if err != nil || out.Kind != Reply || v.Version != tt.own || v.GUID != serverGUID || len(reply) >= len(req) {
			t.Errorf("%v, version %d: %+v, %v, %+v", tt.versions, tt.client, v, err, out)
		}
	}
}

func TestServerHearsPings(t *testing.T) {
	s := newServer(ServerConfig{})
	for _, id := range []protocol.ID{protocol.IDUnconnectedPing, protocol.IDUnconnectedPingOpen} {
		reply, out := s.Handle(start, clientAddr, ping(id, true), nil)
		want := Outcome{Kind: Ping, ID: id, OnlyIfOpen: id == protocol.IDUnconnectedPingOpen, Time: 77, GUID: clientGUID}
		if reply != nil || out != want {
			t.Errorf("%v: %+v, want %+v", id, out, want)
		}
	}
}

func TestServerDropsWithAReason(t *testing.T) {
	s := newServer(ServerConfig{})
	cookie := cookieFor(t, s, start, clientAddr, 11)
	good := request2(cookie, 1400)
	edit := func(b []byte, at int, to byte) []byte {
		b = append([]byte(nil), b...)
		b[at] = to
		return b
	}
	oob := (&wire.OutOfBand{GUID: 1, Data: []byte("hi")}).Append(nil)
	for _, tt := range []struct {
		name string
		pkt  []byte
		want DropReason
	}{
		{"nothing", nil, DropEmpty},
		{"a scanner", []byte("GET / HTTP/1.1\r\n\r\n"), DropUnknown},
		{"the original's self test", make([]byte, 4), DropUnknown},
		{"a bare connected packet", []byte{0x09, 0, 0, 0}, DropUnknown},
		{"a datagram of no connection", []byte{0x84, 0, 0, 0, 0x60}, DropNoSession},
		{"a server's pong", newServer(ServerConfig{}).AppendPong(nil, 1, nil), DropClientBound},
		{"a server's refusal", s.AppendRefusal(nil, protocol.IDBanned), DropClientBound},
		{"out of band", oob, DropOutOfBand},
		{"half a ping", ping(protocol.IDUnconnectedPing, true)[:20], DropTruncated},
		{"a ping without GUID", ping(protocol.IDUnconnectedPing, false), DropNoGUID},
		{"a ping with half a GUID", ping(protocol.IDUnconnectedPing, true)[:32], DropNoGUID},
		{"a ping of something else", edit(ping(protocol.IDUnconnectedPing, true), 9, 1), DropMagic},
		{"request 1 without a version", request1(11, 400)[:17], DropTruncated},
		{"request 1 of something else", edit(request1(11, 1492), 1, 1), DropMagic},
		{"a small request 1", request1(11, 399), DropSmallMTU},
		{"a small request 1 of another version", request1(3, 399), DropSmallMTU},
		{"request 2 that ends early", good[:30], DropTruncated},
		{"request 2 of something else", edit(good, 16, 0), DropMagic},
		{"request 2 of no family", edit(good, 22, 5), DropAddress},
		{"request 2 with a challenge", edit(good, 21, 1), DropChallenge},
		{"a small request 2", request2(cookie, 399), DropSmallMTU},
		{"request 2 with a wrong cookie", request2(cookie+1, 1400), DropCookie},
		{"request 2 without a cookie", plainRequest2(1400), DropNoCookie},
		{"request 2 without a cookie, over IPv6", (&wire.OpenRequest2{Server: client6, MTU: 1400}).Append(nil), DropNoCookie},
	} {
		reply, out := s.Handle(start, clientAddr, tt.pkt, nil)
		if reply != nil || out.Kind != Drop || out.Reason != tt.want {
			t.Errorf("%s: %+v, want %v", tt.name, out, tt.want)
		}
	}
	t.Log("# and a cookie that has been stolen, or has gone stale")
	if _, out := s.Handle(start, client6, good, nil); out.Reason != DropCookie {
		t.Errorf("another address: %+v", out)
	}
	if _, out := s.Handle(start.Add(time.Minute), clientAddr, good, nil); out.Reason != DropCookie {
		t.Errorf("a minute later: %+v", out)
	}
}

func TestServerIgnoresTrailingBytes(t *testing.T) {
	s := newServer(ServerConfig{})
	junk := make([]byte, 2000)
	if _, out := s.Handle(start, clientAddr, append(ping(protocol.IDUnconnectedPing, true), junk...), nil); out.Kind != Ping {
		t.Errorf("a long ping: %+v", out)
	}
	pkt := append(request2(cookieFor(t, s, start, clientAddr, 11), 1400), junk...)
	if _, out := s.Handle(start, clientAddr, pkt, nil); out.Kind != Accept {
		t.Errorf("a long request 2: %+v", out)
	}
}

func TestServerAppends(t *testing.T) {
	s := newServer(ServerConfig{})
	reply, _ := s.Handle(start, clientAddr, request1(11, 1492), []byte("before"))
	if len(reply) != 6+32 || string(reply[:6]) != "before" {
		t.Fatalf("%d bytes", len(reply))
	}
	if n := len(s.AppendReply2(nil, 1400, client6)); n != ReplySize {
		t.Fatalf("the longest reply has %d bytes, ReplySize says %d", n, ReplySize)
	}
}

func TestServerCopiesItsVersions(t *testing.T) {
	versions := []byte{11}
	s := newServer(ServerConfig{Versions: versions})
	versions[0] = 9
	if _, out := s.Handle(start, clientAddr, request1(11, 1492), nil); out.MTU == 0 {
		t.Fatal("the caller's slice changed what is accepted")
	}
}

// everyOutcome is one packet per path through Handle.
func everyOutcome(t testing.TB, s *Server, from netip.AddrPort) [][]byte {
	good := request2(cookieFor(t, s, start, from, 10), 1400)
	challenge := append([]byte(nil), good...)
	challenge[21] = 1
	return [][]byte{
		nil, {0x42}, {0x84, 0, 0, 0}, s.AppendPong(nil, 1, nil), (&wire.OutOfBand{}).Append(nil),
		ping(protocol.IDUnconnectedPing, true), ping(protocol.IDUnconnectedPing, false), {1},
		request1(11, 1492), request1(11, 100), request1(3, 1492), make([]byte, 100),
		good, good[:30], challenge, request2(1, 1400), request2(1, 20), plainRequest2(1400),
	}
}

func TestServerAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, PongSize)
	motd := make([]byte, 500)
	for _, from := range []netip.AddrPort{clientAddr, client6} {
		s := newServer(ServerConfig{})
		for i, pkt := range everyOutcome(t, s, from) {
			if n := testing.AllocsPerRun(100, func() {
				switch _, out := s.Handle(start, from, pkt, dst); out.Kind {
				case Accept:
					s.AppendReply2(dst, out.MTU, from)
					s.AppendRefusal(dst, protocol.IDNoFreeConnections)
				case Ping:
					s.AppendPong(dst, out.Time, motd)
				}
			}); n != 0 {
				t.Errorf("packet %d: %v allocations", i, n)
			}
		}
	}
}

func BenchmarkServer(b *testing.B) {
	s := newServer(ServerConfig{})
	dst := make([]byte, 0, PongSize)
	motd := make([]byte, 100)
	for _, bb := range []struct {
		name string
		pkt  []byte
	}{
		{"ping", ping(protocol.IDUnconnectedPing, true)},
		{"request1", request1(11, 1492)},
		{"request2", request2(cookieFor(b, s, start, clientAddr, 11), 1400)},
		{"badcookie", request2(1, 1400)},
		{"garbage", []byte{0x42, 1, 2, 3}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				switch _, out := s.Handle(start, clientAddr, bb.pkt, dst); out.Kind {
				case Accept:
					s.AppendReply2(dst, out.MTU, clientAddr)
				case Ping:
					s.AppendPong(dst, out.Time, motd)
				}
			}
		})
	}
}
