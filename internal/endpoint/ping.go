package endpoint

import (
	"context"
	"net/netip"

	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/udp"
)

// Ping asks a server for its pong, again and again until it comes or ctx ends.
func (e *Endpoint) Ping(ctx context.Context, to udp.Peer) (Pong, error) {
	if p, connected := e.sock.RemotePeer(); connected {
		to = p
	}
	a, err := e.waits.add(to.AddrPort, false)
	if err != nil {
		return Pong{}, err
	}
	defer e.waits.remove(to.AddrPort, a)
	e.leadFor(ctx, a)
	defer a.lead.end()
	var pinger offline.Pinger
	pinger.Init(e.clock.Now(), &offline.PingerConfig{GUID: e.cfg.GUID, Epoch: e.epoch})
	for {
		if p, ok := pinger.Result(); ok {
			return Pong{Data: p.Data, GUID: p.GUID, RTT: p.RTT, From: to}, nil
		}
		now := e.clock.Now()
		for {
			b := pool.Get(pool.ClassSmall)
			pkt := pinger.Transmit(now, b.B[:0])
			if pkt == nil {
				b.Release()
				break
			}
			b.N = len(pkt)
			e.tx.push([]*pool.Buffer{b}, to, netip.Addr{}, nil)
		}
		e.tx.flush(leadBatches)
		pkt, err := e.await(ctx, a, pinger.Deadline())
		if err != nil {
			return Pong{}, err
		}
		now = e.clock.Now()
		if pkt != nil {
			pinger.Receive(now, pkt)
		}
		pinger.Advance(now)
	}
}
