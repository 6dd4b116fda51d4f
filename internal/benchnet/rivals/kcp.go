package rivals

import (
	"context"
	"fmt"

	"github.com/xtaci/kcp-go/v5"
)

// KCP is kcp-go in the mode that its documents call the fastest, without encryption and
// without redundancy.
type KCP struct{}

const (
	// kcpWindow is in segments: as much in flight as this library allows.
	kcpWindow = 4096
	// kcpMTU makes full datagrams as large as this library's.
	kcpMTU    = 1464
	kcpBuffer = 4 << 20
)

// Name is the name in the tables.
func (KCP) Name() string { return "kcp-go" }

// Listen opens a listener.
func (KCP) Listen(job Job) (Server, error) {
	l, err := kcp.ListenWithOptions("127.0.0.1:0", nil, 0, 0)
	if err != nil {
		return nil, err
	}
	_ = l.SetReadBuffer(kcpBuffer) // a smaller buffer is no reason to stop
	_ = l.SetWriteBuffer(kcpBuffer)
	return kcpServer{l, job}, nil
}

// Dial connects, which sends nothing yet.
func (KCP) Dial(_ context.Context, address string, job Job) (Conn, error) {
	s, err := kcp.DialWithOptions(address, nil, 0, 0)
	if err != nil {
		return nil, err
	}
	_ = s.SetReadBuffer(kcpBuffer)
	_ = s.SetWriteBuffer(kcpBuffer)
	return NewKCPConn(s, job), nil
}

// NewKCPConn sets up a session, and returns it as the other libraries' connections look.
func NewKCPConn(s *kcp.UDPSession, job Job) Conn {
	setUp(s, job)
	return kcpConn{NewStream(s, job), s}
}

func setUp(s *kcp.UDPSession, job Job) {
	s.SetNoDelay(1, 10, 2, 1)
	s.SetWindowSize(kcpWindow, kcpWindow)
	s.SetMtu(kcpMTU)
	//lint:ignore SA1019 there is no other way, and small writes fill datagrams only so
	s.SetStreamMode(job == Bulk) //nolint:staticcheck // see above
	s.SetWriteDelay(job == Bulk)
	s.SetACKNoDelay(job == Game)
}

type kcpServer struct {
	l   *kcp.Listener
	job Job
}

func (s kcpServer) Address() string { return s.l.Addr().String() }

func (s kcpServer) Accept(context.Context) (Conn, error) {
	c, err := s.l.AcceptKCP()
	if err != nil {
		return nil, err
	}
	return NewKCPConn(c, s.job), nil
}

type kcpConn struct {
	*Stream
	s *kcp.UDPSession
}

func (s kcpConn) Close() error { return s.s.Close() }

func (s kcpConn) Note() string {
	n := kcp.DefaultSnmp.Copy()
	return fmt.Sprintf("RTT %d ms, segments out %d, resent %d (fast %d, early %d, timeout %d)",
		s.s.GetSRTT(), n.OutSegs, n.RetransSegs, n.FastRetransSegs, n.EarlyRetransSegs, n.LostSegs)
}
