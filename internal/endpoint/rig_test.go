package endpoint

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/protocol"
)

// rig is a network in virtual time with one accepting endpoint.
type rig struct {
	t      *testing.T
	net    *netsim.Network
	server *Endpoint
	at     udp.Peer // the server's address
	ends   []*Endpoint
}

const oneWay = 10 * time.Millisecond

// bubble runs a story in virtual time and checks at its end that every goroutine has
// ended and every buffer was given back.
func bubble(t *testing.T, story func(r *rig), change ...func(*Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		before := pool.InUse()
		r := &rig{t: t, net: netsim.New(1)}
		r.net.SetDefault(netsim.Link{Delay: oneWay})
		cfg := Config{GUID: 99, Accepting: true}
		for _, f := range change {
			f(&cfg)
		}
		r.server = r.listen("10.0.0.1:19132", cfg)
		r.at = udp.Peer{AddrPort: netip.MustParseAddrPort("10.0.0.1:19132")}
		defer func() {
			for _, e := range r.ends {
				e.Close()
			}
			time.Sleep(time.Second) // the network's last datagrams
			r.net.Close()
			synctest.Wait()
			if !t.Failed() {
				require.Equal(t, before, pool.InUse(), "buffers still out")
			}
		}()
		story(r)
	})
}

func (r *rig) socket(address string) udp.Socket {
	r.t.Helper()
	pc, err := r.net.Listen(netip.MustParseAddrPort(address))
	require.NoError(r.t, err)
	pc.SetReadBuffer(8 << 20) // as udp.Listen gets; what overflows is the network's story
	return udp.Wrap(pc, udp.Options{})
}

func (r *rig) listen(address string, cfg Config) *Endpoint {
	r.t.Helper()
	e, err := New(r.socket(address), cfg)
	require.NoError(r.t, err)
	r.ends = append(r.ends, e)
	return e
}

// client opens an endpoint for one connection at an address.
func (r *rig) client(address string, change ...func(*Config)) *Endpoint {
	r.t.Helper()
	cfg := Config{GUID: 7, Solo: true}
	for _, f := range change {
		f(&cfg)
	}
	return r.listen(address, cfg)
}

func (r *rig) dialFrom(e *Endpoint) *Conn {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := e.Dial(ctx, r.at, DialConfig{})
	require.NoError(r.t, err)
	return c
}

// dial connects from an address and accepts at the server.
func (r *rig) dial(address string, change ...func(*Config)) (client, server *Conn) {
	r.t.Helper()
	client = r.dialFrom(r.client(address, change...))
	return client, r.accept()
}

func (r *rig) pair(change ...func(*Config)) (client, server *Conn) {
	r.t.Helper()
	return r.dial("10.0.0.2:5000", change...)
}

func (r *rig) accept() *Conn {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := r.server.Accept(ctx)
	require.NoError(r.t, err)
	return c
}

func (r *rig) write(c *Conn, text string) {
	r.t.Helper()
	n, err := c.Write([]byte(text))
	require.NoError(r.t, err)
	require.Equal(r.t, len(text), n)
}

func (r *rig) read(c *Conn) string {
	r.t.Helper()
	b, err := c.ReadPacket()
	require.NoError(r.t, err)
	return string(b)
}

// result is that of a call that may block.
type result struct {
	done chan struct{}
	err  error
}

// start runs a call that may block on a goroutine of its own.
func start(f func() error) *result {
	a := &result{done: make(chan struct{})}
	go func() {
		a.err = f()
		close(a.done)
	}()
	return a
}

// blocked reports whether the call is still waiting when nothing else can happen
// without time passing.
func (a *result) blocked() bool {
	synctest.Wait()
	return !isClosed(a.done)
}

func (a *result) wait() error {
	<-a.done
	return a.err
}

func udpAddr(s string) net.Addr { return net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s)) }

func message(n int, id byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + n)
	}
	b[0] = id
	return b
}

var ordered = SendOptions{Reliability: protocol.ReliableOrdered}
