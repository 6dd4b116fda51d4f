package dialect

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Server is a peer that is dialed. It sends every message of an application back in the mode and on the channel it
// came in, and closes a connection in its own way when "bye" comes.
type Server struct {
	h     *Habits
	pc    net.PacketConn
	conns map[netip.AddrPort]*Conn
	boxed bool

	// Refused counts requests 2 that were answered with a refusal or not at all.
	Refused int
	// All are the connections so far, in order.
	All  []*Conn
	done chan struct{}
}

// Serve plays a server at pc until that is closed; Wait waits for its end.
func Serve(h Habits, pc net.PacketConn) *Server {
	s := &Server{h: &h, pc: pc, conns: map[netip.AddrPort]*Conn{}, done: make(chan struct{})}
	go s.run()
	return s
}

// Wait returns when the server has ended; its fields may be read then.
func (s *Server) Wait() { <-s.done }

func (s *Server) run() {
	defer close(s.done)
	loop(s.pc, s.h.Slow, func(b []byte, from netip.AddrPort) { s.take(b, from) }, func() {
		for _, c := range s.All {
			c.tick()
		}
	})
}

// loop gives what comes to take, and calls tick now and then, until pc is closed.
func loop(pc net.PacketConn, slow time.Duration, take func(b []byte, from netip.AddrPort), tickAll func()) {
	buf := make([]byte, 4096)
	next := time.Now().Add(tick)
	for {
		_ = pc.SetReadDeadline(next)
		n, from, err := pc.ReadFrom(buf)
		e, ok := err.(net.Error)
		if err != nil && !(ok && e.Timeout()) {
			return
		}
		if u, ok := from.(*net.UDPAddr); ok && err == nil && n > 0 {
			take(bytes.Clone(buf[:n]), u.AddrPort())
			time.Sleep(slow)
		}
		if !time.Now().Before(next) {
			next = time.Now().Add(tick)
			tickAll()
		}
	}
}

func (s *Server) send(b []byte, to netip.AddrPort) {
	_, _ = s.pc.WriteTo(b, net.UDPAddrFromAddrPort(to))
}

func (s *Server) take(b []byte, from netip.AddrPort) {
	if b[0]&0x80 != 0 || len(b) == 1 {
		if c := s.conns[from]; c != nil {
			c.receive(b)
		}
		return
	}
	if !wire.HasMagic(b[1:]) && b[0] != 0x01 && b[0] != 0x02 {
		return
	}
	if s.h.PingFirst {
		s.send(wire.AppendDatagramHeader(nil, wire.FrameSetID, 0), from)
		s.send([]byte{0x84, 0, 0, 0, 0, 0, 0x48, 0, 0, 0, 0, 0, 0, 0, 0, 9}, from)
	}
	switch protocol.ID(b[0]) {
	case protocol.IDUnconnectedPing, protocol.IDUnconnectedPingOpen:
		pong := Pong{Time: int64(binary.BigEndian.Uint64(b[1:])), GUID: s.h.guid(), Data: []byte("MCPE;" + s.h.Name + ";")}
		if s.h.Pong != nil {
			s.h.Pong(&pong)
		}
		s.send(pong.append(nil), from)
	case protocol.IDOpenConnectionRequest1:
		s.request1(b, from)
	case protocol.IDOpenConnectionRequest2:
		s.request2(b, from)
	}
}

// cookie is that of every client.
const cookie = 0xc00c1e55

func (s *Server) request1(b []byte, from netip.AddrPort) {
	mtu := len(b) + protocol.UDPOverhead
	if s.h.BoxFirst && !s.boxed {
		s.boxed = true
		box := wire.OpenReply1{}
		s.send(box.Append(nil), from)
		return
	}
	if b[17] != s.h.Version {
		no := wire.IncompatibleVersion{Version: s.h.Version, GUID: s.h.guid()}
		if s.h.Echo19 {
			no.Version = b[17]
		}
		r := no.Append(nil)
		if s.h.MagicFirst {
			copy(r[1:], r[2:2+wire.MagicSize])
			r[1+wire.MagicSize] = s.h.Version
		}
		s.send(r, from)
		return
	}
	if s.h.Grant != nil {
		mtu = s.h.Grant(mtu)
	}
	yes := wire.OpenReply1{GUID: s.h.guid(), Security: s.h.Cookie, Cookie: cookie, MTU: mtu}
	r := yes.Append(nil)
	if s.h.PadReply1 {
		r = append(r, make([]byte, len(b)-len(r))...)
	}
	s.send(r, from)
}

func (s *Server) request2(b []byte, from netip.AddrPort) {
	var r wire.OpenRequest2
	if r.Parse(b, s.h.Cookie) != nil || s.h.Cookie && r.Cookie != cookie {
		s.Refused++
		return
	}
	old := s.conns[from]
	if old != nil && s.h.Repeated2 != AnswerAgain {
		s.Refused++
		if s.h.Repeated2 == RefuseIt {
			no := wire.Refusal{ID: byte(protocol.IDAlreadyConnected), GUID: s.h.guid()}
			s.send(no.Append(nil), from)
		}
		return
	}
	answer := wire.AppendMagic([]byte{byte(protocol.IDOpenConnectionReply2)})
	answer = binary.BigEndian.AppendUint64(answer, uint64(s.h.guid()))
	answer = s.h.address(answer, from)
	answer = binary.BigEndian.AppendUint16(answer, uint16(r.MTU))
	answer = append(append(answer, 0), s.h.Trailing...)
	s.send(answer, from)
	if old != nil {
		return
	}
	c := newConn(s.h, true, r.MTU, from, func(b []byte) { s.send(b, from) }, echo)
	s.conns[from] = c
	s.All = append(s.All, c)
	if s.h.PingFirst {
		c.ping()
	}
}

// echo is what a server does with messages.
func echo(c *Conn, m Message) {
	if string(m.Data) == Bye {
		c.close()
		return
	}
	c.Send(m)
}

// Bye is the message that makes a peer close the connection.
const Bye = "\xfebye"
