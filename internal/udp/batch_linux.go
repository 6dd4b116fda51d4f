package udp

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/raknet-go/raknet/internal/pool"
)

// batch is a Socket on a *net.UDPConn that receives and sends many datagrams per system
// call, and where the kernel can do it many as one.
type batch struct {
	c interface {
		LocalAddr() net.Addr
		SetReadDeadline(t time.Time) error
		Close() error
	}
	rc syscall.RawConn
	q  *quiet // c and rc, where the socket is out of the poller's hands
	r  receiver
	w  sender
	df dontFragment
}

func newBatch(c *net.UDPConn, o Options) Socket {
	rc, err := c.SyscallConn()
	if err != nil {
		return newSingle(c) // closed already: whatever is done with it says so
	}
	s := &batch{c: c, rc: rc}
	peer, connected := remotePeer(c)
	s.r.peer, s.r.named, s.w.named = peer, !connected, !connected
	growBuffers(c)
	s.df.init(c)
	local, _ := c.LocalAddr().(*net.UDPAddr)
	wildcard := local != nil && local.IP.IsUnspecified() && !connected
	_ = rc.Control(func(handle uintptr) { // fails on a closed socket only
		fd := int(handle)
		domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		s.w.v6 = err == nil && domain == unix.AF_INET6
		s.w.local = wildcard && enablePacketInfo(fd, s.w.v6)
		s.w.segment = !o.NoGSO && segments(fd, s.w.v6)
		s.r.joined = !o.NoGRO && joinReceived(fd, kernel())
		s.r.control = countDrops(fd) || s.w.local || s.r.joined
		s.w.control = s.w.local || s.w.segment
	})
	s.r.init()
	s.w.init()
	return s
}

// calm takes a socket that nobody else has out of the poller's hands, if it can.
func calm(s Socket) Socket {
	if b, ok := s.(*batch); ok {
		if q, err := newQuiet(b.c.(*net.UDPConn)); err == nil {
			b.q, b.c, b.rc, b.df.rc = q, q, q, q
			b.r.vigil.q = q
		}
	}
	return s
}

// calmDialed is calm for a socket of which a process may have many.
func calmDialed(s Socket) Socket {
	if quietDialed.Add(1) <= maxQuietDialed {
		s = calm(s)
		if b, ok := s.(*batch); ok && b.q != nil {
			b.q.dialed = true
			return s
		}
	}
	quietDialed.Add(-1)
	return s
}

// Longest is the longest datagram that is received.
func (s *batch) Longest() int { return pool.ClassWide }

func (s *batch) ReadBatch(in []Inbound) (int, error) { return s.r.read(s.rc, in) }

func (s *batch) WriteBatch(out []Outbound) (int, error) {
	for done := 0; done < len(out); {
		n, err := s.write(out[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	return len(out), nil
}

// write sends at least one datagram of out, or returns why it did not.
func (s *batch) write(out []Outbound) (int, error) {
	n := s.alike(out)
	if n == 0 {
		return 0, ErrAddress
	}
	s.df.set(out[0].Probe)
	s.r.watch.sent(n, max(len(out[0].Data), len(out[n-1].Data)))
	return s.w.write(s.rc, out[:n])
}

// alike returns how many datagrams from the first on can go out in one system call.
func (s *batch) alike(out []Outbound) int {
	n := min(len(out), maxOut)
	for i := range n {
		o := &out[i]
		if o.Probe != out[0].Probe || s.w.named && !suits(o.To.AddrPort, !s.w.v6) {
			return i
		}
	}
	return n
}

func (s *batch) LocalAddr() net.Addr               { return s.c.LocalAddr() }
func (s *batch) RemotePeer() (Peer, bool)          { return s.r.peer, !s.r.named }
func (s *batch) SetReadDeadline(t time.Time) error { return s.c.SetReadDeadline(t) }
func (s *batch) Buffers() (recv, send int)         { return bufferSizes(s.rc) }
func (s *batch) Overflows() uint64                 { return s.r.overflows.Load() }

func (s *batch) Close() error {
	err := s.c.Close() // when it returns nobody reads
	s.r.vigil.drop()
	return err
}
