package netsim

import (
	"context"
	"net"
	"net/netip"
)

// Conn is a PacketConn that talks to one address only, as a net.Conn.
type Conn struct {
	*PacketConn
	to     netip.AddrPort
	remote net.Addr
}

// DialContext opens a Conn to address, "ip:port" or the text of a Name, from a host of its
// own. It makes a Network what a dialer can be told to open its sockets with; the network
// argument is not looked at, and ctx only at the start, as nothing here takes time.
func (n *Network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var remote net.Addr = Name(address)
	if addr, ok := parse(address); ok {
		remote = net.UDPAddrFromAddrPort(addr)
	}
	to, err := n.find(remote)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: remote, Err: err}
	}
	local := netip.IPv4Unspecified()
	if to.Addr().Is6() {
		local = netip.IPv6Unspecified()
	}
	c, err := n.Listen(netip.AddrPortFrom(local, 0))
	if err != nil {
		return nil, err
	}
	return &Conn{PacketConn: c, to: to, remote: remote}, nil
}

// RemoteAddr returns the only address the Conn talks to.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// Write sends p as one datagram.
func (c *Conn) Write(p []byte) (int, error) {
	if err := c.write(p, c.to); err != nil {
		return 0, c.fail("write", c.remote, err)
	}
	return len(p), nil
}

// Read waits for a datagram of the remote address and copies it to p; what does not fit is
// lost, and what others send is thrown away.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		got, err := c.read()
		if err != nil {
			return 0, c.fail("read", c.remote, err)
		}
		if got.from == c.to {
			return copy(p, got.data), nil
		}
	}
}
