package bound

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/raknet-go/raknet/internal/udp"
)

// Way is how datagrams get into the system and out of it.
type Way uint8

// The ways.
const (
	Offload Way = iota // runs of datagrams as one: GSO and GRO
	Batch              // many with one system call
	Single             // each with a system call
	Plain              // each with a call of a net.PacketConn
)

// carrier moves datagrams.
type carrier interface {
	// send sends the datagrams in b, each of the given size but for the last, which may be shorter.
	send(b []byte, size int) error
	// receive waits for datagrams and returns them. They are good until the next call. What
	// is sent goes to the sender of the last one where the carrier has no peer otherwise.
	receive() ([][]byte, error)
	Close() error
}

func open(way Way, address string) (carrier, net.Addr, error) {
	c, err := openUDP(address)
	if err != nil {
		return nil, nil, err
	}
	_ = c.SetReadBuffer(socketBuffer) // a smaller one shows as loss
	_ = c.SetWriteBuffer(socketBuffer)
	connected := address != ""
	var to *net.UDPAddr
	if connected {
		to, _ = c.RemoteAddr().(*net.UDPAddr)
	}
	switch way {
	case Offload:
		s := &offload{c: c, connected: connected, buf: make([]byte, 1<<16), oob: make([]byte, 128), tell: make([]byte, unix.CmsgSpace(2))}
		return s, c.LocalAddr(), s.init()
	case Batch:
		s := &batched{s: udp.Wrap(c, udp.Options{Path: udp.Batch}), in: make([]udp.Inbound, batch)}
		return s, c.LocalAddr(), nil
	case Single:
		return &single{c: c, connected: connected, buf: make([]byte, 2048)}, c.LocalAddr(), nil
	case Plain:
		if connected { // a PacketConn cannot be
			c.Close()
			pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
			if err != nil {
				return nil, nil, err
			}
			c = pc.(*net.UDPConn)
			_ = c.SetReadBuffer(socketBuffer)
			_ = c.SetWriteBuffer(socketBuffer)
		}
		s := &plain{c: c, buf: make([]byte, 2048)}
		if to != nil {
			s.to = to
		}
		return s, c.LocalAddr(), nil
	}
	return nil, nil, fmt.Errorf("no way %d", way)
}

func openUDP(address string) (*net.UDPConn, error) {
	if address == "" {
		return net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	}
	c, err := net.Dial("udp4", address)
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// datagrams cuts b into datagrams, which it appends to list.
func datagrams(list [][]byte, b []byte, size int) [][]byte {
	for len(b) > size {
		list = append(list, b[:size:size])
		b = b[size:]
	}
	return append(list, b)
}

type offload struct {
	c         *net.UDPConn
	connected bool
	peer      netip.AddrPort
	buf       []byte
	oob, tell []byte
	list      [][]byte
}

func (s *offload) init() error {
	rc, err := s.c.SyscallConn()
	if err != nil {
		return err
	}
	if cerr := rc.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_GRO, 1) }); cerr != nil {
		return cerr
	}
	// A control message: its length, level, type and the size of a segment.
	binary.NativeEndian.PutUint64(s.tell, uint64(unix.CmsgLen(2)))
	binary.NativeEndian.PutUint32(s.tell[8:], unix.SOL_UDP)
	binary.NativeEndian.PutUint32(s.tell[12:], unix.UDP_SEGMENT)
	return err
}

func (s *offload) send(b []byte, size int) error {
	var tell []byte
	if len(b) > size {
		tell = s.tell
		binary.NativeEndian.PutUint16(tell[unix.CmsgLen(0):], uint16(size))
	}
	var err error
	if s.connected {
		_, _, err = s.c.WriteMsgUDP(b, tell, nil)
	} else {
		_, _, err = s.c.WriteMsgUDPAddrPort(b, tell, s.peer)
	}
	return err
}

func (s *offload) receive() ([][]byte, error) {
	n, oobn, _, from, err := s.c.ReadMsgUDPAddrPort(s.buf, s.oob)
	if err != nil {
		return nil, err
	}
	s.peer = from
	size := n
	for oob := s.oob[:oobn]; len(oob) >= unix.SizeofCmsghdr; {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return nil, err
		}
		if h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO {
			size = int(binary.NativeEndian.Uint32(data))
		}
		oob = rest
	}
	s.list = datagrams(s.list[:0], s.buf[:n], size)
	return s.list, nil
}

func (s *offload) Close() error { return s.c.Close() }

// batched uses the library's own system calls: they are not what is in question here.
type batched struct {
	s    udp.Socket
	in   []udp.Inbound
	out  []udp.Outbound
	peer udp.Peer
	cut  [][]byte // of what is sent
	list [][]byte // received
}

func (s *batched) send(b []byte, size int) error {
	s.cut = datagrams(s.cut[:0], b, size)
	s.out = s.out[:0]
	for _, d := range s.cut {
		s.out = append(s.out, udp.Outbound{Data: d, To: s.peer})
	}
	_, err := s.s.WriteBatch(s.out)
	return err
}

func (s *batched) receive() ([][]byte, error) {
	n, err := s.s.ReadBatch(s.in)
	if err != nil {
		return nil, err
	}
	s.list = s.list[:0]
	for i := range n {
		s.list = append(s.list, s.in[i].Bytes())
	}
	s.peer = s.in[0].From
	return s.list, nil
}

func (s *batched) Close() error { return s.s.Close() }

type single struct {
	c         *net.UDPConn
	connected bool
	peer      netip.AddrPort
	buf       []byte
	list      [1][]byte
}

func (s *single) send(b []byte, size int) (err error) {
	for len(b) > 0 && err == nil {
		n := min(size, len(b))
		if s.connected {
			_, err = s.c.Write(b[:n])
		} else {
			_, err = s.c.WriteToUDPAddrPort(b[:n], s.peer)
		}
		b = b[n:]
	}
	return err
}

func (s *single) receive() ([][]byte, error) {
	n, from, err := s.c.ReadFromUDPAddrPort(s.buf)
	if err != nil {
		return nil, err
	}
	s.peer, s.list[0] = from, s.buf[:n]
	return s.list[:], nil
}

func (s *single) Close() error { return s.c.Close() }

type plain struct {
	c    net.PacketConn
	to   net.Addr
	buf  []byte
	list [1][]byte
}

func (s *plain) send(b []byte, size int) (err error) {
	for len(b) > 0 && err == nil {
		n := min(size, len(b))
		_, err = s.c.WriteTo(b[:n], s.to)
		b = b[n:]
	}
	return err
}

func (s *plain) receive() ([][]byte, error) {
	n, from, err := s.c.ReadFrom(s.buf)
	if err != nil {
		return nil, err
	}
	s.to, s.list[0] = from, s.buf[:n]
	return s.list[:], nil
}

func (s *plain) Close() error { return s.c.Close() }
