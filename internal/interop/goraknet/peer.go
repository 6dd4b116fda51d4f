// Package goraknet is github.com/sandertv/go-raknet as a peer of the interop tests. It is a module of its own so that the library
// doesn't depend on another implementation, not even in its tests.
package goraknet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/sandertv/go-raknet"

	"github.com/raknet-go/raknet/internal/interop"
)

// Peer is go-raknet with its default settings.
type Peer struct{}

// Name is the module's name.
func (Peer) Name() string { return "go-raknet" }

// Listen accepts one connection.
func (Peer) Listen(t testing.TB, o interop.Options) (interop.Link, int) {
	t.Helper()
	var conf raknet.ListenConfig
	var mortal interop.Mortal
	if o.Mortal {
		conf.UpstreamPacketListener = &mortal
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
	var dialer raknet.Dialer
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

// Ping sends an unconnected ping.
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

// Send knows one mode and one channel.
func (c conn) Send(b []byte, reliability, channel byte) error {
	const reliableOrdered = 3
	if reliability != reliableOrdered || channel != 0 {
		return errors.New("go-raknet sends ReliableOrdered on channel 0 only")
	}
	_, err := c.Write(b)
	return err
}
