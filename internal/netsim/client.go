package netsim

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// client is a dialling host: it dials, plays one connection after another, and stops.
type client struct {
	w     *World
	id    int
	plan  *ClientPlan
	host  host
	up    *Pipe // to the server
	down  *Pipe // from it, whatever address it is sent to
	links [2]Link
	cut   [2]int // blackouts under way, by direction

	dialer  offline.Client
	dialing bool
	giveUp  monotime.Time
	armed   monotime.Time
	guid    int64
	ports   uint16
	dials   int
	peer    *peer // the connection, if there is one
	done    bool
	ended   error // why the last dial or connection came to its end
}

// errDialTimeout is the end of a dial that no answer came to.
var errDialTimeout = errors.New("dial timed out")

func newClient(w *World, id int) *client {
	c := &client{w: w, id: id, plan: &w.sc.Clients[id], links: [2]Link{w.sc.Clients[id].Up, w.sc.Clients[id].Down}}
	c.host = host{w: w, node: c}
	c.up = NewPipe(w.sc.Seed, uint64(id)<<1|1<<32, c.links[0])
	c.down = NewPipe(w.sc.Seed, uint64(id)<<1|1|1<<32, c.links[1])
	c.move()
	for i := range c.plan.Faults {
		f := &c.plan.Faults[i]
		w.push(event{at: w.now.Add(f.At), kind: evFault, client: c, arg: int32(i << 1)})
		if f.For > 0 {
			w.push(event{at: w.now.Add(f.At + f.For), kind: evFault, client: c, arg: int32(i<<1 | 1)})
		}
	}
	return c
}

func (c *client) path(int32) *Pipe { return c.up }

// move takes the client to a new address: a fresh local port, or a NAT that forgot.
func (c *client) move() {
	ip := netip.AddrFrom4([4]byte{192, 168, 1, byte(10 + c.id)})
	if c.w.sc.OneIP {
		ip = netip.AddrFrom4([4]byte{192, 168, 1, 9})
	}
	if c.host.addr != 0 {
		c.w.addrs[c.host.addr].host = nil
	}
	c.ports++
	c.host.addr = c.w.address(netip.AddrPortFrom(ip, 10000+uint16(c.id)*100+c.ports), &c.host)
	c.w.server.attach(c.host.addr, c.down)
}

// dial begins the offline handshake.
func (c *client) dial() {
	w := c.w
	if c.host.paused {
		w.push(event{at: c.host.awakened, kind: evDial, client: c})
		return
	}
	c.host.mute = false
	c.dials++
	w.report.Dials++
	c.dialing, c.guid = true, w.guid()
	c.giveUp = w.now.Add(c.plan.DialFor)
	c.dialer.Init(w.now, &offline.ClientConfig{GUID: c.guid, Version: c.plan.Version, MaxMTU: c.plan.MTU, ServerAddr: w.addrs[w.server.host.addr].addr})
	c.negotiate()
}

func (c *client) negotiateDue(at monotime.Time) {
	if !c.dialing || at != c.armed {
		return
	}
	if c.host.paused {
		c.armed = c.host.awakened
		c.w.push(event{at: c.armed, kind: evNegotiate, client: c})
		return
	}
	c.armed = 0
	c.dialer.Advance(c.w.now)
	c.negotiate()
}

// negotiate does what the dialler wants done now.
func (c *client) negotiate() {
	w := c.w
	if c.dialer.NeedFreshPort() {
		c.move()
		c.guid = w.guid()
		c.dialer.Restart(w.now, c.guid)
	}
	var room [protocol.MaxMTU]byte
	for n := 0; ; n++ {
		pkt, _ := c.dialer.Transmit(w.now, room[:0])
		if pkt == nil {
			break
		}
		if len(pkt) > protocol.MaxMTU-protocol.UDPOverhead || n > 4 {
			w.violated("8 datagram size", "client %d sends %d bytes, %d packets at once", c.id, len(pkt), n)
			return
		}
		c.host.send(w.server.host.addr, pkt)
	}
	if n, done, err := c.dialer.Result(); done {
		c.dialing = false
		if err != nil {
			c.failed(err)
			return
		}
		c.peer = newClientPeer(c, &n)
		c.peer.turn(false)
		return
	}
	if w.now >= c.giveUp {
		c.dialing = false
		c.failed(errDialTimeout)
		return
	}
	at := min(c.dialer.Deadline(), c.giveUp)
	if at <= w.now {
		w.violated("deadline", "the dialler of client %d is due at %v and has nothing to do", c.id, at.Sub(startTime))
	}
	if at != c.armed {
		c.armed = at
		w.push(event{at: at, kind: evNegotiate, client: c})
	}
}

func (c *client) datagram(from int32, buf *pool.Buffer, damaged bool) {
	data := buf.Bytes()
	if from != c.w.server.host.addr || len(data) == 0 {
		return
	}
	switch {
	case c.dialing && data[0]&0x80 == 0:
		c.dialer.Receive(c.w.now, data)
		c.dialer.Advance(c.w.now)
		c.negotiate()
	case c.peer != nil && wire.Classify(data) != wire.KindOffline:
		c.peer.receive(buf, damaged)
	}
}

// failed ends a dial without a connection.
func (c *client) failed(err error) {
	w := c.w
	w.report.Refused++
	c.ended = err
	var refused *offline.RefusedError
	x := c.plan.excuse
	switch {
	case errors.Is(err, errDialTimeout) && x.mayNotConnect():
	case errors.As(err, &refused) && refused.Reason == offline.NoFreeSlots && w.sc.MaxConnections > 0:
	case errors.As(err, &refused) && refused.Reason == offline.AlreadyConnected && (x.vanishes || c.dials > 1):
	case x.damaged:
	default:
		w.violated("16 liveness", "client %d could not connect: %v", c.id, err)
	}
	c.next()
}

// next begins the next dial, or ends the client.
func (c *client) next() {
	c.peer = nil
	if c.dials > c.plan.Redials {
		if !c.done {
			c.done = true
			c.w.finished++
		}
		return
	}
	c.w.push(event{at: c.w.now.Add(c.plan.RedialAfter), kind: evDial, client: c})
}

// vanish makes the client stop without a word, as in a crash.
func (c *client) vanish() {
	p := c.peer
	if p == nil {
		return
	}
	c.host.mute = true
	c.host.drain()
	if s := p.pair.server; s != nil {
		s.abandoned = c.w.now
	}
	p.pair.vanished = true
	p.kill("vanished")
}

// fault begins or ends a fault.
func (c *client) fault(arg int) {
	f, end := &c.plan.Faults[arg>>1], arg&1 == 1
	if c.w.trace != nil {
		c.w.note("client %d: %v, end %v", c.id, f, end)
	}
	switch f.Kind {
	case FaultBlackout, FaultBlackoutUp, FaultBlackoutDown:
		d := 1
		if end {
			d = -1
		}
		if f.Kind != FaultBlackoutDown {
			c.cut[0] += d
		}
		if f.Kind != FaultBlackoutUp {
			c.cut[1] += d
		}
	case FaultRebind:
		if c.peer != nil {
			c.peer.moved = true
			if s := c.peer.pair.server; s != nil {
				s.moved = true
			}
			c.move()
		}
	case FaultPauseClient:
		if !end {
			c.host.pause(c.w.now.Add(f.For))
		}
	case FaultPauseServer:
		if !end {
			c.w.server.host.pause(c.w.now.Add(f.For))
		}
	case FaultDeafClient, FaultDeafServer:
		if c.peer == nil {
			return
		}
		p := c.peer
		if f.Kind == FaultDeafServer {
			p = p.pair.server
		}
		if p != nil && !p.gone {
			p.app.deaf = !end
			if end && !p.host.paused {
				p.turn(false)
			}
		}
	case FaultMTU:
		c.links[0].MTU, c.links[1].MTU = 600, 600
		if end {
			c.links[0].MTU, c.links[1].MTU = c.plan.Up.MTU, c.plan.Down.MTU
		}
	case FaultDelay:
		for i, l := range []*Link{&c.plan.Up, &c.plan.Down} {
			c.links[i].Delay = l.Delay + 150*time.Millisecond
			if end {
				c.links[i].Delay = l.Delay
			}
		}
	}
	for i, p := range []*Pipe{c.up, c.down} {
		l := c.links[i]
		if c.cut[i] > 0 {
			l.Loss = 1
		}
		p.SetLink(l)
	}
}

// pairing is the two ends of one connection. The server's is missing until it exists; the
// client's is missing when a stranger asked for it, or an attempt that was given up.
type pairing struct {
	w        *World
	client   *peer
	server   *peer
	owner    *client
	plan     *ClientPlan
	number   int // of the client's dials
	opened   monotime.Time
	planning bool // the end is scheduled
	ending   bool // somebody was told to close
	vanished bool
}

// pairOf returns the pairing of a client's attempt.
func (w *World) pairOf(guid int64) *pairing {
	p := w.byGUID[guid]
	if p == nil {
		p = &pairing{w: w}
		w.byGUID[guid] = p
	}
	return p
}

// other returns the other end, which may be missing.
func (g *pairing) other(p *peer) *peer {
	if p == g.client {
		return g.server
	}
	return g.client
}

// complete is told when an end is connected.
func (g *pairing) complete(p *peer) {
	w := g.w
	if p != g.client {
		if g.client == nil && !w.sc.anyDamage() {
			w.violated("6 both sides connected", "%s is connected without a client", p)
		}
		return
	}
	w.report.Sessions++
	g.opened = w.now
	if at := g.plan.End.At; at > 0 {
		w.push(event{at: w.now.Add(at), kind: evPlan, peer: p})
	}
	if g.plan.excuse.damaged {
		// A damaged request may have named another client, so that nobody knows when all is delivered.
		w.push(event{at: w.now.Add(time.Minute), kind: evPlan, peer: p})
	}
}

// progress is told when something was sent or delivered: the planned end may have come.
func (g *pairing) progress() {
	if g.plan == nil || g.planning || g.ending || g.server == nil || g.plan.End.At > 0 {
		return
	}
	c, s := g.client, g.server
	finished := c.app.finished() && s.app.finished()
	switch g.plan.End.When {
	case EndWhenSent:
		finished = g.side(g.plan.End.Server).app.finished()
	default:
		finished = finished && (g.tainted() || c.out.outstanding == 0 && s.out.outstanding == 0)
	}
	if !finished {
		return
	}
	if g.plan.End.When == EndWhenSent {
		g.end()
		return
	}
	g.planning = true
	g.w.push(event{at: g.w.now.Add(g.plan.End.Idle), kind: evPlan, peer: c})
}

// planned is the moment of the planned end.
func (g *pairing) planned() {
	if !g.ending {
		g.end()
	}
}

func (g *pairing) side(server bool) *peer {
	if server {
		return g.server
	}
	return g.client
}

// end brings about the planned end of the connection.
func (g *pairing) end() {
	g.ending = true
	e := g.plan.End
	first := g.side(e.Server)
	if first == nil {
		first = g.client
	}
	switch e.How {
	case HowVanish:
		if g.client != nil && !g.client.gone {
			g.owner.vanish()
		}
		return
	case HowAbort:
		first.finish(true)
	case HowBoth:
		if o := g.other(first); o != nil {
			o.finish(false)
		}
		first.finish(false)
	default:
		first.finish(false)
	}
}

// String names the client.
func (c *client) String() string { return fmt.Sprintf("client %d", c.id) }

// isServer reports whether p is the server's end.
func (p *peer) isServer() bool { return p.side == session.Server }
