package raknet_test

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/wire"
)

// A server knows few of one host who are in the middle of their handshake, and forgets the others without a
// word. A proxy whose players come back all at once is such a host.
func TestAllOfACrowdFromOneHostGetIn(t *testing.T) {
	const crowd = 200
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		go func() {
			for {
				c, err := w.listener.Accept()
				if err != nil {
					return
				}
				go func() {
					if b, err := c.(*raknet.Conn).ReadPacket(); err == nil {
						_, _ = c.Write(b)
					}
				}()
			}
		}()
		var wg sync.WaitGroup
		conns := make([]*raknet.Conn, crowd)
		for i := range conns {
			wg.Go(func() {
				c, err := raknet.Dialer{UpstreamDialer: oneHost{w.network}}.Dial(serverAddress)
				require.NoError(w, err)
				conns[i] = c
			})
		}
		start := time.Now()
		wg.Wait()
		require.Less(w, time.Since(start), 5*time.Second)
		w.pass(time.Second)
		s := w.listener.Stats()
		require.NotZero(w, s.DroppedOffline["no session"], "there was no room for all at once")
		require.Equal(w, crowd, s.Connections)
		t.Log("# whoever thinks so is connected")
		for _, c := range conns {
			_, err := c.Write(message(10))
			require.NoError(w, err)
			require.NoError(w, c.SetReadDeadline(time.Now().Add(time.Second)))
			_, err = c.ReadPacket()
			require.NoError(w, err)
			require.NoError(w, c.Close())
		}
	})
}

// oneHost dials from ports of one address.
type oneHost struct{ network *netsim.Network }

func (h oneHost) DialContext(_ context.Context, network, address string) (net.Conn, error) {
	to, err := net.ResolveUDPAddr(network, address)
	if err != nil {
		return nil, err
	}
	pc, err := h.network.ListenPacket(network, "10.1.1.1:0")
	return connected{pc, to}, err
}

// connected is a net.PacketConn with one peer.
type connected struct {
	net.PacketConn
	to net.Addr
}

func (c connected) RemoteAddr() net.Addr              { return c.to }
func (c connected) Write(b []byte) (n int, err error) { return c.WriteTo(b, c.to) }
func (c connected) Read(b []byte) (n int, err error) {
	n, _, err = c.ReadFrom(b)
	return n, err
}

// deaf is a link that loses of connections what a test wants. The ports that tried are counted.
type deaf struct {
	mu    sync.Mutex
	heard map[netip.AddrPort]int // acknowledgements that came to a client
	order []netip.AddrPort
}

// watch lets dead say what is lost: of the how manieth client, to which so many acknowledgements came, a datagram
// of some kind, from the server or to it.
func (d *deaf) watch(w *world, dead func(nth, heard int, kind wire.DatagramKind, answer bool) bool) {
	d.heard = make(map[netip.AddrPort]int)
	server := netip.MustParseAddrPort(serverAddress)
	w.network.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
		kind := wire.Classify(data)
		if kind != wire.KindFrameSet && kind != wire.KindACK && kind != wire.KindNACK {
			return false
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		client := to
		if to == server {
			client = from
		}
		if _, ok := d.heard[client]; !ok {
			d.heard[client] = 0
			d.order = append(d.order, client)
		}
		nth := 0
		for d.order[nth] != client {
			nth++
		}
		if dead(nth, d.heard[client], kind, client == to) {
			return true
		}
		if client == to && kind == wire.KindACK {
			d.heard[client]++
		}
		return false
	})
}

func TestADialThatIsForgottenGoesOnFromAnotherPort(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		var d deaf
		t.Log("# at once")
		d.watch(w, func(nth, _ int, _ wire.DatagramKind, _ bool) bool { return nth == 0 })
		start := time.Now()
		client, server := w.dial(raknet.Dialer{})
		require.Less(w, time.Since(start), 1500*time.Millisecond)
		require.Len(w, d.order, 2)
		_, err := client.Write(message(10))
		require.NoError(w, err)
		_, err = server.ReadPacket()
		require.NoError(w, err)
		require.NoError(w, client.Close())
		require.NoError(w, server.Close())

		w.pass(time.Minute)
		t.Log("# after an acknowledgement, which may be all that the server has to say for a while")
		d = deaf{}
		d.watch(w, func(nth, heard int, kind wire.DatagramKind, answer bool) bool {
			return nth == 0 && (heard > 0 || answer && kind == wire.KindFrameSet)
		})
		start = time.Now()
		w.dial(raknet.Dialer{})
		require.Less(w, time.Since(start), 3500*time.Millisecond)
		require.Greater(w, time.Since(start), 2*time.Second)
		require.Len(w, d.order, 2)
	})
}

func TestADialThatIsForgottenAgainAndAgainEnds(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		var d deaf
		d.watch(w, func(int, int, wire.DatagramKind, bool) bool { return true })
		start := time.Now()
		_, err := raknet.Dialer{UpstreamDialer: w.network}.DialTimeout(serverAddress, time.Minute)
		requireOp(w, err, "dial")
		require.ErrorIs(w, err, raknet.ErrHandshakeTimeout)
		require.Greater(w, time.Since(start), 10*time.Second)
		require.Less(w, time.Since(start), 15*time.Second, "beside the way to each grant")
		require.Greater(w, len(d.order), 3)
		require.Less(w, len(d.order), 8, "a slow server is not made slower")

		t.Log("# or with its context")
		ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
		defer cancel()
		start = time.Now()
		_, err = raknet.Dialer{UpstreamDialer: w.network}.DialContext(ctx, serverAddress)
		requireOp(w, err, "dial")
		require.ErrorIs(w, err, context.DeadlineExceeded)
		require.Equal(w, 3*time.Second, time.Since(start))
	})
}

// The original refuses a GUID that it knows from another port.
func TestADialOfAKnownGUIDStaysWhereItIs(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		var d deaf
		d.watch(w, func(int, int, wire.DatagramKind, bool) bool { return true })
		start := time.Now()
		_, err := raknet.Dialer{UpstreamDialer: w.network, GUID: 7}.DialTimeout(serverAddress, time.Minute)
		require.ErrorIs(w, err, raknet.ErrHandshakeTimeout)
		require.InDelta(w, 10*time.Second, time.Since(start), float64(time.Second))
		require.Len(w, d.order, 1)
	})
}

// What is far away is not forgetful.
func TestADialToAFarServerWaits(t *testing.T) {
	for _, delay := range []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 700 * time.Millisecond} {
		story(t, netsim.Link{Delay: delay}, raknet.ListenConfig{}, func(w *world) {
			var d deaf
			d.watch(w, func(int, int, wire.DatagramKind, bool) bool { return false })
			for n := range 20 {
				_, err := raknet.Dialer{UpstreamDialer: w.network}.Dial(serverAddress)
				require.NoError(w, err)
				_, err = w.listener.Accept()
				require.NoError(w, err)
				require.Len(w, d.order, n+1, "each from one port, %v away", delay)
			}
		})
	}
}
