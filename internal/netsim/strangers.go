package netsim

import (
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Strangers are hosts that bother the server without wanting anything from it.
type Strangers struct {
	Datagrams int           // how many they send by themselves
	Every     time.Duration // between two
	Hosts     int           // addresses that they have
	Finish    float64       // share of handshakes that go as far as a half-open connection
}

// strangers run them: floods of pings, requests, broken and random packets, and
// handshakes that stop half-way.
type strangers struct {
	w     *World
	hosts []*stranger
	left  int
}

type stranger struct {
	host host
	all  *strangers
	up   *Pipe
	guid int64
}

func newStrangers(w *World) *strangers {
	s := &strangers{w: w, left: w.sc.Strangers.Datagrams}
	for i := range max(w.sc.Strangers.Hosts, 1) {
		h := &stranger{host: host{w: w}, all: s, guid: w.guid()}
		h.host.node = h
		h.host.addr = w.address(netip.AddrPortFrom(netip.AddrFrom4([4]byte{172, 16, 0, byte(i % 4)}), uint16(1000+i)), &h.host)
		link := Link{Delay: time.Duration(1+w.rng.IntN(50)) * time.Millisecond}
		h.up = NewPipe(w.sc.Seed, uint64(h.host.addr)<<8, link)
		w.server.attach(h.host.addr, NewPipe(w.sc.Seed, uint64(h.host.addr)<<8|1, link))
		s.hosts = append(s.hosts, h)
	}
	return s
}

// act sends one packet.
func (s *strangers) act() {
	w := s.w
	h := s.hosts[w.rng.IntN(len(s.hosts))]
	h.host.send(w.server.host.addr, h.packet())
	if s.left--; s.left > 0 {
		w.push(event{at: w.now.Add(time.Duration(w.rng.Int64N(2 * int64(w.sc.Strangers.Every)))), kind: evStranger})
	}
}

func (s *stranger) packet() []byte {
	r := s.all.w.rng
	var b []byte
	switch r.IntN(8) {
	case 0:
		p := wire.UnconnectedPing{Time: r.Int64(), HasGUID: r.IntN(4) > 0, GUID: s.guid, OnlyIfOpen: r.IntN(2) == 0}
		b = p.Append(nil)
	case 1, 2, 3:
		p := wire.OpenRequest1{Version: byte(9 + r.IntN(4)), MTU: protocol.ProbeMTUs[r.IntN(len(protocol.ProbeMTUs))]}
		b = p.Append(nil)
	case 4:
		p := wire.OpenRequest2{HasCookie: r.IntN(4) > 0, Cookie: r.Uint32(), MTU: 400 + r.IntN(1100), GUID: s.guid}
		b = p.Append(nil)
	case 5: // a frame set with a connection request, from nowhere
		b = s.request()
	case 6:
		p := wire.OpenRequest1{Version: 11, MTU: 400 + r.IntN(1000)}
		b = p.Append(nil)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		b = b[:r.IntN(len(b)+1)]
	default:
		b = make([]byte, r.IntN(100))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	}
	return b
}

// request is a datagram with an 0x09.
func (s *stranger) request() []byte {
	p := wire.ConnectionRequest{GUID: s.guid, Time: 1}
	payload := p.Append(nil)
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, wire24of(s.all.w.sc.Start.Datagram))
	f := wire.Frame{Reliability: protocol.Reliable, Reliable: wire24of(s.all.w.sc.Start.Reliable)}
	return append(wire.AppendFrameHeader(b, &f, len(payload)), payload...)
}

func wire24of(n int64) uint32 { return uint32(n) & 0xffffff }

func (s *stranger) path(int32) *Pipe { return s.up }

// datagram goes on with the handshake now and then, but never to its end.
func (s *stranger) datagram(from int32, buf *pool.Buffer, _ bool) {
	w := s.all.w
	data := buf.Bytes()
	if len(data) == 0 || w.rng.Float64() >= w.sc.Strangers.Finish {
		return
	}
	switch protocol.ID(data[0]) {
	case protocol.IDOpenConnectionReply1:
		var r wire.OpenReply1
		if r.Parse(data) == nil {
			q := wire.OpenRequest2{HasCookie: r.Security, Cookie: r.Cookie, MTU: max(r.MTU, protocol.MinMTU), GUID: s.guid}
			s.host.send(from, q.Append(nil))
		}
	case protocol.IDOpenConnectionReply2:
		if w.rng.IntN(2) == 0 {
			s.host.send(from, s.request())
		}
	}
}
