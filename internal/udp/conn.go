package udp

import (
	"net"
	"net/netip"
	"time"
)

// conn is a Socket on any net.Conn that keeps the borders of what is written: what an
// upstream dialer gave us.
type conn struct {
	c    net.Conn
	peer Peer
}

func newConn(c net.Conn) *conn {
	s := &conn{c: c, peer: PeerOf(c.RemoteAddr())}
	growBuffers(c)
	return s
}

func (s *conn) ReadBatch(in []Inbound) (int, error) {
	b := in[0].buffer()
	for {
		n, err := s.c.Read(b)
		if err != nil {
			if IsTooLarge(err) {
				continue // Windows fails a read whose datagram does not fit
			}
			return 0, err
		}
		if n >= len(b) {
			continue
		}
		in[0].received(n, s.peer, netip.Addr{})
		return 1, nil
	}
}

func (s *conn) WriteBatch(out []Outbound) (int, error) {
	for i := range out {
		_, err := s.c.Write(out[i].Data)
		if err != nil && worthAnotherTry(err) {
			_, err = s.c.Write(out[i].Data)
		}
		if err != nil {
			return i, err
		}
	}
	return len(out), nil
}

func (s *conn) LocalAddr() net.Addr               { return s.c.LocalAddr() }
func (s *conn) RemotePeer() (Peer, bool)          { return s.peer, true }
func (s *conn) SetReadDeadline(t time.Time) error { return s.c.SetReadDeadline(t) }
func (s *conn) Close() error                      { return s.c.Close() }
func (s *conn) Buffers() (recv, send int)         { return bufferSizes(rawConn(s.c)) }
func (s *conn) Overflows() uint64                 { return 0 }
