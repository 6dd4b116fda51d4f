package endpoint

import (
	"net/netip"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/proxyproto"
	"github.com/raknet-go/raknet/internal/udp"
)

// A proxy says in front of each datagram whose it is. Then there are two addresses: the peer is
// the proxy's socket, to which answers go and by which connections are found, so that a proxy
// needs a port for each of its clients, as it does anyhow to tell the answers apart. The
// client is who limits, cookies, logs and the user mean.

// unwrap takes the PROXY header off a datagram, if it comes from a trusted proxy and has
// one, and leaves in reader.client whose it is. False means that the datagram is dropped.
func (e *Endpoint) unwrap(now monotime.Time, from *udp.Peer, data []byte) (rest []byte, ok bool) {
	r := &e.reader
	r.client = from.AddrPort
	if !e.proxies.Has(from.AddrPort.Addr()) {
		return data, true
	}
	client, rest, err := proxyproto.Cut(data)
	if err != nil {
		e.drop(now, offline.DropProxy, r.client, data)
		return nil, false
	}
	if !client.IsValid() {
		return rest, true
	}
	r.client = client
	if e.blocks.any() && e.blocks.blocked(now, client.Addr()) {
		e.drop(now, offline.DropBlocked, client, rest)
		return nil, false
	}
	if c := e.connectionFor(from.AddrPort, rest); c != nil && c.Client() != client {
		// The proxy has given the port to somebody else, who does not know of this connection.
		e.drop(now, offline.DropProxy, client, rest)
		return nil, false
	}
	return rest, true
}

// Client returns the address of the peer itself, which a proxy may have said.
func (c *Conn) Client() netip.AddrPort {
	if c.way.behind != nil {
		return *c.way.behind
	}
	return c.peer.AddrPort
}

// Proxied reports whether the peer is behind a proxy that said so.
func (c *Conn) Proxied() bool { return c.way.behind != nil }
