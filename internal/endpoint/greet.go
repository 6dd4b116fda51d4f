package endpoint

import (
	"net/netip"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/protocol"
)

// greet answers a stranger: pings, connection requests, or nothing. It runs on the
// reader.
func (e *Endpoint) greet(now monotime.Time, s *stranger) {
	if !e.cfg.Accepting {
		reason := offline.DropUnknown
		if len(s.data) > 0 && s.data[0]&0x80 != 0 {
			reason = offline.DropNoSession
		}
		e.drop(now, reason, s.client, s.data)
		return
	}
	b := pool.Get(offline.ReplySize)
	reply, out := e.server.Handle(now, s.client, s.data, b.B[:0])
	switch out.Kind {
	case offline.Reply:
		if out.ID == protocol.IDOpenConnectionRequest1 {
			e.counters.request1.Add(1)
		}
		b.N = len(reply)
		e.reply(s, b)
		return
	case offline.Ping:
		e.ping(now, s, &out)
	case offline.Accept:
		e.counters.request2.Add(1)
		e.request(now, s, &out)
	default:
		if e.cfg.Raw != nil && foreign(out.Reason, s.data) {
			e.raw(now, s)
			break
		}
		e.drop(now, out.Reason, s.client, s.data)
	}
	b.Release()
}

// exempted reports whether the bounds that hold for each network do not hold for this stranger.
func (e *Endpoint) exempted(s *stranger) bool { return e.blocks.exempt.Has(s.client.Addr()) }

// ping answers an unconnected ping, within the budget.
func (e *Endpoint) ping(now monotime.Time, s *stranger, out *offline.Outcome) {
	e.counters.pings.Add(1)
	switch {
	case out.OnlyIfOpen && (!e.admitting.Load() || e.crowded()):
		e.drop(now, offline.DropNoRoom, s.client, s.data)
		e.counters.pongsSuppressed.Add(1)
		return
	case !e.mayPong(now, s):
		e.drop(now, offline.DropRateLimited, s.client, s.data)
		e.counters.pongsSuppressed.Add(1)
		return
	}
	var data []byte
	if e.cfg.Pong != nil {
		var ok bool
		e.reader.ping = PingRequest{Peer: s.from, Client: s.client, GUID: out.GUID, OnlyIfOpen: out.OnlyIfOpen}
		if data, ok = e.askPong(&e.reader.ping); !ok {
			e.counters.pongsSuppressed.Add(1)
			return
		}
	} else if p := e.pong.Load(); p != nil {
		data = *p
	}
	b := pool.Get(offline.PongSize)
	b.N = len(e.server.AppendPong(b.B[:0], out.Time, data))
	e.counters.pongs.Add(1)
	e.reply(s, b)
}

// mayPong spends a token of the budget of pongs. An exempt network has no budget of its own.
func (e *Endpoint) mayPong(now monotime.Time, s *stranger) bool {
	if e.exempted(s) {
		return e.pongs.AllowAny(now)
	}
	return e.pongs.Allow(now, s.client.Addr())
}

func (e *Endpoint) askPong(r *PingRequest) (data []byte, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			e.panicked("pong function", v)
		}
	}()
	return e.cfg.Pong(r), true
}

// request decides on a valid request 2.
func (e *Endpoint) request(now monotime.Time, s *stranger, out *offline.Outcome) {
	old := e.table.conns[s.from.AddrPort]
	if old != nil {
		switch old.standing(now, out.GUID, !e.cfg.NoCookies) {
		case standingAgain:
			// The reply was lost, and a refusal would end the client's attempt.
			e.reply2(s, old.MTU())
			return
		case standingAlive:
			e.refuse(s, protocol.IDAlreadyConnected)
			return
		case standingAsked:
			e.drop(now, offline.DropAsked, s.client, s.data)
			return
		}
	} else if g, ok := e.table.guests[s.from.AddrPort]; ok && g.guid == out.GUID && !g.over(e, now) {
		e.reply2(s, int(g.mtu)) // the same
		return
	}
	if !e.admitting.Load() || e.crowded() || !e.exempted(s) && e.hosts.full(s.client.Addr()) {
		e.refuse(s, protocol.IDNoFreeConnections)
		return
	}
	if !e.cfg.NoCookies && old == nil && !e.exempted(s) && !e.table.halfOpen.HasRoom(now, s.client.Addr()) {
		e.drop(now, offline.DropRateLimited, s.client, s.data)
		return
	}
	if e.cfg.Admit != nil {
		answer := e.askAdmit(&Request{Peer: s.from, Client: s.client, GUID: out.GUID, Version: out.Version, MTU: out.MTU})
		if answer == RefuseSilently {
			e.drop(now, offline.DropRefused, s.client, s.data)
			return
		}
		if answer != 0 {
			e.refuse(s, protocol.ID(answer))
			return
		}
	}
	if old != nil {
		delete(e.table.conns, s.from.AddrPort)
		e.table.halfOpen.Remove(s.from.AddrPort) // that it went on is not the new one's
		old.kill(ErrReplaced)
	}
	e.table.host(e, now, s, out)
	e.reply2(s, out.MTU)
}

// wayTo returns the way to a stranger who becomes a peer: that of the last one, if it is the same.
func (e *Endpoint) wayTo(from udp.Peer, local netip.Addr, client netip.AddrPort) *way {
	if client != from.AddrPort {
		return &way{local: local, behind: &client}
	}
	if e.lastWay == nil || e.lastWay.local != local {
		e.lastWay = &way{local: local}
	}
	return e.lastWay
}

func (e *Endpoint) askAdmit(r *Request) (answer byte) {
	defer func() {
		if v := recover(); v != nil {
			e.panicked("admission function", v)
			answer = RefuseSilently
		}
	}()
	return e.cfg.Admit(r)
}

// crowded reports whether there is no room for another connection.
func (e *Endpoint) crowded() bool {
	return e.cfg.MaxConnections > 0 && int(e.live.Load()) >= e.cfg.MaxConnections || e.accepts.full()
}

func (e *Endpoint) reply2(s *stranger, mtu int) {
	b := pool.Get(offline.ReplySize)
	client := s.client
	if udp.Synthetic(client.Addr()) {
		client = netip.AddrPort{}
	}
	b.N = len(e.server.AppendReply2(b.B[:0], mtu, client))
	e.reply(s, b)
}

func (e *Endpoint) refuse(s *stranger, id protocol.ID) {
	b := pool.Get(offline.ReplySize)
	b.N = len(e.server.AppendRefusal(b.B[:0], id))
	e.counters.rejected.Add(1)
	e.reply(s, b)
}

// standing is what a connection has to say about a proven request from its address.
type standing uint8

const (
	standingAlive   standing = iota // it lives, and the request is turned down
	standingAgain                   // it is the request's own, repeated
	standingAsked                   // it is asked whether it lives, and the request's repetition will tell
	standingForlorn                 // it gives way
)

// standing judges by what only the owner of the address can bring about, together with
// silence: the GUID alone, which anybody may know, never ends a connection, and neither
// does a request that proves nothing, while the connection has not found its peer dead itself.
func (c *Conn) standing(now monotime.Time, guid int64, proven bool) standing {
	c.mu.Lock()
	s := c.stands(now, guid, proven)
	w := work(0)
	if s == standingAsked {
		w = c.transmit(now, c.ep.stepBudget, false)
	}
	c.mu.Unlock()
	c.after(w)
	return s
}

// stands is standing with c.mu held, which leaves it to the caller to send.
func (c *Conn) stands(now monotime.Time, guid int64, proven bool) standing {
	switch c.sess.State() {
	case session.Handshaking:
		if guid == c.sess.PeerGUID() {
			return standingAgain
		}
	case session.Connected:
		if !proven || now.Sub(c.sess.LastHeard()) < restartSilence {
			return standingAlive
		}
		if !c.sess.Forlorn(now) {
			return standingAsked
		}
	}
	return standingForlorn
}

// SetPong sets the data that answers unconnected pings, of which it keeps a copy.
func (e *Endpoint) SetPong(data []byte) {
	p := append([]byte(nil), data...)
	for _, m := range e.members {
		m.pong.Store(&p)
	}
}
