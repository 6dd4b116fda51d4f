package main

import (
	"context"
	"net"
	"sync"

	"github.com/pion/logging"
	"github.com/pion/sctp"

	"github.com/raknet-go/raknet/internal/benchnet/rivals"
)

// sctpLibrary is pion/sctp with one stream over a UDP socket, with blocking writes: it
// would queue without end otherwise.
type sctpLibrary struct{}

// sctpBuffer is room for what is under way.
const sctpBuffer = 8 << 20

func (sctpLibrary) Name() string { return sctpName }

func (sctpLibrary) Listen(job rivals.Job) (rivals.Server, error) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	_ = c.SetReadBuffer(4 << 20)
	return sctpServer{c, job}, nil
}

// sctpOptions set up an association over c, of either end.
func sctpOptions(c net.Conn) []sctp.AssociationOption {
	return []sctp.AssociationOption{
		sctp.WithNetConn(c), sctp.WithLoggerFactory(logging.NewDefaultLoggerFactory()), sctp.WithBlockWrite(true), sctp.WithEnableZeroChecksum(true),
		sctp.WithMaxReceiveBufferSize(sctpBuffer), sctp.WithMaxMessageSize(2 * rivals.MaxMessage),
	}
}

func clientOptions(c net.Conn) (list []sctp.ClientOption) {
	for _, o := range sctpOptions(c) {
		list = append(list, o)
	}
	return list
}

func serverOptions(c net.Conn) (list []sctp.ServerOption) {
	for _, o := range sctpOptions(c) {
		list = append(list, o)
	}
	return list
}

func (sctpLibrary) Dial(_ context.Context, address string, job rivals.Job) (rivals.Conn, error) {
	c, err := net.Dial("udp4", address)
	if err != nil {
		return nil, err
	}
	_ = c.(*net.UDPConn).SetReadBuffer(4 << 20)
	a, err := sctp.ClientWithOptions(clientOptions(c)...)
	if err != nil {
		return nil, err
	}
	s, err := a.OpenStream(0, sctp.PayloadTypeWebRTCBinary)
	if err != nil {
		return nil, err
	}
	return &sctpConn{a: a, s: s}, nil
}

type sctpServer struct {
	c   *net.UDPConn
	job rivals.Job
}

func (s sctpServer) Address() string { return s.c.LocalAddr().String() }

func (s sctpServer) Accept(context.Context) (rivals.Conn, error) {
	a, err := sctp.ServerWithOptions(serverOptions(&firstPeer{UDPConn: s.c})...)
	if err != nil {
		return nil, err
	}
	return &sctpConn{a: a}, nil
}

// sctpConn is an association. The server has the stream with its first message only.
type sctpConn struct {
	a   *sctp.Association
	s   *sctp.Stream
	buf []byte
}

func (c *sctpConn) Send(m []byte) error {
	_, err := c.s.WriteSCTP(m, sctp.PayloadTypeWebRTCBinary)
	return err
}

func (c *sctpConn) Receive() ([]byte, error) {
	if c.s == nil {
		s, err := c.a.AcceptStream()
		if err != nil {
			return nil, err
		}
		c.s = s
	}
	if c.buf == nil {
		c.buf = make([]byte, rivals.MaxMessage)
	}
	n, err := c.s.Read(c.buf)
	return c.buf[:n], err
}

func (c *sctpConn) Flush() error { return nil }
func (c *sctpConn) Note() string { return "" }
func (c *sctpConn) Close() error { return c.a.Close() }

// firstPeer makes a connection with whoever sends first of a socket.
type firstPeer struct {
	*net.UDPConn
	once sync.Once
	peer net.Addr
	mu   sync.Mutex
}

func (f *firstPeer) Read(b []byte) (int, error) {
	n, from, err := f.ReadFromUDP(b)
	if err == nil {
		f.once.Do(func() {
			f.mu.Lock()
			f.peer = from
			f.mu.Unlock()
		})
	}
	return n, err
}

func (f *firstPeer) Write(b []byte) (int, error) {
	f.mu.Lock()
	to := f.peer
	f.mu.Unlock()
	return f.WriteTo(b, to)
}

func (f *firstPeer) RemoteAddr() net.Addr { return f.peer }
