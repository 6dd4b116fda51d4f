package rivals

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"time"

	"github.com/quic-go/quic-go"
)

// QUIC is quic-go with one stream for each connection. Its windows are large enough never
// to be what holds it up. It encrypts, which the others don't: it cannot be turned off.
type QUIC struct{}

const (
	quicProtocol = "bench-net"
	quicWindow   = 32 << 20
)

var quicConfig = &quic.Config{
	InitialStreamReceiveWindow:     quicWindow,
	MaxStreamReceiveWindow:         quicWindow,
	InitialConnectionReceiveWindow: quicWindow,
	MaxConnectionReceiveWindow:     quicWindow,
	HandshakeIdleTimeout:           10 * time.Second,
	MaxIdleTimeout:                 time.Minute,
}

// Name is the name in the tables.
func (QUIC) Name() string { return "quic-go" }

// Listen opens a listener.
func (QUIC) Listen(job Job) (Server, error) {
	cert, err := certificate()
	if err != nil {
		return nil, err
	}
	l, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{quicProtocol}}, quicConfig)
	if err != nil {
		return nil, err
	}
	return quicServer{l, job}, nil
}

// Dial connects and opens the stream.
func (QUIC) Dial(ctx context.Context, address string, job Job) (Conn, error) {
	c, err := quic.DialAddr(ctx, address, ClientTLS(), quicConfig)
	if err != nil {
		return nil, err
	}
	s, err := c.OpenStreamSync(ctx)
	if err != nil {
		return nil, err
	}
	return &quicConn{Stream: NewStream(s, job), c: c, job: job}, nil
}

type quicServer struct {
	l   *quic.Listener
	job Job
}

func (s quicServer) Address() string { return s.l.Addr().String() }

func (s quicServer) Accept(ctx context.Context) (Conn, error) {
	c, err := s.l.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return &quicConn{c: c, job: s.job}, nil
}

// quicConn is a connection with its stream. The server has that with the first message only.
type quicConn struct {
	*Stream
	c   *quic.Conn
	job Job
}

// Receive waits for the stream first, which is there with its first message.
func (c *quicConn) Receive() ([]byte, error) {
	if c.Stream == nil {
		s, err := c.c.AcceptStream(context.Background())
		if err != nil {
			return nil, err
		}
		c.Stream = NewStream(s, c.job)
	}
	return c.Stream.Receive()
}

func (c *quicConn) Close() error { return c.c.CloseWithError(0, "") }

func (c *quicConn) Note() string {
	t := c.c.ConnectionStats()
	return fmt.Sprintf("RTT %.1f ms (least %.1f), of %d packets %d lost, GSO %v", t.SmoothedRTT.Seconds()*1e3, t.MinRTT.Seconds()*1e3,
		t.PacketsSent, t.PacketsLost, c.c.ConnectionState().GSO)
}

// QUICConfig returns what connections are set up with, for those who dial by themselves.
func QUICConfig() *quic.Config { return quicConfig.Clone() }

// ClientTLS returns what clients need. The server proves nothing: both ends are one program.
func ClientTLS() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, NextProtos: []string{quicProtocol}}
}

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
