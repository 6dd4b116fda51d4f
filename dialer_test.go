package raknet_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/protocol"
)

func TestADialThatNobodyAnswers(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		d := raknet.Dialer{UpstreamDialer: w.network}
		w.cut()
		start := time.Now()
		_, err := d.DialTimeout(serverAddress, 3*time.Second)
		o := requireOp(w, err, "dial")
		require.Equal(w, 3*time.Second, time.Since(start))
		require.True(w, o.Timeout())
		require.ErrorIs(w, err, context.DeadlineExceeded)
		require.ErrorIs(w, err, os.ErrDeadlineExceeded)
		require.ErrorIs(w, err, raknet.ErrNoAnswer)

		start = time.Now()
		_, err = d.Dial(serverAddress)
		require.Error(w, err)
		require.Equal(w, 10*time.Second, time.Since(start))

		// Without any limit of the caller's it ends all the same.
		start = time.Now()
		_, err = d.DialContext(context.Background(), serverAddress)
		require.Error(w, err)
		require.Equal(w, 10*time.Second, time.Since(start))

		why := errors.New("changed my mind")
		ctx, cancel := context.WithCancelCause(w.Context())
		wait := async(func() { _, err = d.DialContext(ctx, serverAddress) })
		w.pass(time.Second)
		cancel(why)
		require.Equal(w, time.Second, wait())
		o = requireOp(w, err, "dial")
		require.ErrorIs(w, err, context.Canceled)
		require.ErrorIs(w, err, why)
		require.False(w, o.Timeout())
	})
}

// A server that answers the first request and never the second is tried again from another
// port. Whenever the time ends, also in the moment of that change, the error says that it did.
func TestADialThatIsAnsweredHalfEndsLikeAnyOther(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		w.network.SetFilter(func(_, _ netip.AddrPort, data []byte) bool {
			return protocol.ID(data[0]) == protocol.IDOpenConnectionReply2
		})
		for limit := 1500 * time.Millisecond; limit < 2500*time.Millisecond; limit += 10 * time.Millisecond {
			_, err := raknet.Dialer{UpstreamDialer: w.network}.DialTimeout(serverAddress, limit)
			o := requireOp(w, err, "dial")
			require.True(w, o.Timeout(), "%v: %v", limit, err)
			require.ErrorIs(w, err, raknet.ErrNoAnswer)
		}
	})
}

func TestAConnectionOutlivesTheContextOfItsDial(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		ctx, cancel := context.WithTimeout(w.Context(), 5*time.Second)
		c, err := raknet.Dialer{UpstreamDialer: w.network}.DialContext(ctx, serverAddress)
		require.NoError(w, err)
		_, err = w.listener.Accept()
		require.NoError(w, err)
		cancel()
		w.pass(time.Minute)
		require.NoError(w, context.Cause(c.Context()))
		require.NoError(w, c.Close())
	})
}

func TestDialsSucceedOverABadLink(t *testing.T) {
	worse := bad
	worse.Loss = 0.3
	story(t, worse, raknet.ListenConfig{}, func(w *world) {
		for range 20 {
			client, server := w.dial(raknet.Dialer{})
			require.NoError(w, client.Close())
			require.NoError(w, server.Close())
		}
	})
}

func TestTheMTUFitsThePath(t *testing.T) {
	narrow := good
	narrow.MTU = 1280
	story(t, narrow, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		require.LessOrEqual(w, client.MTU(), 1280)
		require.Equal(w, client.MTU(), server.MTU())
		_, err := client.Write(message(100_000))
		require.NoError(w, err)
		b, err := server.ReadPacket()
		require.NoError(w, err)
		require.Len(w, b, 100_000)
	})
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, _ := w.dial(raknet.Dialer{MaxMTU: 1000})
		require.LessOrEqual(w, client.MTU(), 1000)
	})
}

func TestAFreshPortAfterALostReply2(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		// The first client socket that asks never gets its second reply.
		var first netip.AddrPort
		w.network.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
			if from.String() == serverAddress && data[0] == 0x08 {
				if !first.IsValid() {
					first = to
				}
				return to == first
			}
			return false
		})
		var attempts atomic.Int32
		client, _ := w.dial(raknet.Dialer{Tracer: &raknet.Tracer{DialAttempt: func(net.Addr) { attempts.Add(1) }}})
		require.NotEqual(w, first.String(), client.LocalAddr().String())
		require.EqualValues(w, 2, attempts.Load())
	})
}

func TestPingsAreRepeated(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		w.listener.PongData([]byte("here"))
		var pings atomic.Int32
		w.network.SetFilter(func(_, to netip.AddrPort, _ []byte) bool {
			return to.String() == serverAddress && pings.Add(1) < 4
		})
		data, err := raknet.Dialer{UpstreamDialer: w.network}.PingContext(w.Context(), serverAddress)
		require.NoError(w, err)
		require.Equal(w, "here", string(data))
		require.EqualValues(w, 4, pings.Load())

		w.cut()
		start := time.Now()
		_, err = raknet.Dialer{UpstreamDialer: w.network}.Ping(serverAddress)
		requireOp(w, err, "ping")
		require.ErrorIs(w, err, context.DeadlineExceeded)
		require.Equal(w, 5*time.Second, time.Since(start))
	})
}

func TestTheTracerFollowsAConnection(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		events := make(chan string, 10)
		tracer := &raknet.Tracer{
			DialAttempt: func(a net.Addr) { events <- "dialing " + a.String() },
			ConnOpened:  func(c *raknet.Conn) { events <- "opened " + c.RemoteAddr().String() },
			ConnClosed:  func(c *raknet.Conn, err error) { events <- "closed: " + err.Error() },
		}
		client, server := w.dial(raknet.Dialer{Tracer: tracer})
		require.Equal(w, "dialing "+serverAddress, <-events)
		require.Equal(w, "opened "+serverAddress, <-events)
		require.NoError(w, server.Close())
		<-client.Context().Done()
		require.Equal(w, "closed: the peer closed the connection", <-events)
	})
}

func TestCongestionCanBeChosen(t *testing.T) {
	for _, c := range []raknet.Congestion{{}, raknet.SlidingWindow(), raknet.FixedWindow(32), raknet.Cubic(), raknet.ModelBased()} {
		story(t, netsim.Link{Delay: 20 * time.Millisecond, Loss: 0.02}, raknet.ListenConfig{Congestion: c}, func(w *world) {
			client, server := w.dial(raknet.Dialer{Congestion: c})
			_, err := server.Write(message(300_000))
			require.NoError(w, err)
			b, err := client.ReadPacket()
			require.NoError(w, err)
			require.Len(w, b, 300_000)
			if c == raknet.FixedWindow(32) {
				require.InDelta(w, 32*1492, server.Stats().CongestionWindow, 1000)
			}
		})
	}
}

func TestAnUpstreamDialerMayFail(t *testing.T) {
	for op, call := range map[string]func(raknet.Dialer) error{
		"dial": func(d raknet.Dialer) error { _, err := d.Dial("x:1"); return err },
		"ping": func(d raknet.Dialer) error { _, err := d.Ping("x:1"); return err },
	} {
		err := call(raknet.Dialer{UpstreamDialer: noSockets{}})
		requireOp(t, err, op)
		require.ErrorIs(t, err, errNoSockets)
	}
}

// flaky is an upstream dialer whose sockets report, while told so, that nobody listens.
type flaky struct {
	raknet.UpstreamDialer
	failing atomic.Bool
	errors  atomic.Int32
}

func (f *flaky) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := f.UpstreamDialer.DialContext(ctx, network, address)
	return &flakyConn{c, f}, err
}

type flakyConn struct {
	net.Conn
	f *flaky
}

func (c *flakyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.f.failing.Load() {
		c.f.errors.Add(1)
		return 0, &net.OpError{Op: "read", Err: os.NewSyscallError("recvfrom", syscall.ECONNREFUSED)}
	}
	return n, err
}

func TestPassingErrorsOfTheSocketEndADialAndNoConnection(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		f := &flaky{UpstreamDialer: w.network}
		f.failing.Store(true)
		_, err := raknet.Dialer{UpstreamDialer: f, MaxTransientErrors: 3}.Dial(serverAddress)
		requireOp(w, err, "dial")
		require.ErrorIs(w, err, syscall.ECONNREFUSED)
		require.EqualValues(w, 4, f.errors.Load())

		_, err = raknet.Dialer{UpstreamDialer: f, MaxTransientErrors: -1}.Dial(serverAddress)
		require.ErrorIs(w, err, context.DeadlineExceeded)

		f.failing.Store(false)
		client, err := raknet.Dialer{UpstreamDialer: f, MaxTransientErrors: 1}.Dial(serverAddress)
		require.NoError(w, err)
		conn, err := w.listener.Accept()
		require.NoError(w, err)
		f.failing.Store(true)
		for range 50 {
			_, err := conn.Write([]byte{0xfe})
			require.NoError(w, err)
			w.pass(50 * time.Millisecond)
		}
		f.failing.Store(false)
		for range 50 {
			_, err := client.ReadPacket()
			require.NoError(w, err)
		}
	})
}

func TestAddressesThatAreNone(t *testing.T) {
	settled(t)
	for _, address := range []string{"", "localhost", "127.0.0.1:noport", "127.0.0.1:99999"} {
		_, err := raknet.DialTimeout(address, time.Second)
		requireOp(t, err, "dial")
		_, err = raknet.PingTimeout(address, time.Second)
		requireOp(t, err, "ping")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := raknet.DialContext(ctx, "127.0.0.1:19132")
	requireOp(t, err, "dial")
	require.ErrorIs(t, err, context.Canceled)
}

// Over the loopback, by name.
func TestLocalhost(t *testing.T) {
	settled(t)
	l, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	for _, host := range []string{"localhost", "", "127.0.0.1"} {
		c, err := raknet.Dial(net.JoinHostPort(host, port))
		require.NoError(t, err, "%q", host)
		require.NoError(t, c.Close())
		_, err = raknet.Ping(net.JoinHostPort(host, port))
		require.NoError(t, err)
	}
}
