package udp

import (
	"net"
	"net/netip"
	"time"
)

// single is a Socket on a *net.UDPConn that makes one system call per datagram: what
// works everywhere.
type single struct {
	c         *net.UDPConn
	peer      Peer
	connected bool
	v4        bool // an IPv4 socket: cannot reach IPv6
	df        dontFragment
}

func newSingle(c *net.UDPConn) *single {
	s := &single{c: c, v4: isIPv4Only(c)}
	s.peer, s.connected = remotePeer(c)
	growBuffers(c)
	s.df.init(c)
	return s
}

// remotePeer returns the peer of a connected c.
func remotePeer(c *net.UDPConn) (Peer, bool) {
	u, ok := c.RemoteAddr().(*net.UDPAddr)
	if !ok || u == nil {
		return Peer{}, false
	}
	return Peer{AddrPort: unmap(u.AddrPort())}, true
}

// isIPv4Only reports whether c can only speak IPv4. A socket bound to an IPv4 address
// counts, even if an IPv6 one, as only such destinations are in reach.
func isIPv4Only(c *net.UDPConn) bool {
	u, ok := c.LocalAddr().(*net.UDPAddr)
	return ok && u.IP.To4() != nil
}

// suits reports whether a socket can send to a.
func suits(a netip.AddrPort, v4 bool) bool {
	return a.IsValid() && a.Port() != 0 && (!v4 || a.Addr().Is4() || a.Addr().Is4In6())
}

func (s *single) ReadBatch(in []Inbound) (int, error) {
	b := in[0].buffer()
	for {
		n, a, err := s.c.ReadFromUDPAddrPort(b)
		if err != nil {
			if IsTooLarge(err) {
				continue // Windows fails a read whose datagram does not fit
			}
			return 0, err
		}
		from := s.peer
		if !s.connected {
			from = Peer{AddrPort: unmap(a)}
		}
		if n >= len(b) || from.AddrPort.Port() == 0 {
			continue
		}
		in[0].received(n, from, netip.Addr{})
		return 1, nil
	}
}

func (s *single) WriteBatch(out []Outbound) (int, error) {
	for i := range out {
		o := &out[i]
		if !s.connected && !suits(o.To.AddrPort, s.v4) {
			return i, ErrAddress
		}
		s.df.set(o.Probe)
		err := s.write(o)
		if err != nil && worthAnotherTry(err) {
			err = s.write(o)
		}
		if err != nil {
			return i, err
		}
	}
	return len(out), nil
}

func (s *single) write(o *Outbound) error {
	var err error
	if s.connected {
		_, err = s.c.Write(o.Data)
	} else {
		_, err = s.c.WriteToUDPAddrPort(o.Data, unmap(o.To.AddrPort))
	}
	return err
}

func (s *single) LocalAddr() net.Addr               { return s.c.LocalAddr() }
func (s *single) RemotePeer() (Peer, bool)          { return s.peer, s.connected }
func (s *single) SetReadDeadline(t time.Time) error { return s.c.SetReadDeadline(t) }
func (s *single) Close() error                      { return s.c.Close() }
func (s *single) Buffers() (recv, send int)         { return bufferSizes(rawConn(s.c)) }
func (s *single) Overflows() uint64                 { return 0 }
