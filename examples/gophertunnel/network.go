// Package gophertunnel lets github.com/sandertv/gophertunnel play over this library. Import it beside the minecraft package, for its
// effect alone: minecraft.Dial("raknet", …) and minecraft.Listen("raknet", …) then use this library.
package gophertunnel

import (
	"context"
	"log/slog"
	"net"

	"github.com/raknet-go/raknet"
	"github.com/sandertv/gophertunnel/minecraft"
)

// Network is all that gophertunnel needs.
type Network struct{}

func init() {
	minecraft.RegisterNetwork("raknet", func(*slog.Logger) minecraft.Network { return Network{} })
}

// DialContext connects to a server.
func (Network) DialContext(ctx context.Context, address string) (net.Conn, error) {
	return raknet.DialContext(ctx, address)
}

// PingContext asks a server for what it shows in a list of servers.
func (Network) PingContext(ctx context.Context, address string) ([]byte, error) {
	return raknet.PingContext(ctx, address)
}

// Listen listens for players.
func (Network) Listen(address string) (minecraft.NetworkListener, error) {
	return raknet.Listen(address)
}
