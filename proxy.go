package raknet

import (
	"net"
	"net/netip"

	"github.com/raknet-go/raknet/internal/udp"
)

// clientAddr returns the address of a client as the user knows it: the one that a proxy told, or
// that of the peer.
func clientAddr(p udp.Peer, client netip.AddrPort) net.Addr {
	if client == p.AddrPort {
		return peerAddr(p)
	}
	return net.UDPAddrFromAddrPort(client)
}

// proxyAddr returns the address of the proxy that told of a client, or nil.
func proxyAddr(p udp.Peer, client netip.AddrPort) net.Addr {
	if client == p.AddrPort {
		return nil
	}
	return peerAddr(p)
}

// ProxyAddr returns the address of the proxy of [ListenConfig].TrustedProxies that the peer
// is behind, to which everything is sent that is for the peer. Nil: there is none, and
// datagrams come from where [Conn.RemoteAddr] says.
func (c *Conn) ProxyAddr() net.Addr { return proxyAddr(c.ec.Peer(), c.ec.Client()) }
