package udp

import (
	"net"
	"os"
	"sync"
	"time"
)

// name is an address of a carrier that knows neither IP addresses nor ports.
type name string

func (name) Network() string  { return "names" }
func (n name) String() string { return string(n) }

// carrier is a net.PacketConn that reaches other carriers of the same directory by name.
type carrier struct {
	net.PacketConn // nil: what is not overridden is not called
	self           name
	all            *sync.Map // name -> *carrier
	inbox          chan letter
	done           chan struct{}
}

type letter struct {
	from name
	data string
}

func newCarrier(all *sync.Map, self name) *carrier {
	c := &carrier{self: self, all: all, inbox: make(chan letter, 16), done: make(chan struct{})}
	all.Store(self, c)
	return c
}

func (c *carrier) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case l := <-c.inbox:
		return copy(p, l.data), l.from, nil
	case <-c.done:
		return 0, nil, net.ErrClosed
	case <-time.After(5 * time.Second):
		return 0, nil, os.ErrDeadlineExceeded
	}
}

func (c *carrier) WriteTo(p []byte, to net.Addr) (int, error) {
	if far, ok := c.all.Load(to.(name)); ok {
		far.(*carrier).inbox <- letter{c.self, string(p)}
	}
	return len(p), nil
}

func (c *carrier) LocalAddr() net.Addr             { return c.self }
func (c *carrier) SetReadDeadline(time.Time) error { return nil }
func (c *carrier) Close() error                    { close(c.done); return nil }

// line is a net.Conn on top of a carrier.
type line struct {
	net.Conn // nil
	*carrier
	far name
}

func (l line) Read(p []byte) (int, error) {
	n, _, err := l.ReadFrom(p)
	return n, err
}

func (l line) Write(p []byte) (int, error)       { return l.WriteTo(p, l.far) }
func (l line) LocalAddr() net.Addr               { return l.self }
func (l line) RemoteAddr() net.Addr              { return l.far }
func (l line) SetReadDeadline(t time.Time) error { return nil }
func (l line) Close() error                      { return l.carrier.Close() }
