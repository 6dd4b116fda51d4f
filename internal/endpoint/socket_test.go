package endpoint

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/raknet-go/raknet/internal/udp"
)

// fakeSocket is a udp.Socket that does what a test tells it to.
type fakeSocket struct {
	mu       sync.Mutex
	sent     []string
	batches  []int
	sendErr  map[string]error // by datagram: fails instead
	entered  chan struct{}    // not nil: WriteBatch says here that it was called,
	proceed  chan struct{}    // and waits here
	reads    chan error       // what the next ReadBatch returns
	past     chan struct{}    // closed while the deadline is in the past
	closed   chan struct{}
	closing  sync.Once
	readings int
}

func newFakeSocket() *fakeSocket {
	return &fakeSocket{sendErr: map[string]error{}, reads: make(chan error), past: make(chan struct{}), closed: make(chan struct{})}
}

func (s *fakeSocket) ReadBatch(in []udp.Inbound) (int, error) {
	s.mu.Lock()
	past := s.past
	s.readings++
	s.mu.Unlock()
	select {
	case err := <-s.reads:
		return 0, err
	case <-past:
		return 0, os.ErrDeadlineExceeded
	case <-s.closed:
		return 0, net.ErrClosed
	}
}

func (s *fakeSocket) WriteBatch(out []udp.Outbound) (int, error) {
	if s.entered != nil {
		s.entered <- struct{}{}
		select {
		case <-s.proceed:
		case <-s.closed:
			return 0, net.ErrClosed
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, len(out))
	for i := range out {
		if err := s.sendErr[string(out[i].Data)]; err != nil {
			return i, err
		}
		s.sent = append(s.sent, string(out[i].Data))
	}
	return len(out), nil
}

func (s *fakeSocket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := isClosed(s.past)
	switch is := !t.IsZero(); {
	case is && !was:
		close(s.past)
	case !is && was:
		s.past = make(chan struct{})
	}
	return nil
}

func (s *fakeSocket) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return nil
}

func (s *fakeSocket) LocalAddr() net.Addr          { return &net.UDPAddr{Port: 1} }
func (s *fakeSocket) RemotePeer() (udp.Peer, bool) { return udp.Peer{}, false }
func (s *fakeSocket) Buffers() (recv, send int)    { return 0, 0 }
func (s *fakeSocket) Overflows() uint64            { return 0 }

var (
	errOnce = errors.New("something")
	nobody  = udp.Peer{AddrPort: netip.MustParseAddrPort("192.0.2.1:1")}
)
