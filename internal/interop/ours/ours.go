// Package ours is this library as a peer of the interop tests.
package ours

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/interop"
)

// Peer is this library. The zero value is what an application that changes no setting uses.
type Peer struct {
	// NoCookies makes listeners work with clients that don't know cookies.
	NoCookies bool
	// Recorder, if set, notes every datagram that goes through a listener.
	Recorder *interop.Recorder
}

// Name is "ours".
func (Peer) Name() string { return "ours" }

// Listen accepts one connection.
func (p Peer) Listen(t testing.TB, o interop.Options) (interop.Link, int) {
	t.Helper()
	conf := raknet.ListenConfig{DisableCookies: p.NoCookies}
	if o.Version != 0 {
		conf.ProtocolVersions = []byte{o.Version}
	}
	var mortal interop.Mortal
	switch {
	case o.Mortal:
		conf.UpstreamPacketListener = &mortal
	case p.Recorder != nil:
		conf.UpstreamPacketListener = p.Recorder
	}
	listener, err := conf.Listen(o.Place())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	listener.PongData([]byte(o.Pong))
	link := interop.NewLocalLink(t, mortal.Kill)
	go func() {
		if c, err := listener.Accept(); err == nil {
			link.Attach(conn{c.(*raknet.Conn)})
		}
	}()
	return link, listener.Addr().(*net.UDPAddr).Port
}

// Dial connects.
func (Peer) Dial(t testing.TB, port int, o interop.Options) interop.Link {
	dialer := raknet.Dialer{ProtocolVersion: o.Version}
	var mortal interop.Mortal
	if o.Mortal {
		dialer.UpstreamDialer = &mortal
	}
	link := interop.NewLocalLink(t, mortal.Kill)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	go func() {
		c, err := dialer.DialContext(ctx, address(port))
		if err != nil {
			link.Report(interop.Event{Kind: interop.Failed, Text: err.Error()})
			return
		}
		t.Cleanup(func() { c.Close() })
		link.Attach(conn{c})
	}()
	return link
}

// Ping sends unconnected pings.
func (Peer) Ping(t testing.TB, port int) interop.Link {
	link := interop.NewLocalLink(t, nil)
	go func() {
		data, err := raknet.PingTimeout(address(port), 5*time.Second)
		if err != nil {
			link.Report(interop.Event{Kind: interop.Failed, Text: err.Error()})
			return
		}
		link.Report(interop.Event{Kind: interop.Pong, Text: string(data)})
	}()
	return link
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

type conn struct{ *raknet.Conn }

func (c conn) Receive() ([]byte, error) { return c.ReadPacket() }

func (c conn) Send(b []byte, reliability, channel byte) error {
	_, err := c.Conn.Send(context.Background(), b, raknet.SendOptions{Reliability: raknet.Reliability(reliability), Channel: channel})
	return err
}
