package raknet_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/qlog"
)

// serverAddress is where the listener of every world is.
const serverAddress = "10.9.8.7:19132"

// traces is where every connection of these tests leaves a trace, for whoever wants to see
// what happened.
var traces = flag.String("qlog", "", "directory to write qlog files of the simulated connections to, one below it for each test")

// traced returns a tracer that leaves traces, if they are wanted and nobody else traces.
func traced(t *testing.T, tracer *raknet.Tracer) *raknet.Tracer {
	if tracer != nil || *traces == "" {
		return tracer
	}
	return qlog.Dir(filepath.Join(*traces, filepath.FromSlash(t.Name())))
}

// world is a listener in a simulated network in virtual time.
type world struct {
	*testing.T
	network  *netsim.Network
	listener *raknet.Listener
}

// story runs a test in a world of its own: a network whose links are all like link, a
// listener with the settings of conf. When it ends, every goroutine and buffer has
// to be gone, whatever the test left open.
func story(t *testing.T, link netsim.Link, conf raknet.ListenConfig, tell func(w *world)) {
	t.Helper()
	// What tests over real sockets have closed lives on for a moment.
	require.Eventually(t, func() bool { return pool.InUse() == 0 }, 20*time.Second, time.Millisecond, "datagram buffers leaked before this test")
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, network: netsim.New(1)}
		w.network.SetDefault(link)
		conf.UpstreamPacketListener = w.network
		conf.Tracer = traced(t, conf.Tracer)
		l, err := conf.Listen(serverAddress)
		require.NoError(t, err)
		w.listener = l
		t.Cleanup(func() {
			require.NoError(t, l.Close())
			w.pass(time.Minute) // whoever lingers gives up
			require.NoError(t, w.network.Close())
			w.pass(time.Minute)
			require.Zero(t, pool.InUse(), "datagram buffers leaked")
		})
		tell(w)
	})
}

// good is a link as between two machines of one city.
var good = netsim.Link{Delay: 10 * time.Millisecond}

// bad is a link as nobody wants it.
var bad = netsim.Link{Delay: 30 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.15, Duplicate: 0.05, Reorder: 0.05, ReorderBy: 40 * time.Millisecond}

// pass lets virtual time pass.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// dial connects a client and returns both ends.
func (w *world) dial(d raknet.Dialer) (client, server *raknet.Conn) {
	w.Helper()
	d.UpstreamDialer = w.network
	d.Tracer = traced(w.T, d.Tracer)
	client, err := d.Dial(serverAddress)
	require.NoError(w, err)
	server, err = w.listener.AcceptContext(w.Context())
	require.NoError(w, err)
	w.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// cut drops everything that is sent from now on; the function returned mends the cable.
func (w *world) cut() (mend func()) {
	w.network.SetFilter(func(_, _ netip.AddrPort, _ []byte) bool { return true })
	return func() { w.network.SetFilter(nil) }
}

// async runs f beside the test and returns what waits for its end and says how long
// it took.
func async(f func()) (wait func() time.Duration) {
	done := make(chan time.Duration, 1)
	start := time.Now()
	go func() {
		f()
		done <- time.Since(start)
	}()
	return func() time.Duration { return <-done }
}

// requireOp checks the outside of an error: that it is a *net.OpError of this
// package, says what was done, and names both ends where there are two.
func requireOp(t require.TestingT, err error, op string) *net.OpError {
	require.Error(t, err)
	o, ok := err.(*net.OpError)
	require.True(t, ok, "%T: %v", err, err)
	require.Equal(t, op, o.Op)
	require.Equal(t, "raknet", o.Net)
	require.NotNil(t, o.Addr)
	if op == "read" || op == "write" {
		require.NotNil(t, o.Source)
	}
	return o
}

// requireClosedBy checks what every method of a connection says once it has ended.
func requireClosedBy(t require.TestingT, c *raknet.Conn, remote bool) {
	_, err := c.ReadPacket()
	requireOp(t, err, "read")
	require.ErrorIs(t, err, net.ErrClosed)
	require.Equal(t, remote, errors.Is(err, io.EOF))
	var how *raknet.DisconnectError
	require.ErrorAs(t, err, &how)
	require.Equal(t, remote, how.Remote)

	_, err = c.Receive(context.Background())
	requireOp(t, err, "read")
	require.ErrorIs(t, err, net.ErrClosed)

	_, err = c.Read(make([]byte, 10))
	if remote {
		require.True(t, err == io.EOF, "%v", err)
	} else {
		requireOp(t, err, "read")
		require.ErrorIs(t, err, net.ErrClosed)
	}

	_, err = c.Write([]byte{0xfe})
	requireOp(t, err, "write")
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = c.Send(context.Background(), []byte{0xfe}, raknet.SendOptions{})
	requireOp(t, err, "write")
	require.ErrorIs(t, err, net.ErrClosed)

	<-c.Context().Done()
	require.ErrorAs(t, context.Cause(c.Context()), &how)
	require.Equal(t, remote, how.Remote)
	require.NoError(t, c.Close(), "closing again is fine")
}

// settled makes a test over real sockets wait, at its end, until every goroutine and
// buffer is gone that it did not begin with: what a leak would keep for ever.
func settled(t *testing.T) {
	// What an earlier test has closed may linger, and must not count.
	require.Eventually(t, func() bool { return !strings.Contains(stacks(), "raknet/internal/endpoint.") }, 20*time.Second, 10*time.Millisecond, "an earlier test left something open")
	goroutines, buffers := runtime.NumGoroutine(), pool.InUse()
	t.Cleanup(func() {
		ok := assert.Eventually(t, func() bool {
			return runtime.NumGoroutine() <= goroutines+1 && pool.InUse() == buffers // Eventually has one of its own
		}, 20*time.Second, 10*time.Millisecond, "goroutines or buffers leaked")
		if !ok {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		}
	})
}

// stacks are those of all goroutines.
func stacks() string {
	for b := make([]byte, 1<<20); ; b = make([]byte, 2*len(b)) {
		if n := runtime.Stack(b, true); n < len(b) {
			return string(b[:n])
		}
	}
}
