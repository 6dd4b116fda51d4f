package gophertunnel_test

import (
	"cmp"
	"context"
	"net"
	"testing"
	"time"

	"github.com/sandertv/go-raknet"
	"github.com/sandertv/gophertunnel/minecraft"

	own "github.com/raknet-go/raknet"
	adapter "github.com/raknet-go/raknet/examples/gophertunnel"
	"github.com/raknet-go/raknet/internal/interop"
	"github.com/raknet-go/raknet/internal/interop/gophertunnel"
)

// gophertunnel over its own transport, and over this library by the adapter that examples/gophertunnel shows.
var (
	theirs = gophertunnel.Peer{Label: "gophertunnel over go-raknet", Network: func(m *interop.Mortal) minecraft.Network { return goRakNet{m} }}
	ours   = gophertunnel.Peer{Label: "gophertunnel over this library", Network: func(m *interop.Mortal) minecraft.Network {
		if m == nil {
			return adapter.Network{}
		}
		return mortal{m: m}
	}}
)

// row names it in the table, with the version in go.mod.
const row = "gophertunnel 1.59.0"

// go-raknet may take half a minute to notice a silent peer.
const patience = 40 * time.Second

const oneSplit = "go-raknet's listener refuses messages of more than 512 fragments and blocks the sender's address"

// onePing is a fault of gophertunnel with go-raknet below: a client asks for the server's data before it connects.
const onePing = "before it connects it pings the server, once, and waits in vain if the ping or its answer was lost"

func play(t *testing.T, p interop.Pair, fault map[string]string) {
	t.Parallel()
	if !interop.Full() {
		t.Skip("make interop plays this")
	}
	p.Row = row
	p.Cases = interop.Basics()
	p.PongFields = 2 // the server makes the rest by itself
	p.Stretch = 2
	p.Overtakes = gophertunnel.Overtakes
	p.Tries = gophertunnel.Tries
	p.ListenerPatience, p.DialerPatience = patience, patience
	p.Fault = func(path, name string) string { return cmp.Or(fault[name], fault[path+" "+name]) }
	interop.Run(t, p)
}

func TestDialGophertunnel(t *testing.T) {
	play(t, interop.Pair{Listener: theirs, Dialer: ours, Ours: interop.Side{Dialer: true}, Role: interop.AsServer},
		map[string]string{"echo of 1 MB": oneSplit, "echo of 2 MB": oneSplit})
}

func TestGophertunnelDials(t *testing.T) {
	play(t, interop.Pair{Listener: ours, Dialer: theirs, Ours: interop.Side{Listener: true}, Role: interop.AsClient},
		map[string]string{"lossy handshake": onePing})
}

func TestGophertunnelOverThisLibraryAlone(t *testing.T) {
	play(t, interop.Pair{Listener: ours, Dialer: ours, Ours: interop.Side{Listener: true, Dialer: true}, Role: interop.AsBoth}, nil)
}

// goRakNet is gophertunnel's own network, which is no different but for sockets that can be silenced.
type goRakNet struct{ m *interop.Mortal }

func (n goRakNet) DialContext(ctx context.Context, address string) (net.Conn, error) {
	var d raknet.Dialer
	if n.m != nil {
		d.UpstreamDialer = n.m
	}
	return d.DialContext(ctx, address)
}

func (goRakNet) PingContext(ctx context.Context, address string) ([]byte, error) {
	return raknet.PingContext(ctx, address)
}

func (n goRakNet) Listen(address string) (minecraft.NetworkListener, error) {
	var l raknet.ListenConfig
	if n.m != nil {
		l.UpstreamPacketListener = n.m
	}
	return l.Listen(address)
}

// mortal is the adapter with sockets that can be silenced.
type mortal struct {
	adapter.Network
	m *interop.Mortal
}

func (n mortal) DialContext(ctx context.Context, address string) (net.Conn, error) {
	return own.Dialer{UpstreamDialer: n.m}.DialContext(ctx, address)
}

func (n mortal) Listen(address string) (minecraft.NetworkListener, error) {
	return own.ListenConfig{UpstreamPacketListener: n.m}.Listen(address)
}
