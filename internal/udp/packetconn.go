package udp

import (
	"net"
	"net/netip"
	"time"
)

// packetConn is a Socket on any net.PacketConn: a tunnel, a proxy, a simulation.
type packetConn struct {
	pc net.PacketConn
}

func newPacketConn(pc net.PacketConn) *packetConn {
	growBuffers(pc)
	return &packetConn{pc: pc}
}

func (s *packetConn) ReadBatch(in []Inbound) (int, error) {
	b := in[0].buffer()
	for {
		n, addr, err := s.pc.ReadFrom(b)
		if err != nil {
			if IsTooLarge(err) {
				continue // Windows fails a read whose datagram does not fit
			}
			return 0, err
		}
		from := PeerOf(addr)
		if n >= len(b) || from.AddrPort.Port() == 0 {
			continue
		}
		in[0].received(n, from, netip.Addr{})
		return 1, nil
	}
}

func (s *packetConn) WriteBatch(out []Outbound) (int, error) {
	for i := range out {
		o := &out[i]
		to := o.To.Addr
		if to == nil {
			if !o.To.AddrPort.IsValid() || Synthetic(o.To.AddrPort.Addr()) {
				return i, ErrAddress
			}
			to = net.UDPAddrFromAddrPort(o.To.AddrPort)
		}
		_, err := s.pc.WriteTo(o.Data, to)
		if err != nil && worthAnotherTry(err) {
			_, err = s.pc.WriteTo(o.Data, to)
		}
		if err != nil {
			return i, err
		}
	}
	return len(out), nil
}

func (s *packetConn) LocalAddr() net.Addr               { return s.pc.LocalAddr() }
func (s *packetConn) RemotePeer() (Peer, bool)          { return Peer{}, false }
func (s *packetConn) SetReadDeadline(t time.Time) error { return s.pc.SetReadDeadline(t) }
func (s *packetConn) Close() error                      { return s.pc.Close() }
func (s *packetConn) Buffers() (recv, send int)         { return bufferSizes(rawConn(s.pc)) }
func (s *packetConn) Overflows() uint64                 { return 0 }
