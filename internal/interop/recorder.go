package interop

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A Datagram is one UDP payload that went over a recorded socket.
type Datagram struct {
	Time     time.Time
	From, To netip.AddrPort
	Payload  []byte
}

// Recorder opens sockets and notes every datagram that goes through them, in either direction. It fits the upstream hook of a
// listen configuration. Reading the socket this way needs no privileges, and shows what was sent even where a capture on the
// loopback interface would show what was merged by segmentation offload.
type Recorder struct {
	mu        sync.Mutex
	datagrams []Datagram
}

// ListenPacket is net.ListenPacket.
func (r *Recorder) ListenPacket(network, address string) (net.PacketConn, error) {
	c, err := net.ListenPacket(network, address)
	if err != nil {
		return nil, err
	}
	return recordedConn{c, r, addrPort(c.LocalAddr())}, nil
}

// Datagrams returns what was recorded so far.
func (r *Recorder) Datagrams() []Datagram {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Datagram(nil), r.datagrams...)
}

func (r *Recorder) note(from, to netip.AddrPort, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.datagrams = append(r.datagrams, Datagram{time.Now(), from, to, append([]byte(nil), b...)})
}

type recordedConn struct {
	net.PacketConn
	r     *Recorder
	local netip.AddrPort
}

func (c recordedConn) ReadFrom(b []byte) (int, net.Addr, error) {
	n, a, err := c.PacketConn.ReadFrom(b)
	if err == nil {
		c.r.note(addrPort(a), c.local, b[:n])
	}
	return n, a, err
}

func (c recordedConn) WriteTo(b []byte, a net.Addr) (int, error) {
	c.r.note(c.local, addrPort(a), b)
	return c.PacketConn.WriteTo(b, a)
}

func addrPort(a net.Addr) netip.AddrPort {
	ap := a.(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// WritePcap writes datagrams as a capture file of raw IP packets, the oldest format that every analyser reads. Checksums are left
// zero in UDP, which means "none" over IPv4.
func WritePcap(w io.Writer, datagrams []Datagram) error {
	const linkTypeRaw = 101
	le := binary.LittleEndian
	out := le.AppendUint32(nil, 0xa1b2c3d4) // times in microseconds
	out = le.AppendUint16(out, 2)           // version 2.4
	out = le.AppendUint16(out, 4)
	out = append(out, make([]byte, 8)...) // time zone and accuracy, always zero
	out = le.AppendUint32(out, 1<<16)     // longest packet
	out = le.AppendUint32(out, linkTypeRaw)
	for _, d := range datagrams {
		p := ipPacket(d)
		out = le.AppendUint32(out, uint32(d.Time.Unix()))
		out = le.AppendUint32(out, uint32(d.Time.Nanosecond()/1000))
		out = le.AppendUint32(out, uint32(len(p)))
		out = le.AppendUint32(out, uint32(len(p)))
		out = append(out, p...)
	}
	_, err := w.Write(out)
	return err
}

func ipPacket(d Datagram) []byte {
	be := binary.BigEndian
	p := []byte{0x45, 0}
	p = be.AppendUint16(p, uint16(28+len(d.Payload)))
	p = append(p, 0, 0, 0x40, 0, 64, 17, 0, 0) // no id, not to be fragmented, TTL 64, UDP, checksum to come
	p = append(p, d.From.Addr().AsSlice()...)
	p = append(p, d.To.Addr().AsSlice()...)
	be.PutUint16(p[10:], ipChecksum(p))
	p = be.AppendUint16(p, d.From.Port())
	p = be.AppendUint16(p, d.To.Port())
	p = be.AppendUint16(p, uint16(8+len(d.Payload)))
	p = append(p, 0, 0)
	return append(p, d.Payload...)
}

func ipChecksum(header []byte) uint16 {
	var sum uint32
	for i := 0; i < len(header); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
