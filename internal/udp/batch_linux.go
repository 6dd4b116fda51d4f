package udp

import (
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// batch is a Socket on a *net.UDPConn that receives and sends up to maxBatch datagrams per
// system call.
type batch struct {
	c         *net.UDPConn
	rc        syscall.RawConn
	peer      Peer
	connected bool
	v6        bool // a socket of IPv6, maybe for IPv4 as well
	r         receiver
	w         sender
	df        dontFragment

	recvBuffer, sendBuffer int
}

// receiver is what ReadBatch uses.
type receiver struct {
	vector
	zones
	want  int // messages to receive
	n     int // messages received
	errno syscall.Errno
	call  func(fd uintptr) bool // receive, as a value made once
}

// sender is what WriteBatch uses.
type sender struct {
	vector
	zones
	want  int // messages to send
	n     int // messages sent
	errno syscall.Errno
	call  func(fd uintptr) bool
}

func newUDP(c *net.UDPConn) Socket {
	rc, err := c.SyscallConn()
	if err != nil {
		return newSingle(c) // closed already: whatever is done with it says so
	}
	s := &batch{c: c, rc: rc}
	s.peer, s.connected = remotePeer(c)
	s.recvBuffer, s.sendBuffer = growBuffers(c)
	s.df.init(c)
	local, _ := c.LocalAddr().(*net.UDPAddr)
	_ = rc.Control(func(fd uintptr) { // fails on a closed socket only
		domain, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN)
		s.v6 = err == nil && domain == unix.AF_INET6
		if local != nil && local.IP.IsUnspecified() && !s.connected {
			control := enablePacketInfo(int(fd), s.v6)
			s.r.control, s.w.control = control, control
		}
	})
	s.r.call, s.w.call = s.r.receive, s.w.send
	return s
}

func (r *receiver) receive(fd uintptr) bool {
	r.n, r.errno = r.batchCall(unix.SYS_RECVMMSG, fd, r.want)
	return r.errno != unix.EAGAIN
}

func (w *sender) send(fd uintptr) bool {
	w.n, w.errno = w.batchCall(unix.SYS_SENDMMSG, fd, w.want)
	return w.errno != unix.EAGAIN
}

func (s *batch) ReadBatch(in []Inbound) (int, error) {
	in = in[:min(len(in), maxBatch)]
	r := &s.r
	r.grow(len(in))
	for {
		for i := range in {
			r.prepareToReceive(i, in[i].buffer(), !s.connected)
		}
		r.want = len(in)
		err := s.rc.Read(r.call)
		r.drop(len(in))
		switch {
		case err != nil:
			return 0, err
		case r.errno != 0:
			return 0, os.NewSyscallError("recvmmsg", r.errno)
		}
		if n := s.collect(in, r.n); n > 0 {
			return n, nil
		}
	}
}

// collect fills in the first n entries from what was received, and moves those that are not
// to be handed on behind the others. It returns how many are.
func (s *batch) collect(in []Inbound, n int) int {
	kept := 0
	for i := range n {
		h := &s.r.hdrs[i]
		if h.Flags&unix.MSG_TRUNC != 0 {
			continue
		}
		from := s.peer
		if !s.connected {
			from = Peer{AddrPort: s.r.address(&s.r.names[i])}
			if from.AddrPort.Port() == 0 {
				continue
			}
		}
		var local netip.Addr
		if s.r.control {
			local = packetInfo(s.r.controlBytes(i)[:h.Controllen])
		}
		if i != kept {
			in[i].Buf, in[kept].Buf = in[kept].Buf, in[i].Buf
		}
		in[kept].received(int(h.n), from, local)
		kept++
	}
	return kept
}

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
	n, err := s.try(out[:n], s.w.control)
	if err == nil {
		return n, nil
	}
	switch {
	case worthAnotherTry(err):
		return s.try(out[:1], s.w.control)
	case s.w.control && out[0].Local.IsValid() && IsTransient(err) && !IsTooLarge(err):
		// The address that the peer knows may be gone from this machine. From another
		// the datagram may still find its way.
		return s.try(out[:1], false)
	}
	return 0, err
}

// alike returns how many datagrams from the first on can go out in one system call.
func (s *batch) alike(out []Outbound) int {
	n := min(len(out), maxBatch)
	for i := range n {
		o := &out[i]
		if o.Probe != out[0].Probe || !s.connected && !suits(o.To.AddrPort, !s.v6) {
			return i
		}
	}
	return n
}

// try makes one system call for all of out, and returns how many datagrams it took.
func (s *batch) try(out []Outbound, local bool) (int, error) {
	w := &s.w
	w.grow(len(out))
	for i := range out {
		s.prepareToSend(i, &out[i], local)
	}
	w.want = len(out)
	err := s.rc.Write(w.call)
	w.drop(len(out))
	switch {
	case err != nil:
		return 0, err
	case w.errno != 0:
		return 0, os.NewSyscallError("sendmmsg", w.errno)
	}
	return w.n, nil
}

func (s *batch) prepareToSend(i int, o *Outbound, local bool) {
	w := &s.w
	h := &w.hdrs[i]
	w.data(i, o.Data)
	if !s.connected {
		h.Name = (*byte)(unsafe.Pointer(&w.names[i]))
		h.Namelen = w.setAddress(&w.names[i], o.To.AddrPort, s.v6)
	}
	if !w.control {
		return
	}
	h.Control = nil
	h.SetControllen(0)
	if local && o.Local.IsValid() && o.Local.Is4() == o.To.AddrPort.Addr().Unmap().Is4() {
		h.SetControllen(putPacketInfo(w.controlBytes(i), o.Local))
		h.Control = (*byte)(unsafe.Pointer(&w.ctrl[i]))
	}
}

func (s *batch) LocalAddr() net.Addr               { return s.c.LocalAddr() }
func (s *batch) RemotePeer() (Peer, bool)          { return s.peer, s.connected }
func (s *batch) SetReadDeadline(t time.Time) error { return s.c.SetReadDeadline(t) }
func (s *batch) Close() error                      { return s.c.Close() }
func (s *batch) Buffers() (recv, send int)         { return s.recvBuffer, s.sendBuffer }
