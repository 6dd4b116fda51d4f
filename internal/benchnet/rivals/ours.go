package rivals

import (
	"context"
	"fmt"
	"net"

	"github.com/raknet-go/raknet"
)

// Ours is this library with its default settings, but for what is set here.
type Ours struct {
	// MTU is the MaxMTU of both ends.
	MTU uint16
}

// Name is the name in the tables.
func (Ours) Name() string { return "raknet" }

// Listen opens a listener.
func (o Ours) Listen(Job) (Server, error) {
	l, err := raknet.ListenConfig{MaxMTU: o.MTU}.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return ourServer{l}, nil
}

// Dial connects.
func (o Ours) Dial(ctx context.Context, address string, _ Job) (Conn, error) {
	c, err := raknet.Dialer{MaxMTU: o.MTU}.DialContext(ctx, address)
	if err != nil {
		return nil, err
	}
	return NewOurConn(c), nil
}

type ourServer struct{ l *raknet.Listener }

func (s ourServer) Address() string { return s.l.Addr().(*net.UDPAddr).String() }

func (s ourServer) Accept(ctx context.Context) (Conn, error) {
	c, err := s.l.AcceptContext(ctx)
	if err != nil {
		return nil, err
	}
	return NewOurConn(c), nil
}

// OurConn is a connection of this library.
type OurConn struct {
	OurSender
	buf []byte
}

// NewOurConn returns c as the other libraries' connections look.
func NewOurConn(c *raknet.Conn) *OurConn { return &OurConn{OurSender: OurSender{c}} }

// Receive reads a message. The room for it is made when the first is awaited, so that
// connections that receive nothing are small.
func (c *OurConn) Receive() ([]byte, error) {
	if c.buf == nil {
		c.buf = make([]byte, MaxMessage)
	}
	n, err := c.Read(c.buf)
	return c.buf[:n], err
}

// OurSender is an end of this library that sends. The scenarios of the laboratory need more
// of it than other libraries have.
type OurSender struct{ *raknet.Conn }

// Send writes on channel 0.
func (s OurSender) Send(m []byte) error {
	_, err := s.Write(m)
	return err
}

// Flush has nothing to do.
func (s OurSender) Flush() error { return nil }

// Note tells what the controller thinks of the path.
func (s OurSender) Note() string {
	t := s.Stats()
	return fmt.Sprintf("cwnd %d KB, in flight %d KB, RTT %.1f ms (least %.1f), of %d datagrams %d lost, %d of them wrongly, frames resent %d, repeated %d, queued %d KB",
		t.CongestionWindow>>10, t.BytesInFlight>>10, t.RTT.Seconds()*1e3, t.MinRTT.Seconds()*1e3,
		t.DatagramsSent, t.DatagramsLost, t.SpuriousLosses, t.FramesResent, t.FramesRepeated, t.SendQueueBytes>>10)
}
