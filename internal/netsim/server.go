package netsim

import (
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/guard"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/protocol"
)

// server is the listening host: it decides about strangers as the runtime does.
type server struct {
	host     host
	offline  offline.Server
	halfOpen guard.HalfOpen
	table    []*peer // by address
	paths    []*Pipe // to each address
	live     int     // connections that are not over
}

// restartSilence is how long a connection must have been silent before another one from
// its address replaces it, as in the runtime.
const restartSilence = 3 * time.Second

// overdraft is what an unproven address may get beyond three times what it sent: the
// session lets one datagram overdraw its bound, a 0x10.
const overdraft = 250

// pongData is what pings are answered with: below three times a ping.
const pongData = "MCPE;a virtual server;11;1.19.30"

func newServer(w *World) *server {
	s := &server{host: host{w: w}}
	s.host.node = s
	s.host.addr = w.address(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1}), 19132), &s.host)
	w.addrs[s.host.addr].validated = true
	cookies := offline.CookiesRequired
	if !w.sc.Cookies {
		cookies = offline.CookiesOff
	}
	var key siphash.Key
	for i := range key {
		key[i] = byte(w.rng.Uint32())
	}
	s.offline.Init(w.now, &offline.ServerConfig{
		GUID: w.guid(), Cookies: cookies, Key: key, MaxMTU: w.sc.ServerMTU,
	})
	s.halfOpen.Init(w.sc.HalfOpenPerIP, w.sc.HalfOpen)
	return s
}

func (s *server) path(to int32) *Pipe { return s.paths[to] }

// attach makes the pipe for everything that is sent to an address.
func (s *server) attach(addr int32, p *Pipe) {
	for int(addr) >= len(s.paths) {
		s.paths = append(s.paths, nil)
		s.table = append(s.table, nil)
	}
	s.paths[addr] = p
}

func (s *server) datagram(from int32, buf *pool.Buffer, damaged bool) {
	w := s.host.w
	data := buf.Bytes()
	if a := &w.addrs[from]; !a.validated {
		a.in += len(data)
	}
	if len(data) > 0 && data[0]&0x80 != 0 {
		if p := s.table[from]; p != nil {
			p.receive(buf, damaged)
			return
		}
	}
	var room [offline.ReplySize]byte
	reply, out := s.offline.Handle(w.now, w.addrs[from].addr, data, room[:0])
	switch out.Kind {
	case offline.Reply:
		s.answer(from, reply)
	case offline.Ping:
		s.answer(from, s.offline.AppendPong(nil, out.Time, []byte(pongData)))
	case offline.Accept:
		if w.sc.Cookies {
			w.addrs[from].validated = true
		}
		s.request(from, &out)
	}
}

// request decides on a valid request 2.
func (s *server) request(from int32, out *offline.Outcome) {
	w := s.host.w
	var room [offline.ReplySize]byte
	old := s.table[from]
	if old != nil {
		switch old.sess.State() {
		case session.Handshaking:
			if out.GUID == old.sess.PeerGUID() {
				s.answer(from, s.offline.AppendReply2(room[:0], old.sess.MTU(), w.addrs[from].addr))
				return
			}
		case session.Connected:
			if w.now.Sub(old.sess.LastHeard()) < restartSilence {
				s.answer(from, s.offline.AppendRefusal(room[:0], protocol.IDAlreadyConnected))
				return
			}
		}
	}
	if w.sc.MaxConnections > 0 && s.live >= w.sc.MaxConnections {
		s.answer(from, s.offline.AppendRefusal(room[:0], protocol.IDNoFreeConnections))
		return
	}
	stray := false
	if old != nil {
		// What it sent and is under way reaches the client's next connection, which
		// cannot tell it from its own: datagrams name no connection.
		stray = old.sess.State() < session.Closed || w.now.Sub(old.since) < time.Second
		old.kill("replaced")
	}
	p := newServerPeer(w, from, out)
	p.damaged = stray
	s.table[from] = p
	s.live++
	if evicted, evict := s.halfOpen.Add(w.now, w.addrs[from].addr); evict {
		for addr, o := range s.table {
			if o != nil && o != p && w.addrs[addr].addr == evicted {
				s.table[addr] = nil
				o.kill("evicted")
			}
		}
	}
	s.answer(from, s.offline.AppendReply2(room[:0], out.MTU, w.addrs[from].addr))
	p.turn(false)
}

// answer sends an offline packet.
func (s *server) answer(to int32, data []byte) {
	s.owes(to, len(data))
	if len(data) > protocol.MaxMTU-protocol.UDPOverhead {
		s.host.w.violated("8 datagram size", "offline packet of %d bytes", len(data))
	}
	s.host.send(to, data)
}

// owes counts what leaves for an address.
func (s *server) owes(to int32, bytes int) {
	w := s.host.w
	a := &w.addrs[to]
	if a.validated {
		return
	}
	a.out += bytes
	switch {
	case a.in == 0:
		w.violated("9 amplification", "%v got %d bytes and never sent any", a.addr, a.out)
	case a.out > 3*a.in+overdraft:
		w.violated("9 amplification", "%v got %d bytes for %d", a.addr, a.out, a.in)
	}
}

// opened counts a connection out of the half-open ones.
func (s *server) opened(p *peer) {
	s.halfOpen.Remove(s.host.w.addrs[p.remote].addr)
	s.host.w.addrs[p.remote].validated = true
}

// gone forgets a connection, and not a later one of the same address.
func (s *server) gone(p *peer) {
	if s.table[p.remote] == p {
		s.table[p.remote] = nil
		s.halfOpen.Remove(s.host.w.addrs[p.remote].addr)
	}
}

// sweep checks the books.
func (s *server) sweep() {
	w := s.host.w
	open, live := 0, 0
	for _, p := range w.peers {
		if p.side != session.Server {
			continue
		}
		if !p.over {
			live++
		}
		if p.sess.State() == session.Handshaking {
			open++
			if s.table[p.remote] != p {
				w.violated("19 one session per address", "%s is not in the table", p)
			}
		} else if s.table[p.remote] != p && p.sess.State() < session.Closed {
			w.violated("19 one session per address", "%s lives beside another of its address", p)
		}
	}
	if live != s.live {
		w.violated("19 one session per address", "%d connections live, %d counted", live, s.live)
	}
	if n := w.sc.HalfOpen; n > 0 && open > n || open > guard.DefaultHalfOpenTotal {
		w.violated("12 half-open cap", "%d connections are half open", open)
	}
}
