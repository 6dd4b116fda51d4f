package raknet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
)

func TestAdmitSeesTheClientAndRefusesIt(t *testing.T) {
	for admitted, want := range map[error]raknet.RejectReason{
		&raknet.RejectedError{}:                                       raknet.RejectNoFreeSlots,
		&raknet.RejectedError{Reason: raknet.RejectNoFreeSlots}:       raknet.RejectNoFreeSlots,
		&raknet.RejectedError{Reason: raknet.RejectBanned}:            raknet.RejectBanned,
		&raknet.RejectedError{Reason: raknet.RejectAlreadyConnected}:  raknet.RejectAlreadyConnected,
		&raknet.RejectedError{Reason: raknet.RejectRecentlyConnected}: raknet.RejectRecentlyConnected,
		&raknet.RejectedError{Reason: raknet.RejectInvalidPassword}:   raknet.RejectBanned,
		errors.New("not today"):                                       raknet.RejectNoFreeSlots,
	} {
		var seen atomic.Pointer[raknet.ConnRequest]
		var traced atomic.Value
		conf := raknet.ListenConfig{
			Admit:  func(r *raknet.ConnRequest) error { seen.Store(r); return admitted },
			Tracer: &raknet.Tracer{RequestRefused: func(r *raknet.ConnRequest, err error) { traced.Store(err) }},
		}
		story(t, good, conf, func(w *world) {
			c, err := raknet.Dialer{UpstreamDialer: w.network, GUID: 99}.Dial(serverAddress)
			require.Nil(w, c)
			requireOp(w, err, "dial")
			var rejected *raknet.RejectedError
			require.ErrorAs(w, err, &rejected)
			require.Equal(w, want, rejected.Reason)

			r := seen.Load()
			require.EqualValues(w, 99, r.GUID)
			require.EqualValues(w, 11, r.ProtocolVersion)
			require.Equal(w, 1492, r.MTU)
			require.Equal(w, r.AddrPort.String(), r.Addr.String())
			require.NotZero(w, w.listener.Stats().Rejected)
			require.Zero(w, w.listener.Stats().Connections)
			require.Equal(w, admitted, traced.Load())
		})
	}
}

func TestAdmitMayIgnoreARequest(t *testing.T) {
	conf := raknet.ListenConfig{Admit: func(*raknet.ConnRequest) error { return raknet.ErrIgnoreRequest }}
	story(t, good, conf, func(w *world) {
		start := time.Now()
		_, err := raknet.Dialer{UpstreamDialer: w.network}.DialTimeout(serverAddress, 7*time.Second)
		o := requireOp(w, err, "dial")
		require.True(w, o.Timeout())
		require.Equal(w, 7*time.Second, time.Since(start))
	})
}

func TestAFullListenerSaysSo(t *testing.T) {
	story(t, good, raknet.ListenConfig{MaxConnections: 2}, func(w *world) {
		first, _ := w.dial(raknet.Dialer{})
		w.dial(raknet.Dialer{})
		third := func() (*raknet.Conn, error) { return raknet.Dialer{UpstreamDialer: w.network}.Dial(serverAddress) }
		_, err := third()
		var rejected *raknet.RejectedError
		require.ErrorAs(w, err, &rejected)
		require.Equal(w, raknet.RejectNoFreeSlots, rejected.Reason)

		require.NoError(w, first.Close())
		w.pass(10 * time.Second)
		c, err := third()
		require.NoError(w, err)
		require.NoError(w, c.Close())
	})
}

func TestOtherVersionsAreTurnedAway(t *testing.T) {
	story(t, good, raknet.ListenConfig{ProtocolVersions: []byte{8, 9}}, func(w *world) {
		_, err := raknet.Dialer{UpstreamDialer: w.network, ProtocolVersion: 11}.Dial(serverAddress)
		requireOp(w, err, "dial")
		var version *raknet.VersionError
		require.ErrorAs(w, err, &version)
		require.Equal(w, raknet.VersionError{Client: 11, Server: 9}, *version)

		// Who leaves the version open gets the server's.
		client, server := w.dial(raknet.Dialer{})
		require.EqualValues(w, 9, client.ProtocolVersion())
		require.EqualValues(w, 9, server.ProtocolVersion())
	})
}

func TestPongs(t *testing.T) {
	story(t, good, raknet.ListenConfig{GUID: 5}, func(w *world) {
		d := raknet.Dialer{UpstreamDialer: w.network}
		ping := func() string {
			w.pass(time.Second) // the budget fills
			p, err := d.PingInfo(w.Context(), serverAddress)
			require.NoError(w, err)
			require.EqualValues(w, 5, p.GUID)
			require.Equal(w, 20*time.Millisecond, p.RTT)
			require.Equal(w, serverAddress, p.Addr.String())
			require.NotNil(w, p.Data)
			return string(p.Data)
		}
		require.Equal(w, "", ping(), "without data there is an answer all the same")
		data := []byte("MCPE;one;")
		w.listener.PongData(data)
		clear(data)
		require.Equal(w, "MCPE;one;", ping())
		w.listener.PongDataFunc(func(a net.Addr) []byte { return []byte("hello " + a.Network()) })
		require.Equal(w, "hello udp", ping())
		w.listener.PongDataFunc(nil)
		require.Equal(w, "MCPE;one;", ping())
		w.listener.PongData([]byte(strings.Repeat("x", 32767)))
		require.Regexp(w, "^x{397}$", ping())
		w.listener.PongData(nil)
		require.Equal(w, "", ping())
		require.Panics(w, func() { w.listener.PongData(make([]byte, 32768)) })
		require.EqualValues(w, 6, w.listener.Stats().Pings)
	})
}

func TestPongHook(t *testing.T) {
	conf := raknet.ListenConfig{Pong: func(p raknet.PingRequest) []byte { return []byte("for " + p.Addr.String()) }}
	story(t, good, conf, func(w *world) {
		w.listener.PongData([]byte("not this"))
		data, err := raknet.Dialer{UpstreamDialer: w.network}.Ping(serverAddress)
		require.NoError(w, err)
		require.Regexp(w, `^for 10\.`, string(data))
	})
	conf.Pong = func(raknet.PingRequest) []byte { panic("oops") }
	story(t, good, conf, func(w *world) {
		start := time.Now()
		_, err := raknet.Dialer{UpstreamDialer: w.network}.PingTimeout(serverAddress, 3*time.Second)
		o := requireOp(w, err, "ping")
		require.True(w, o.Timeout())
		require.ErrorIs(w, err, raknet.ErrNoAnswer)
		require.Equal(w, 3*time.Second, time.Since(start))
	})
}

// A carrier whose addresses are names, not IP addresses.
func TestServeTakesAnyCarrier(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		pc, err := w.network.ListenName("the server")
		require.NoError(w, err)
		admitted := make(chan netip.AddrPort, 1)
		l, err := raknet.ListenConfig{Admit: func(r *raknet.ConnRequest) error { admitted <- r.AddrPort; return nil }}.Serve(pc)
		require.NoError(w, err)
		defer l.Close()
		require.Equal(w, "the server", l.Addr().String())

		client, err := raknet.Dialer{UpstreamDialer: w.network}.Dial("the server")
		require.NoError(w, err)
		defer client.Close()
		server, err := l.Accept()
		require.NoError(w, err)
		require.Equal(w, "the server", client.RemoteAddr().String())
		require.IsType(w, netsim.Name(""), client.RemoteAddr())
		require.Equal(w, l.Addr(), server.LocalAddr())
		require.True(w, (<-admitted).IsValid())

		_, err = server.Write(message(5000))
		require.NoError(w, err)
		b, err := client.ReadPacket()
		require.NoError(w, err)
		require.Len(w, b, 5000)

		l.Block(client.LocalAddr())
	})
}

func TestAcceptEndsWithContextAndListener(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		why := errors.New("lunch")
		ctx, cancel := context.WithCancelCause(w.Context())
		var err error
		wait := async(func() { _, err = w.listener.AcceptContext(ctx) })
		w.pass(time.Second)
		cancel(why)
		wait()
		requireOp(w, err, "accept")
		require.ErrorIs(w, err, context.Canceled)
		require.ErrorIs(w, err, why)

		var c net.Conn
		wait = async(func() { c, err = w.listener.Accept() })
		w.pass(time.Second)
		require.NoError(w, w.listener.Close())
		wait()
		require.True(w, c == nil)
		requireOp(w, err, "accept")
		require.ErrorIs(w, err, raknet.ErrListenerClosed)
		require.ErrorIs(w, err, net.ErrClosed)
		_, err = w.listener.AcceptContext(w.Context())
		require.ErrorIs(w, err, raknet.ErrListenerClosed)
		require.NoError(w, w.listener.Close())
		require.NoError(w, w.listener.Shutdown(w.Context()))
	})
}

func TestClosingTheListenerTellsEverybody(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		unaccepted, err := raknet.Dialer{UpstreamDialer: w.network}.Dial(serverAddress)
		require.NoError(w, err)
		w.pass(time.Second)
		require.NoError(w, w.listener.Close())
		requireClosedBy(w, server, false)
		start := time.Now()
		requireClosedBy(w, client, true)
		requireClosedBy(w, unaccepted, true)
		require.Less(w, time.Since(start), time.Second)
	})
}

func TestShutdownDeliversFirst(t *testing.T) {
	story(t, bad, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		for range 50 {
			_, err := server.Write(message(10_000))
			require.NoError(w, err)
		}
		var reader sync.WaitGroup
		reader.Go(func() {
			for range 50 {
				_, err := client.ReadPacket()
				assert.NoError(w, err)
			}
			_, err := client.ReadPacket()
			assert.ErrorIs(w, err, io.EOF)
		})
		require.NoError(w, w.listener.Shutdown(w.Context()))
		reader.Wait()

		_, err := raknet.Dialer{UpstreamDialer: w.network}.DialTimeout(serverAddress, time.Second)
		require.Error(w, err)
	})
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	story(t, good, raknet.ListenConfig{Timeouts: raknet.Timeouts{Close: time.Minute, Idle: -1}}, func(w *world) {
		_, server := w.dial(raknet.Dialer{})
		w.cut()
		_, err := server.Write([]byte{0xfe})
		require.NoError(w, err)
		ctx, cancel := context.WithTimeout(w.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		err = w.listener.Shutdown(ctx)
		o := requireOp(w, err, "close")
		require.ErrorIs(w, err, context.DeadlineExceeded)
		require.True(w, o.Timeout())
		require.InDelta(w, 2, time.Since(start).Seconds(), 0.1)
		_, err = w.listener.Accept()
		require.ErrorIs(w, err, raknet.ErrListenerClosed)
	})
}

func TestConnsAndStats(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		_, s1 := w.dial(raknet.Dialer{})
		c2, s2 := w.dial(raknet.Dialer{})
		var all []*raknet.Conn
		for c := range w.listener.Conns() {
			all = append(all, c)
		}
		require.ElementsMatch(w, []*raknet.Conn{s1, s2}, all)
		for range w.listener.Conns() {
			break
		}
		w.pass(5 * time.Second)
		s := w.listener.Stats()
		require.Equal(w, 2, s.Connections)
		require.Zero(w, s.HalfOpen)
		require.EqualValues(w, 2, s.Accepted)
		require.EqualValues(w, 2, s.Request2)
		require.GreaterOrEqual(w, s.Request1, uint64(2))
		require.NotZero(w, s.DatagramsReceived)
		require.NotZero(w, s.DatagramsSent)
		require.NotZero(w, s.BytesReceived)
		require.NotZero(w, s.BytesSent)

		// What strangers send is counted by reason, and nothing else happens.
		stranger, err := w.network.DialContext(w.Context(), "udp", serverAddress)
		require.NoError(w, err)
		_, err = stranger.Write([]byte("GET / HTTP/1.1"))
		require.NoError(w, err)
		w.pass(time.Second)
		var dropped uint64
		for _, n := range w.listener.Stats().DroppedOffline {
			dropped += n
		}
		require.EqualValues(w, 1, dropped)
		require.NoError(w, stranger.Close())

		require.NoError(w, c2.Close())
		w.pass(10 * time.Second)
		require.Equal(w, 1, w.listener.Stats().Connections)
	})
}

func TestBlockedAddressesGetNoAnswer(t *testing.T) {
	story(t, good, raknet.ListenConfig{BlockDuration: 20 * time.Second}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		w.listener.Block(server.RemoteAddr())
		start := time.Now()
		<-server.Context().Done()
		require.ErrorIs(w, context.Cause(server.Context()), raknet.ErrIdleTimeout)
		require.Less(w, time.Since(start), 15*time.Second)
		_ = client

		// Others are not affected, and blocks end.
		w.dial(raknet.Dialer{})
		w.pass(20 * time.Second)
		w.dial(raknet.Dialer{})
	})
	story(t, good, raknet.ListenConfig{BlockDuration: -1}, func(w *world) {
		_, server := w.dial(raknet.Dialer{})
		w.listener.Block(server.RemoteAddr())
		w.listener.BlockFor(server.RemoteAddr(), -time.Second)
		w.listener.BlockFor(nil, time.Second)
		w.pass(time.Minute)
		require.NoError(w, server.Context().Err())
	})
}

func TestAListenerWithAHandlerNeedsNoAccept(t *testing.T) {
	conf := raknet.ListenConfig{Handler: func(c *raknet.Conn, m raknet.Message) { _, _ = c.Write(append(m.Data, '!')) }, AcceptBacklog: 1}
	story(t, bad, conf, func(w *world) {
		for range 3 {
			client, err := raknet.Dialer{UpstreamDialer: w.network}.Dial(serverAddress)
			require.NoError(w, err)
			_, err = client.Write([]byte("\xfehi"))
			require.NoError(w, err)
			b, err := client.ReadPacket()
			require.NoError(w, err)
			require.Equal(w, "\xfehi!", string(b))
			require.NoError(w, client.Close())
		}
	})
}

func TestListenErrors(t *testing.T) {
	settled(t)
	l, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	for _, address := range []string{l.Addr().String(), "127.0.0.1:99999", "nonsense"} {
		_, err = raknet.Listen(address)
		requireOp(t, err, "listen")
		require.Equal(t, 1, strings.Count(err.Error(), "listen"), "not twice: %v", err)
	}
	_, err = raknet.ListenConfig{UpstreamPacketListener: noSockets{}}.Listen(":1")
	requireOp(t, err, "listen")
	require.ErrorIs(t, err, errNoSockets)
}

var errNoSockets = errors.New("no sockets left")

type noSockets struct{}

func (noSockets) ListenPacket(string, string) (net.PacketConn, error) { return nil, errNoSockets }
func (noSockets) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, errNoSockets
}

func TestListenersHaveAnID(t *testing.T) {
	settled(t)
	a, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer a.Close()
	b, err := raknet.ListenConfig{GUID: 17}.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer b.Close()
	require.NotZero(t, a.ID())
	require.EqualValues(t, 17, b.ID())
	require.IsType(t, (*net.UDPAddr)(nil), a.Addr())
}

func TestCookiesCanBeSwitchedOff(t *testing.T) {
	story(t, good, raknet.ListenConfig{DisableCookies: true}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		_, err := client.Write([]byte{0xfe})
		require.NoError(w, err)
		_, err = server.ReadPacket()
		require.NoError(w, err)
	})
}
