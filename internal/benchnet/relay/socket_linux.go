package relay

import (
	"encoding/binary"
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// socket is a UDP socket that reads and writes in batches. Datagrams that one system call
// of their sender made come as one piece where the system can do that, and what goes to
// one receiver leaves as one piece again: it is the way from the sender's to the receiver's
// system that a relay stands for, not another program on it.
type socket struct {
	fd    int
	local netip.AddrPort
	peer  *peer // nil: the one that all clients send to
	conn  *ipv4.PacketConn

	in    []ipv4.Message
	out   []ipv4.Message
	n     int  // of out
	size  int  // of the last one's datagrams
	total int  // bytes of the last one
	full  bool // nothing can be added to the last one

	reads, written, runs uint64
}

const (
	readBatch  = 32
	writeBatch = 64
	// maxRun and maxRunBytes are the most datagrams that leave as one piece, and their
	// bytes. The system's bounds are 64 and an IP packet of 65535.
	maxRun      = 64
	maxRunBytes = 64000
	pieceSize   = 1 << 16
)

func newSocket(c *net.UDPConn, p *peer) (*socket, error) {
	s := &socket{peer: p, conn: ipv4.NewPacketConn(c), local: c.LocalAddr().(*net.UDPAddr).AddrPort()}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	err = raw.Control(func(fd uintptr) {
		s.fd = int(fd)
		// Beyond the system's limit where that is allowed.
		if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, socketBuffer) != nil {
			_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, socketBuffer)
		}
		if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, socketBuffer) != nil {
			_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, socketBuffer)
		}
		_ = unix.SetsockoptInt(s.fd, unix.SOL_UDP, unix.UDP_GRO, 1)
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil {
		return nil, err
	}
	s.in = make([]ipv4.Message, readBatch)
	for i := range s.in {
		s.in[i].Buffers = [][]byte{make([]byte, pieceSize)}
		s.in[i].OOB = make([]byte, unix.CmsgSpace(4)+unix.CmsgSpace(16))
	}
	s.out = make([]ipv4.Message, writeBatch)
	for i := range s.out {
		s.out[i].Buffers = make([][]byte, 0, maxRun)
		s.out[i].OOB = make([]byte, 0, unix.CmsgSpace(2))
	}
	return s, nil
}

// receive reads a batch, without waiting, and returns its length.
func (s *socket) receive() int {
	n, err := s.conn.ReadBatch(s.in, unix.MSG_DONTWAIT)
	if err != nil {
		return 0 // there is nothing, or what was sent before was refused
	}
	s.reads++
	return n
}

// each calls f with the datagrams of the i-th piece that was read.
func (s *socket) each(i int, f func([]byte)) {
	m := &s.in[i]
	data := m.Buffers[0][:m.N]
	size := len(data)
	if b := control(m.OOB[:m.NN], unix.SOL_UDP, unix.UDP_GRO); len(b) >= 4 {
		size = int(binary.NativeEndian.Uint32(b))
	}
	for len(data) > size && size > 0 {
		f(data[:size])
		data = data[size:]
	}
	f(data)
}

// came returns when the system took the i-th piece that was read, in nanoseconds of the
// wall clock; zero if it does not say.
func (s *socket) came(i int) int64 {
	m := &s.in[i]
	b := control(m.OOB[:m.NN], unix.SOL_SOCKET, unix.SO_TIMESTAMPNS)
	if len(b) < 16 {
		return 0
	}
	return int64(binary.NativeEndian.Uint64(b))*1e9 + int64(binary.NativeEndian.Uint64(b[8:]))
}

// control returns the data of a control message, nil if there is none of the kind. Each is
// its length, level and type, and what it says.
func control(b []byte, level, kind uint32) []byte {
	for at := unix.CmsgLen(0); len(b) >= at; {
		n := int(binary.NativeEndian.Uint32(b)) // never so long that it needs more
		if n < at || n > len(b) {
			return nil
		}
		if binary.NativeEndian.Uint32(b[at-8:]) == level && binary.NativeEndian.Uint32(b[at-4:]) == kind {
			return b[at:n]
		}
		b = b[min(unix.CmsgSpace(n-at), len(b)):]
	}
	return nil
}

// send queues a datagram, to where the socket is connected if to is nil. It returns how
// many datagrams could not be sent.
func (s *socket) send(to *net.UDPAddr, data []byte, r *room) (failed uint64) {
	if s.n > 0 && !s.full {
		m := &s.out[s.n-1]
		same := to == nil && m.Addr == nil || to != nil && m.Addr == net.Addr(to)
		if same && len(data) > 0 && len(data) <= s.size && len(m.Buffers) < maxRun && s.total+len(data) <= maxRunBytes {
			m.Buffers = append(m.Buffers, data)
			s.total += len(data)
			s.full = len(data) < s.size // a shorter one ends a run
			return 0
		}
	}
	if s.n == len(s.out) {
		failed = s.flush(r)
	}
	m := &s.out[s.n]
	s.n++
	m.Addr = nil
	if to != nil {
		m.Addr = to
	}
	m.Buffers = append(m.Buffers[:0], data)
	s.size, s.total, s.full = len(data), len(data), len(data) == 0
	return failed
}

// flush sends what is queued.
func (s *socket) flush(r *room) (failed uint64) {
	if s.n == 0 {
		return 0
	}
	for i := range s.out[:s.n] {
		m := &s.out[i]
		m.OOB = m.OOB[:0]
		s.written += uint64(len(m.Buffers))
		if len(m.Buffers) > 1 {
			s.runs++
			m.OOB = segment(m.OOB, len(m.Buffers[0]))
		}
	}
	for rest := s.out[:s.n]; len(rest) > 0; {
		n, err := s.conn.WriteBatch(rest, 0)
		if err != nil || n <= 0 {
			failed += uint64(len(rest[0].Buffers)) // the first one is what failed
			n = 1
		}
		rest = rest[n:]
	}
	for i := range s.out[:s.n] {
		for _, b := range s.out[i].Buffers {
			r.give(b)
		}
	}
	s.n = 0
	return failed
}

// Segment returns the control message that cuts a piece into datagrams of a size.
func Segment(size int) []byte { return segment(make([]byte, unix.CmsgSpace(2)), size) }

// segment writes the control message that cuts a piece into datagrams of a size.
func segment(b []byte, size int) []byte {
	b = b[:unix.CmsgSpace(2)]
	clear(b)
	at := unix.CmsgLen(0)
	if at == 16 {
		binary.NativeEndian.PutUint64(b, uint64(unix.CmsgLen(2)))
	} else {
		binary.NativeEndian.PutUint32(b, uint32(unix.CmsgLen(2)))
	}
	binary.NativeEndian.PutUint32(b[at-8:], unix.SOL_UDP)
	binary.NativeEndian.PutUint32(b[at-4:], unix.UDP_SEGMENT)
	binary.NativeEndian.PutUint16(b[at:], uint16(size))
	return b
}
