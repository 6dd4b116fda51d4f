package netsim

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
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

// String names the client.
func (c *client) String() string { return fmt.Sprintf("client %d", c.id) }
