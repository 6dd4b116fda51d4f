package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/raknet-go/raknet/internal/benchnet/rivals"
)

// tcpLibrary is the kernel's TCP, with a length before each message. Unbuffered, each
// message is a call to write and two to read.
type tcpLibrary struct{ unbuffered bool }

func (tcpLibrary) Name() string { return tcp }

func (l tcpLibrary) Listen(job rivals.Job) (rivals.Server, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return tcpServer{listener, l, job}, nil
}

func (l tcpLibrary) Dial(ctx context.Context, address string, job rivals.Job) (rivals.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp4", address)
	if err != nil {
		return nil, err
	}
	return l.conn(c, job), nil
}

func (l tcpLibrary) conn(c net.Conn, job rivals.Job) rivals.Conn {
	if l.unbuffered {
		return &unbuffered{Conn: c, buf: make([]byte, rivals.MaxMessage)}
	}
	return tcpConn{rivals.NewStream(c, job), c}
}

type tcpServer struct {
	net.Listener
	l   tcpLibrary
	job rivals.Job
}

func (s tcpServer) Address() string { return s.Addr().String() }

func (s tcpServer) Accept(context.Context) (rivals.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return s.l.conn(c, s.job), nil
}

type tcpConn struct {
	*rivals.Stream
	c net.Conn
}

func (c tcpConn) Close() error { return c.c.Close() }
func (c tcpConn) Note() string { return "" }

// unbuffered calls the system for every message.
type unbuffered struct {
	net.Conn
	out, buf []byte
	length   [4]byte
}

func (c *unbuffered) Send(m []byte) error {
	c.out = binary.BigEndian.AppendUint32(c.out[:0], uint32(len(m)))
	c.out = append(c.out, m...)
	_, err := c.Write(c.out)
	return err
}

func (c *unbuffered) Receive() ([]byte, error) {
	if _, err := io.ReadFull(c.Conn, c.length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(c.length[:]))
	if n > len(c.buf) {
		return nil, fmt.Errorf("a message of %d bytes is announced", n)
	}
	_, err := io.ReadFull(c.Conn, c.buf[:n])
	return c.buf[:n], err
}

func (c *unbuffered) Flush() error { return nil }
func (c *unbuffered) Note() string { return "" }
