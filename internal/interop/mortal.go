package interop

import (
	"context"
	"net"
	"sync/atomic"
)

// Mortal opens sockets that can be made to look as if the machine behind them had lost power: what is written then goes nowhere,
// and what arrives isn't read. It fits the upstream hooks of dialers and listen configurations.
type Mortal struct{ dead atomic.Bool }

// Kill makes every socket of this Mortal mute and deaf.
func (m *Mortal) Kill() { m.dead.Store(true) }

// DialContext is net.Dialer's.
func (m *Mortal) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return mortalConn{c, m}, nil
}

// ListenPacket is net.ListenPacket.
func (m *Mortal) ListenPacket(network, address string) (net.PacketConn, error) {
	c, err := net.ListenPacket(network, address)
	if err != nil {
		return nil, err
	}
	return mortalPacketConn{c, m}, nil
}

type mortalConn struct {
	net.Conn
	m *Mortal
}

func (c mortalConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.m.dead.Load() {
			return n, err
		}
	}
}

func (c mortalConn) Write(b []byte) (int, error) {
	if c.m.dead.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

type mortalPacketConn struct {
	net.PacketConn
	m *Mortal
}

func (c mortalPacketConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, a, err := c.PacketConn.ReadFrom(b)
		if err != nil || !c.m.dead.Load() {
			return n, a, err
		}
	}
}

func (c mortalPacketConn) WriteTo(b []byte, a net.Addr) (int, error) {
	if c.m.dead.Load() {
		return len(b), nil
	}
	return c.PacketConn.WriteTo(b, a)
}
