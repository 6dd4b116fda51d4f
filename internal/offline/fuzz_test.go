package offline

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// FuzzServer sends one datagram to servers with and without cookies.
func FuzzServer(f *testing.F) {
	for _, v := range vectors(f, "server-offline") {
		for _, pkt := range v.Datagrams {
			f.Add(pkt, uint32(v.Patch.Cookie), true)
		}
	}
	f.Fuzz(func(t *testing.T, pkt []byte, cookieAt uint32, four bool) {
		from := client6
		if four {
			from = clientAddr
		}
		for _, mode := range []CookieMode{CookiesRequired, CookiesOff} {
			s := newServer(ServerConfig{Cookies: mode})
			if mode == CookiesRequired && cookieAt > 0 && uint64(cookieAt)+4 <= uint64(len(pkt)) {
				cookie := cookieFor(t, s, start, from, 11)
				for i := range 4 {
					pkt[int(cookieAt)+i] = byte(cookie >> (24 - 8*i))
				}
			}
			reply, out := s.Handle(start, from, pkt, nil)
			switch out.Kind {
			case Drop:
				if out.Reason == DropNone || out.Reason > DropAddress || reply != nil {
					t.Fatalf("%+v", out)
				}
			case Reply:
				if len(reply) == 0 || len(reply) > len(pkt) || len(reply) > ReplySize {
					t.Fatalf("%d bytes answered with %d", len(pkt), len(reply))
				}
			case Accept:
				if out.MTU < protocol.MinMTU || out.MTU > protocol.MaxMTU || !s.speaks(out.Version) || reply != nil {
					t.Fatalf("%+v", out)
				}
				if n := len(s.AppendReply2(nil, out.MTU, from)); n > ReplySize {
					t.Fatalf("reply 2 has %d bytes", n)
				}
			case Ping:
				if len(pkt) < 33 || reply != nil {
					t.Fatalf("a ping of %d bytes", len(pkt))
				}
			default:
				t.Fatalf("%+v", out)
			}
		}
	})
}

// FuzzClient plays a script against a client: each step is a byte that chooses what
// happens, and for a datagram its length and its bytes.
func FuzzClient(f *testing.F) {
	for _, v := range vectors(f, "client-offline") {
		var script []byte
		for _, pkt := range v.Datagrams {
			script = append(append(script, 0, byte(len(pkt))), pkt...)
		}
		f.Add(script, byte(0))
		f.Add(append([]byte{5, 1}, append(script, 2, 2, 3, 4, 1)...), byte(11))
	}
	dst := make([]byte, 0, 1500)
	f.Fuzz(func(t *testing.T, script []byte, version byte) {
		c, now := new(Client), start
		c.Init(now, &ClientConfig{GUID: clientGUID, Version: version, ServerAddr: serverAddr})
		checkClient(t, c, now, dst)
		pings, sent := pinged(), start
		for len(script) > 0 {
			op := script[0]
			script = script[1:]
			switch op % 6 {
			case 0:
				n := 0
				if len(script) > 0 {
					n = min(int(script[0]), len(script)-1)
					script = script[1:]
				}
				c.Receive(now, script[:n])
				pings.Receive(now, script[:n])
				script = script[n:]
			case 1:
				now = now.Add(time.Duration(op) * 10 * time.Millisecond)
			case 2:
				if d := c.Deadline(); d != monotime.Never {
					now = max(now, d)
				}
			case 3:
				c.ProbeTooLarge(now)
			case 4:
				c.Restart(now, int64(op))
			case 5:
				c.Receive(now, (&wire.OpenReply1{GUID: 1, MTU: 1400}).Append(nil))
			}
			c.Advance(now)
			checkClient(t, c, now, dst)
			pings.Advance(now)
			pings.Transmit(now, dst)
			if p, ok := pings.Result(); ok && (p.RTT < 0 || p.RTT > now.Sub(sent)) {
				t.Fatalf("round trip of %v after %v", p.RTT, now.Sub(sent))
			}
		}
	})
}
