// Package gophertunnel is github.com/sandertv/gophertunnel, a whole Bedrock server and client in Go, as a peer of the interop tests:
// over whatever transport it is given. A connection counts once the
// player has spawned, and the messages of a test travel as script messages.
package gophertunnel

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/sandertv/gophertunnel/minecraft"
	"github.com/sandertv/gophertunnel/minecraft/protocol/packet"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/interop"
)

// Peer is gophertunnel.
type Peer struct {
	// Label is its name among the peers.
	Label string
	// Network is what it plays over. A mortal network, one whose sockets can be silenced, is asked for with the means to do so, any other
	// with nil. No function: the network that is called "raknet", as applications have it.
	Network func(m *interop.Mortal) minecraft.Network
}

// Name is the label.
func (p Peer) Name() string { return p.Label }

// joinBound is how long a player tries to join.
const joinBound = 10 * time.Second

// Tries is how often a player should try to join. A server of gophertunnel sends the start of the game and only then says what it expects as
// an answer: an answer that is fast enough is put aside for ever, though it was read, and neither side goes on.
const Tries = 5

// Overtakes is how far messages may be from their places. A reader of gophertunnel looks at the packets that were put aside, finds none, and
// then waits for the next; meanwhile what receives takes the one that waits out of its queue, puts it aside and queues a newer one, which
// the reader gets first (minecraft.Conn.receive and ReadPacket). Its queue has room for eight.
const Overtakes = 8

// world is the name by which a player knows that the game has started.
const world = "interop"

// Listen accepts one player.
func (p Peer) Listen(t testing.TB, o interop.Options) (interop.Link, int) {
	t.Helper()
	mortal, kill := mortals(o)
	conf := minecraft.ListenConfig{AuthenticationDisabled: true, StatusProvider: minecraft.NewStatusProvider("interop", "")}
	var listener *minecraft.Listener
	var err error
	if p.Network == nil {
		listener, err = conf.Listen("raknet", o.Place())
	} else {
		listener, err = conf.ListenNetwork(p.Network(mortal), o.Place())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	link := interop.NewLocalLink(t, kill)
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		player := c.(*minecraft.Conn)
		if err := player.StartGame(minecraft.GameData{WorldName: world}); err != nil {
			link.Report(interop.Event{Kind: interop.Failed, Text: err.Error()})
			return
		}
		link.Attach(conn{player})
	}()
	return link, listener.Addr().(*net.UDPAddr).Port
}

// Dial joins the game.
func (p Peer) Dial(t testing.TB, port int, o interop.Options) interop.Link {
	mortal, kill := mortals(o)
	link := interop.NewLocalLink(t, kill)
	ctx, cancel := context.WithTimeout(context.Background(), joinBound)
	t.Cleanup(cancel)
	go func() {
		var c *minecraft.Conn
		var err error
		if p.Network == nil {
			c, err = minecraft.Dialer{}.DialContext(ctx, "raknet", address(port))
		} else {
			c, err = minecraft.Dialer{}.DialContextNetwork(ctx, p.Network(mortal), address(port))
		}
		if err == nil {
			t.Cleanup(func() { c.Close() })
			err = c.DoSpawnContext(ctx)
		}
		if err == nil && c.GameData().WorldName != world {
			err = fmt.Errorf("the world is called %q", c.GameData().WorldName)
		}
		if err != nil {
			link.Report(interop.Event{Kind: interop.Failed, Text: err.Error()})
			return
		}
		link.Attach(conn{c})
	}()
	return link
}

// Ping asks for the server's data. gophertunnel has no ping of its own: its users call the transport's.
func (p Peer) Ping(t testing.TB, port int) interop.Link {
	link := interop.NewLocalLink(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	t.Cleanup(cancel)
	go func() {
		ping := raknet.PingContext
		if p.Network != nil {
			ping = p.Network(nil).PingContext
		}
		data, err := ping(ctx, address(port))
		if err != nil {
			link.Report(interop.Event{Kind: interop.Failed, Text: err.Error()})
			return
		}
		link.Report(interop.Event{Kind: interop.Pong, Text: string(data)})
	}()
	return link
}

func mortals(o interop.Options) (*interop.Mortal, func()) {
	if !o.Mortal {
		return nil, func() {}
	}
	m := &interop.Mortal{}
	return m, m.Kill
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

type conn struct{ *minecraft.Conn }

// Receive skips what belongs to the game.
func (c conn) Receive() ([]byte, error) {
	for {
		p, err := c.ReadPacket()
		if err != nil {
			return nil, err
		}
		if m, ok := p.(*packet.ScriptMessage); ok {
			return m.Data, nil
		}
	}
}

// Send sends by the one mode that the game uses.
func (c conn) Send(b []byte, _, _ byte) error {
	return c.WritePacket(&packet.ScriptMessage{Identifier: "interop:bytes", Data: b})
}
