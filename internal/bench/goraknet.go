package main

import (
	"context"
	"encoding/binary"

	raknet "github.com/sandertv/go-raknet"

	"github.com/raknet-go/raknet/internal/benchnet/rivals"
)

// goRaknetLibrary is go-raknet as it comes. It sends without regard for what the other end
// can take, and loses the connection when that is too much; so for bulk the receiver tells
// how far it is, and the sender waits.
type goRaknetLibrary struct{}

const (
	// goRaknetWindow is how many datagrams are sent and not told of: what a receive
	// buffer of the usual size has room for.
	goRaknetWindow = 64
	goRaknetTell   = goRaknetWindow / 8
	creditSize     = 5
	fullDatagram   = 1400
)

// cost is how many datagrams a message needs.
func cost(size int) uint32 { return uint32(size/fullDatagram + 1) }

func (goRaknetLibrary) Name() string { return goRaknet }

func (goRaknetLibrary) Listen(job rivals.Job) (rivals.Server, error) {
	l, err := raknet.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return goRaknetServer{l, job == rivals.Bulk}, nil
}

func (goRaknetLibrary) Dial(ctx context.Context, address string, job rivals.Job) (rivals.Conn, error) {
	c, err := raknet.DialContext(ctx, address)
	if err != nil {
		return nil, err
	}
	return &goRaknetConn{Conn: c, credit: job == rivals.Bulk}, nil
}

type goRaknetServer struct {
	*raknet.Listener
	credit bool
}

func (s goRaknetServer) Address() string { return s.Addr().String() }

func (s goRaknetServer) Accept(context.Context) (rivals.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &goRaknetConn{Conn: c.(*raknet.Conn), credit: s.credit}, nil
}

type goRaknetConn struct {
	*raknet.Conn
	buf        []byte
	credit     bool
	sent, told uint32 // datagrams, modulo 2^32
	got, last  uint32
}

func (c *goRaknetConn) Send(m []byte) error {
	for c.credit && c.sent != c.told && c.sent-c.told+cost(len(m)) > goRaknetWindow {
		var b [creditSize]byte
		if _, err := c.Read(b[:]); err != nil {
			return err
		}
		c.told = binary.BigEndian.Uint32(b[1:])
	}
	c.sent += cost(len(m))
	_, err := c.Write(m)
	return err
}

func (c *goRaknetConn) Receive() ([]byte, error) {
	if c.buf == nil {
		c.buf = make([]byte, rivals.MaxMessage)
	}
	n, err := c.Read(c.buf)
	if c.got += cost(n); c.credit && err == nil && c.got-c.last >= goRaknetTell {
		c.last = c.got
		_, err = c.Write(binary.BigEndian.AppendUint32([]byte{messageID}, c.got))
	}
	return c.buf[:n], err
}

func (c *goRaknetConn) Flush() error { return nil }
func (c *goRaknetConn) Note() string { return "" }
