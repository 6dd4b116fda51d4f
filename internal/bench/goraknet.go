package main

import (
	"context"

	raknet "github.com/sandertv/go-raknet"

	"github.com/raknet-go/raknet/internal/benchnet/rivals"
)

// goRaknetLibrary is go-raknet as it comes.
type goRaknetLibrary struct{}

func (goRaknetLibrary) Name() string { return goRaknet }

func (goRaknetLibrary) Listen(rivals.Job) (rivals.Server, error) {
	l, err := raknet.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return goRaknetServer{l}, nil
}

func (goRaknetLibrary) Dial(ctx context.Context, address string, _ rivals.Job) (rivals.Conn, error) {
	c, err := raknet.DialContext(ctx, address)
	if err != nil {
		return nil, err
	}
	return &goRaknetConn{Conn: c}, nil
}

type goRaknetServer struct{ *raknet.Listener }

func (s goRaknetServer) Address() string { return s.Addr().String() }

func (s goRaknetServer) Accept(context.Context) (rivals.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &goRaknetConn{Conn: c.(*raknet.Conn)}, nil
}

type goRaknetConn struct {
	*raknet.Conn
	buf []byte
}

func (c *goRaknetConn) Send(m []byte) error {
	_, err := c.Write(m)
	return err
}

func (c *goRaknetConn) Receive() ([]byte, error) {
	if c.buf == nil {
		c.buf = make([]byte, rivals.MaxMessage)
	}
	n, err := c.Read(c.buf)
	return c.buf[:n], err
}

func (c *goRaknetConn) Flush() error { return nil }
func (c *goRaknetConn) Note() string { return "" }
