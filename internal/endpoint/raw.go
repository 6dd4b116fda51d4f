package endpoint

import (
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
)

// foreign reports whether a datagram that the handshake has no use for is of another
// protocol, such as the query protocol of Minecraft, and not of RakNet, whose connected
// datagrams may come from addresses that have no connection any more.
func foreign(reason offline.DropReason, data []byte) bool {
	switch reason {
	case offline.DropUnknown, offline.DropMagic:
		return true
	case offline.DropNoSession:
		first := data[0]
		return first >= 0xc0 && first != 0xc0 && first != 0xe0 // neither frames, nor NACK, nor ACK
	}
	return false
}

// raw lets the user answer a datagram of another protocol, within the budget.
func (e *Endpoint) raw(now monotime.Time, s *stranger) {
	if !e.exempted(s) && !e.raws.Allow(now, s.client.Addr()) {
		e.drop(now, offline.DropRateLimited, s.client, s.data)
		return
	}
	answer := e.askRaw(&RawPacket{Peer: s.from, Client: s.client, Data: s.data})
	if len(answer) == 0 {
		e.drop(now, offline.DropRaw, s.client, s.data)
		return
	}
	b := pool.Get(maxRaw)
	b.N = copy(b.B[:maxRaw], answer)
	e.counters.raws.Add(1)
	e.reply(s, b)
}

func (e *Endpoint) askRaw(p *RawPacket) (answer []byte) {
	defer func() {
		if v := recover(); v != nil {
			e.panicked("function for other protocols", v)
			answer = nil
		}
	}()
	return e.cfg.Raw(p)
}
