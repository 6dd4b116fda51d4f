package netsim

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// network is what errors and Names call this kind of network.
const network = "netsim"

// Name is an address that is neither IP nor port.
type Name string

// Network returns "netsim".
func (Name) Network() string { return network }

// String returns the name.
func (a Name) String() string { return string(a) }

// PacketConn is a net.PacketConn on a Network. Writing never blocks; what the network or
// the receiver has no room for is lost, as with UDP.
type PacketConn struct {
	net  *Network
	addr netip.AddrPort
	name Name // what others see instead of addr, unless empty

	done                        chan struct{} // closed by Close
	ready                       chan struct{} // holds a token while queue is not empty, or a reader is about to take from it
	readDeadline, writeDeadline deadline

	mu      sync.Mutex
	closed  bool
	queue   []packet // from head on
	head    int
	waiting int // what the queue is charged for
	bound   int
	taken   uint64 // datagrams read
}

const (
	// DefaultReadBuffer is the size of a receive buffer in bytes, that of Linux. What
	// arrives when it is full is dropped.
	DefaultReadBuffer = 212992

	// bookkeeping is what a waiting datagram is charged beyond its own bytes. With it the
	// default buffer holds 92 full datagrams or about 230 small ones, as on Linux.
	bookkeeping = 832
)

func newPacketConn(n *Network, addr netip.AddrPort, name Name) *PacketConn {
	c := &PacketConn{
		net: n, addr: addr, name: name,
		done: make(chan struct{}), ready: make(chan struct{}, 1),
		bound: DefaultReadBuffer,
	}
	c.readDeadline.init()
	c.writeDeadline.init()
	return c
}

// AddrPort returns the address under which the Network knows c, for SetLink and filters,
// also of one that has a Name.
func (c *PacketConn) AddrPort() netip.AddrPort { return c.addr }

// LocalAddr returns a *net.UDPAddr, or the Name.
func (c *PacketConn) LocalAddr() net.Addr { return netAddr(c.addr, c.name) }

func netAddr(addr netip.AddrPort, name Name) net.Addr {
	if name != "" {
		return name
	}
	return net.UDPAddrFromAddrPort(addr)
}

// SetReadBuffer sets the size of the receive buffer, see DefaultReadBuffer. The error is
// always nil.
func (c *PacketConn) SetReadBuffer(bytes int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bound = bytes
	return nil
}

// WriteTo sends p, which it copies, to an address of the network: a *net.UDPAddr or a
// Name. That nobody is there is no error.
func (c *PacketConn) WriteTo(p []byte, addr net.Addr) (int, error) {
	to, err := c.net.find(addr)
	if err == nil {
		err = c.write(p, to)
	}
	if err != nil {
		return 0, c.fail("write", addr, err)
	}
	return len(p), nil
}

func (c *PacketConn) write(p []byte, to netip.AddrPort) error {
	switch {
	case isClosed(c.done):
		return net.ErrClosed
	case isClosed(c.writeDeadline.wait()):
		return os.ErrDeadlineExceeded
	}
	c.net.send(route{c.addr, to}, c.name, p)
	return nil
}

// ReadFrom waits for a datagram and copies it to p; what does not fit is lost.
func (c *PacketConn) ReadFrom(p []byte) (int, net.Addr, error) {
	got, err := c.read()
	if err != nil {
		return 0, nil, c.fail("read", nil, err)
	}
	return copy(p, got.data), netAddr(got.from, got.name), nil
}

func (c *PacketConn) read() (packet, error) {
	for {
		passed := c.readDeadline.wait()
		switch {
		case isClosed(c.done):
			return packet{}, net.ErrClosed
		case isClosed(passed):
			return packet{}, os.ErrDeadlineExceeded
		}
		if p, ok := c.take(); ok {
			return p, nil
		}
		select {
		case <-c.ready:
		case <-c.done:
		case <-passed:
		}
	}
}

// put queues p for the reader and reports whether there was room.
func (c *PacketConn) put(p packet) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	charge := len(p.data) + bookkeeping
	if c.closed || c.waiting+charge > c.bound {
		return false
	}
	c.waiting += charge
	c.queue = append(c.queue, p)
	c.wake()
	return true
}

// take returns the first waiting datagram.
func (c *PacketConn) take() (packet, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.head == len(c.queue) {
		return packet{}, false
	}
	p := c.queue[c.head]
	c.queue[c.head] = packet{}
	c.head++
	c.taken++
	c.waiting -= len(p.data) + bookkeeping
	if c.head*2 >= len(c.queue) { // costs one move per datagram at most, and keeps the slice short
		rest := copy(c.queue, c.queue[c.head:])
		clear(c.queue[rest:])
		c.queue, c.head = c.queue[:rest], 0
	}
	if len(c.queue) > 0 {
		c.wake() // another reader may be waiting
	}
	return p, true
}

func (c *PacketConn) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// account adds to sum what was read and what waits to be.
func (c *PacketConn) account(sum *Count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum.Received += c.taken
	sum.Unread += uint64(len(c.queue) - c.head)
}

// SetDeadline sets both deadlines.
func (c *PacketConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline makes reads fail with os.ErrDeadlineExceeded from t on, also those that
// wait. A passed deadline goes before waiting datagrams.
func (c *PacketConn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.readDeadline, t) }

// SetWriteDeadline makes writes fail with os.ErrDeadlineExceeded from t on.
func (c *PacketConn) SetWriteDeadline(t time.Time) error { return c.setDeadline(&c.writeDeadline, t) }

func (c *PacketConn) setDeadline(d *deadline, t time.Time) error {
	if isClosed(c.done) {
		return c.fail("set", nil, net.ErrClosed)
	}
	d.set(t)
	return nil
}

// Close takes the conn out of the network. Reads and writes fail with net.ErrClosed from
// then on, also those that wait; what was not read is lost.
func (c *PacketConn) Close() error {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	c.mu.Unlock()
	if again {
		return c.fail("close", nil, net.ErrClosed)
	}
	close(c.done)
	c.net.forget(c)
	c.readDeadline.set(time.Time{}) // stops the timers
	c.writeDeadline.set(time.Time{})
	return nil
}

func (c *PacketConn) fail(op string, to net.Addr, err error) error {
	return &net.OpError{Op: op, Net: network, Source: c.LocalAddr(), Addr: to, Err: err}
}
