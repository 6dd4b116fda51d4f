package rivals

import (
	"context"
	"fmt"
	"net"

	"github.com/raknet-go/raknet"
)

// Ours is this library with its default settings.
type Ours struct{}

// Name is the name in the tables.
func (Ours) Name() string { return "raknet" }

// Listen opens a listener.
func (Ours) Listen(Job) (Server, error) {
	l, err := raknet.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return ourServer{l}, nil
}

// Dial connects.
func (Ours) Dial(ctx context.Context, address string, _ Job) (Sender, error) {
	c, err := raknet.DialContext(ctx, address)
	if err != nil {
		return nil, err
	}
	return OurSender{c}, nil
}

type ourServer struct{ l *raknet.Listener }

func (s ourServer) Address() string { return s.l.Addr().(*net.UDPAddr).String() }

func (s ourServer) Accept(ctx context.Context) (Receiver, error) {
	c, err := s.l.AcceptContext(ctx)
	if err != nil {
		return nil, err
	}
	return &ourReceiver{c: c, buf: make([]byte, maxMessage)}, nil
}

type ourReceiver struct {
	c   *raknet.Conn
	buf []byte
}

func (r *ourReceiver) Receive() ([]byte, error) {
	n, err := r.c.Read(r.buf)
	return r.buf[:n], err
}

// OurSender is a client of this library. The scenarios of the laboratory need more of it
// than other libraries have.
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
