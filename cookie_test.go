package raknet_test

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

var secret = []byte("sixteen random bytes, or more")

// askTwo sends the first request to one listener and the second, with the cookie it got, to
// another, as happens where two share an address. It returns the second answer.
func askTwo(w *world, one, other *raknet.Listener, after time.Duration) []byte {
	s := w.stranger("10.66.6.6:666")
	defer s.pc.Close()
	_, err := s.pc.WriteTo(request1(1400), one.Addr())
	require.NoError(w, err)
	second := request2(w, s.hearOne(), 1)
	w.pass(after)
	_, err = s.pc.WriteTo(second, other.Addr())
	require.NoError(w, err)
	return s.hearOne()
}

// replica is one more listener.
func (w *world) replica(address string, conf raknet.ListenConfig) *raknet.Listener {
	w.Helper()
	conf.UpstreamPacketListener = w.network
	l, err := conf.Listen(address)
	require.NoError(w, err)
	w.Cleanup(func() { _ = l.Close() })
	return l
}

func TestListenersThatShareASecretKnowEachOthersCookies(t *testing.T) {
	conf := raknet.ListenConfig{CookieKeys: raknet.SharedCookieKeys(secret)}
	story(t, good, conf, func(w *world) {
		other := w.replica("10.9.8.8:19132", conf)
		for _, age := range []time.Duration{0, 29 * time.Second} {
			require.Equal(w, byte(protocol.IDOpenConnectionReply2), askTwo(w, w.listener, other, age)[0], "%v", age)
			w.pass(20 * time.Second)
		}
		require.Nil(w, askTwo(w, w.listener, other, 91*time.Second), "cookies grow old")
		require.EqualValues(w, 1, other.Stats().BadCookies)

		alone := w.replica("10.9.8.9:19132", raknet.ListenConfig{})
		require.Nil(w, askTwo(w, w.listener, alone, 0))
		require.Nil(w, askTwo(w, alone, w.listener, 0))
		stranger := w.replica("10.9.8.10:19132", raknet.ListenConfig{CookieKeys: raknet.SharedCookieKeys(slices.Concat(secret, secret))})
		require.Nil(w, askTwo(w, w.listener, stranger, 0))
		w.dial(raknet.Dialer{})
	})
}

func TestSharedKeysFollowTheClock(t *testing.T) {
	keys := raknet.SharedCookieKeys(secret)
	now := time.Date(2030, 1, 1, 0, 0, 7, 0, time.UTC)
	require.Equal(t, keys(now), keys(now.Add(22*time.Second)))
	before, after := keys(now.Add(-30*time.Second)), keys(now.Add(30*time.Second))
	for _, other := range [][]raknet.CookieKey{before, after} {
		require.Contains(t, other, keys(now)[0], "clocks may be half a minute apart")
		require.NotEqual(t, keys(now)[0], other[0])
	}
	require.NotContains(t, keys(now.Add(time.Minute)), keys(now)[0])
	require.Panics(t, func() { raknet.SharedCookieKeys([]byte("fifteen letters")) })

	mine := slices.Clone(secret)
	kept := raknet.SharedCookieKeys(mine)
	clear(mine)
	require.Equal(t, keys(now), kept(now), "the secret is copied")
}

// A source that fails leaves the keys as they are; one without keys lets nobody in.
func TestASourceOfKeysMayFail(t *testing.T) {
	answers := [][]raknet.CookieKey{{{1}}, nil}
	asked := 0
	conf := raknet.ListenConfig{CookieKeys: func(time.Time) []raknet.CookieKey {
		if asked++; asked == 2 {
			panic("no keys today")
		}
		return answers[min(asked-1, 1)]
	}}
	story(t, good, conf, func(w *world) {
		require.Equal(w, byte(protocol.IDOpenConnectionReply2), w.stranger("10.66.6.6:1").knock(1)[0])
		require.Equal(w, 1, asked, "once a second")
		w.pass(2 * time.Second)
		require.Equal(w, byte(protocol.IDOpenConnectionReply2), w.stranger("10.66.6.6:2").knock(1)[0])
		require.Equal(w, 2, asked)
		w.pass(2 * time.Second)
		require.Nil(w, w.stranger("10.66.6.6:3").knock(1))
	})
}

// scrubber makes cookies as a protection service does: 24 bits of a hash, four of the minute, four
// of the version.
type scrubber struct{ key siphash.Key }

func (s *scrubber) tag(client netip.AddrPort, low uint32) uint32 {
	b := client.Addr().As16()
	m := binary.BigEndian.AppendUint16(b[:], client.Port())
	m = binary.BigEndian.AppendUint32(m, low)
	return uint32(siphash.Sum(&s.key, m))<<8 | low
}

func (s *scrubber) IssueCookie(client netip.AddrPort, version byte) uint32 {
	return s.tag(client, uint32(time.Now().Unix()/60%16)<<4|uint32(version&15))
}

func (s *scrubber) VerifyCookie(client netip.AddrPort, cookie uint32) (version byte, ok bool) {
	age := (uint32(time.Now().Unix()/60) - cookie>>4) % 16
	return byte(cookie & 15), age <= 1 && s.tag(client, cookie&0xff) == cookie
}

func TestAVerifierMakesAndJudgesCookies(t *testing.T) {
	s := &scrubber{key: siphash.Key{7}}
	conf := raknet.ListenConfig{CookieVerifier: s, CookieKeys: func(time.Time) []raknet.CookieKey { panic("nobody asks") }}
	story(t, good, conf, func(w *world) {
		_, server := w.dial(raknet.Dialer{ProtocolVersion: 10})
		require.EqualValues(w, 10, server.ProtocolVersion())

		t.Log("# whoever answered the first request, the second is enough")
		c := w.stranger("10.66.6.6:666")
		client := netip.MustParseAddrPort("10.66.6.6:666")
		ask := func(cookie uint32) []byte {
			p := wire.OpenRequest2{HasCookie: true, Cookie: cookie, Server: netip.MustParseAddrPort(serverAddress), MTU: 1400, GUID: 1}
			c.send(p.Append(nil))
			return c.hearOne()
		}
		cookie := s.IssueCookie(client, 11)
		require.Nil(w, ask(cookie^0x100))
		require.Nil(w, ask(s.IssueCookie(netip.MustParseAddrPort("10.66.6.6:667"), 11)))
		require.Equal(w, byte(protocol.IDOpenConnectionReply2), ask(cookie)[0])
		w.pass(2 * time.Minute)
		require.Nil(w, ask(cookie))
		require.EqualValues(w, 3, w.listener.Stats().BadCookies)
	})
}

type panicky struct{}

func (panicky) IssueCookie(netip.AddrPort, byte) uint32          { panic("issue") }
func (panicky) VerifyCookie(netip.AddrPort, uint32) (byte, bool) { panic("verify") }

func TestAVerifierMayPanic(t *testing.T) {
	story(t, good, raknet.ListenConfig{CookieVerifier: panicky{}}, func(w *world) {
		require.Nil(w, w.stranger("10.66.6.6:1").knock(1))
		require.EqualValues(w, 1, w.listener.Stats().BadCookies)
		w.stranger("10.66.6.6:2").send(pingDatagram)
		w.pass(time.Second)
		require.EqualValues(w, 1, w.listener.Stats().Pings)
	})
}

type tolerant struct{}

func (tolerant) IssueCookie(netip.AddrPort, byte) uint32          { return 7 }
func (tolerant) VerifyCookie(netip.AddrPort, uint32) (byte, bool) { return 0, true }

func TestAVerifierNeedNotKnowTheVersion(t *testing.T) {
	story(t, good, raknet.ListenConfig{CookieVerifier: tolerant{}}, func(w *world) {
		_, server := w.dial(raknet.Dialer{ProtocolVersion: 10})
		require.EqualValues(w, 11, server.ProtocolVersion(), "the highest")
	})
}

// A forger who knows everything but what his victim is sent: without cookies he can open
// connections in its name, and the server, whose application greets whoever comes with much
// data, sends no more than three times what the forger does.
func TestWithoutCookiesAForgerGainsLittle(t *testing.T) {
	conf := raknet.ListenConfig{DisableCookies: true, Handler: func(*raknet.Conn, raknet.Message) {}}
	conf.Tracer = &raknet.Tracer{ConnOpened: func(c *raknet.Conn) {
		go func() {
			for range 500 {
				_, _ = c.Write(user(1000))
			}
		}()
	}}
	story(t, good, conf, func(w *world) {
		m := w.mallory("192.0.2.1:7777") // he does not hear what comes there, and looks at nothing
		m.acknowledges(false)
		in := 0
		raw := func(b []byte) { in += len(b); m.raw(b) }
		raw(request1(400))
		raw((&wire.OpenRequest2{Server: netip.MustParseAddrPort(serverAddress), MTU: 400, GUID: 1}).Append(nil))
		go m.listen()
		frame := func(f wire.Frame) {
			b := wire.AppendDatagramHeader(nil, wire.FrameSetID, m.number)
			m.number++
			raw(append(wire.AppendFrameHeader(b, &f, len(f.Payload)), f.Payload...))
		}
		frame(m.frame(protocol.ReliableOrdered, (&wire.ConnectionRequest{GUID: 1}).Append(nil)))
		w.pass(50 * time.Millisecond)
		frame(m.frame(protocol.ReliableOrdered, (&wire.NewIncomingConnection{AcceptedTime: time.Now().UnixMilli()}).Append(nil)))
		w.pass(4 * time.Second) // the server asks for a proof in vain, and lets him in
		require.Equal(w, 1, w.listener.Stats().Connections)
		for n := range 300 {
			raw(ackOf(0, uint32(n)))
			frame(m.frame(protocol.Unreliable, (&wire.ConnectedPong{PingTime: time.Now().UnixMilli()}).Append(nil)))
			w.pass(10 * time.Millisecond)
		}
		m.mu.Lock()
		out := m.bytes
		m.mu.Unlock()
		require.Less(w, out, 3*in+1500, "of %d bytes", in)
	})
}

// An honest client of such a server has everything.
func TestWithoutCookiesAnHonestClientIsServed(t *testing.T) {
	story(t, good, raknet.ListenConfig{DisableCookies: true}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		start := time.Now()
		for range 500 {
			_, err := server.Write(user(1000))
			require.NoError(w, err)
		}
		for range 500 {
			_, err := client.ReadPacket()
			require.NoError(w, err)
		}
		require.Less(w, time.Since(start), 2*time.Second)
	})
}

// A request that proves nothing ends no connection that may live. With a cookie it
// is the client itself that starts anew.
func TestOnlyAProvenRequestReplacesASilentConnection(t *testing.T) {
	for _, without := range []bool{false, true} {
		story(t, good, raknet.ListenConfig{DisableCookies: without}, func(w *world) {
			m := w.malloryFrom("10.66.6.6:666")
			m.acknowledges(false)
			w.pass(4 * time.Second)
			require.NoError(w, m.pc.Close())
			again := w.stranger("10.66.6.6:666")
			answer := again.knock(667)
			if without {
				require.Equal(w, byte(protocol.IDAlreadyConnected), answer[0])
				require.NoError(w, m.victim.Context().Err())
				m.requireEnd(10*time.Second, raknet.ErrIdleTimeout)
				w.pass(5 * time.Second)
				require.Equal(w, byte(protocol.IDOpenConnectionReply2), again.knock(667)[0])
				return
			}
			require.Equal(w, byte(protocol.IDOpenConnectionReply2), answer[0])
			m.requireEnd(time.Second, raknet.ErrReplaced)
		})
	}
}
