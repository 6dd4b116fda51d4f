package netsim

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// Network joins PacketConns. Each is a host of its own unless Listen gave several the same
// IP address. All methods are safe for concurrent use.
type Network struct {
	seed  uint64
	clock *monotime.Clock

	mu     sync.Mutex
	closed bool
	conns  map[netip.AddrPort]*PacketConn
	names  map[Name]*PacketConn
	hosts  uint32 // addresses given out so far
	ports  uint16 // ports given out so far

	standard Link
	links    map[route]Link
	pipes    map[route]*Pipe // between open conns that have sent to each other
	filter   func(from, to netip.AddrPort, data []byte) bool

	flight flight
	timer  *time.Timer
	alarm  monotime.Time // when timer fires; monotime.Never: it does not
	count  Count         // without what the present pipes count
	spare  []Arrival
}

// route is a direction between two addresses. In Network.links the zero AddrPort stands
// for any.
type route struct{ from, to netip.AddrPort }

// Count counts what became of the datagrams of a Network. When nothing is under way,
// Sent + Duplicated = Received + Lost + TooLarge + QueueFull + Filtered + NoSocket +
// BufferFull + Unread.
type Count struct {
	PipeCount
	Filtered   uint64 // dropped by SetFilter's function
	NoSocket   uint64 // nobody at the destination
	BufferFull uint64 // receive buffer full, or more than maxInFlight under way
	Received   uint64 // read by their receivers
	Unread     uint64 // waiting in receive buffers, or were when those closed
}

// maxInFlight bounds the datagrams under way in a Network. They pile up where fast senders
// meet long delays; what comes on top is dropped. 65536 full datagrams are 100 MB.
const maxInFlight = 1 << 16

var (
	errInUse    = errors.New("address already in use")
	errNoHost   = errors.New("no such host in this network")
	errNotAddr  = errors.New("not an address of this network")
	errPortsOut = errors.New("no free port")
)

// New returns an empty network whose chances follow from seed: each direction between two
// addresses has its own, whatever the order in which they are used. Within a
// testing/synctest bubble it follows the bubble's time.
func New(seed uint64) *Network {
	return &Network{
		seed:  seed,
		clock: monotime.NewClock(),
		conns: make(map[netip.AddrPort]*PacketConn),
		names: make(map[Name]*PacketConn),
		links: make(map[route]Link),
		pipes: make(map[route]*Pipe),
		alarm: monotime.Never,
	}
}

// Now returns the network's time, which Link.Blackout is asked about.
func (n *Network) Now() monotime.Time { return n.clock.Now() }

// Close closes every PacketConn. Datagrams under way are lost.
func (n *Network) Close() error {
	n.mu.Lock()
	n.closed = true
	open := make([]*PacketConn, 0, len(n.conns))
	for _, c := range n.conns {
		open = append(open, c)
	}
	n.flight = flight{}
	if n.timer != nil {
		n.timer.Stop()
	}
	n.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
	return nil
}

// SetDefault sets the link of all directions that SetLink says nothing about.
func (n *Network) SetDefault(l Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.standard = l
	n.relink()
}

// SetLink sets the link of what is sent from one address to another. The zero AddrPort
// stands for any address; a link for exactly two addresses goes before one for any
// destination, that before one for any source. It holds for datagrams sent from now on.
func (n *Network) SetLink(from, to netip.AddrPort, l Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[route{from, to}] = l
	n.relink()
}

// SetFilter makes drop decide about each datagram before its link does: true drops it. It
// is called by the sending goroutines, without locks, and must not keep or change data.
// Nil takes the filter away.
func (n *Network) SetFilter(drop func(from, to netip.AddrPort, data []byte) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.filter = drop
}

// Count returns the counters.
func (n *Network) Count() Count {
	n.mu.Lock()
	defer n.mu.Unlock()
	sum := n.count
	for _, p := range n.pipes {
		sum.PipeCount.add(&p.Count)
	}
	for _, c := range n.conns {
		c.account(&sum)
	}
	return sum
}

func (c *PipeCount) add(o *PipeCount) {
	c.Sent += o.Sent
	c.Delivered += o.Delivered
	c.Lost += o.Lost
	c.TooLarge += o.TooLarge
	c.QueueFull += o.QueueFull
	c.Duplicated += o.Duplicated
	c.Reordered += o.Reordered
	c.Damaged += o.Damaged
}

func (n *Network) relink() {
	for r, p := range n.pipes {
		p.SetLink(n.linkOf(r))
	}
}

func (n *Network) linkOf(r route) Link {
	for _, key := range [...]route{r, {from: r.from}, {to: r.to}} {
		if l, ok := n.links[key]; ok {
			return l
		}
	}
	return n.standard
}

func (n *Network) pipe(r route) *Pipe {
	p := n.pipes[r]
	if p == nil {
		p = NewPipe(n.seed, r.hash(), n.linkOf(r))
		n.pipes[r] = p
	}
	return p
}

func (r route) hash() uint64 {
	h := fnv.New64a()
	h.Write(r.from.AppendTo(nil))
	h.Write([]byte{'>'})
	h.Write(r.to.AppendTo(nil))
	return h.Sum64()
}

// send puts a datagram on its way. data is copied.
func (n *Network) send(r route, name Name, data []byte) {
	n.mu.Lock()
	filter := n.filter
	n.mu.Unlock()
	drop := filter != nil && filter(r.from, r.to, data)
	data = append([]byte(nil), data...)

	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case drop:
		n.count.Sent++
		n.count.Filtered++
		return
	case n.conns[r.to] == nil || n.conns[r.from] == nil:
		n.count.Sent++
		n.count.NoSocket++
		return
	}
	now := n.clock.Now()
	n.spare = n.pipe(r).Send(now, data, n.spare[:0])
	for i, a := range n.spare {
		if n.flight.len() >= maxInFlight {
			n.count.BufferFull++
		} else {
			n.flight.push(a.At, packet{route: r, name: name, data: a.Data})
		}
		n.spare[i] = Arrival{}
	}
	n.deliver(now)
}

// deliver hands out what has arrived by now and sets the timer for what has not.
func (n *Network) deliver(now monotime.Time) {
	for n.flight.next() <= now {
		p := n.flight.pop()
		switch c := n.conns[p.to]; {
		case c == nil:
			n.count.NoSocket++
		case !c.put(p):
			n.count.BufferFull++
		}
	}
	if next := n.flight.next(); next < n.alarm {
		n.alarm = next
		wait := next.Sub(now)
		if n.timer == nil {
			n.timer = time.AfterFunc(wait, n.tick)
		} else {
			n.timer.Reset(wait)
		}
	}
}

func (n *Network) tick() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.alarm = monotime.Never
	n.deliver(n.clock.Now())
}

// Listen opens a PacketConn at addr. Port 0 stands for a free port, an unspecified IP
// address (0.0.0.0 or ::, or the zero Addr) for a host of its own.
func (n *Network) Listen(addr netip.AddrPort) (*PacketConn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ip := addr.Addr().Unmap()
	if !ip.IsValid() || ip.IsUnspecified() {
		ip = n.newHost(ip.Is6())
	}
	addr = netip.AddrPortFrom(ip, addr.Port())
	if addr.Port() == 0 {
		var ok bool
		if addr, ok = n.freePort(ip); !ok {
			return nil, &net.OpError{Op: "listen", Net: network, Err: errPortsOut}
		}
	}
	return n.open(addr, "")
}

// ListenName opens a PacketConn whose address, and that which its receivers see, is a Name
// and not a *net.UDPAddr: a carrier with addresses of its own kind.
func (n *Network) ListenName(name Name) (*PacketConn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names[name] != nil || name == "" {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: name, Err: errInUse}
	}
	return n.open(netip.AddrPortFrom(n.newHost(false), 1), name)
}

// ListenPacket is Listen for an address in text form, "ip:port" with an empty ip for a host
// of its own, or the text of a Name. It makes a Network what a listener can be told to open
// its sockets with; the first argument is not looked at.
func (n *Network) ListenPacket(_, address string) (net.PacketConn, error) {
	addr, ok := parse(address)
	var c *PacketConn
	var err error
	if ok {
		c, err = n.Listen(addr)
	} else {
		c, err = n.ListenName(Name(address))
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// parse reads "ip:port" where the ip may be missing.
func parse(address string) (netip.AddrPort, bool) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, false
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	if host == "" {
		return netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(p)), true
	}
	ip, err := netip.ParseAddr(host)
	return netip.AddrPortFrom(ip, uint16(p)), err == nil
}

func (n *Network) open(addr netip.AddrPort, name Name) (*PacketConn, error) {
	if n.closed {
		return nil, &net.OpError{Op: "listen", Net: network, Err: net.ErrClosed}
	}
	if n.conns[addr] != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: net.UDPAddrFromAddrPort(addr), Err: errInUse}
	}
	c := newPacketConn(n, addr, name)
	n.conns[addr] = c
	if name != "" {
		n.names[name] = c
	}
	return c, nil
}

// forget removes c, so that its address is free again.
func (n *Network) forget(c *PacketConn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conns[c.addr] != c {
		return
	}
	delete(n.conns, c.addr)
	delete(n.names, c.name)
	c.account(&n.count)
	for r, p := range n.pipes {
		if r.from == c.addr || r.to == c.addr {
			n.count.PipeCount.add(&p.Count)
			delete(n.pipes, r)
		}
	}
}

// newHost returns 10.0.0.1, 10.0.0.2 and so on, or the same count under fd00::.
func (n *Network) newHost(v6 bool) netip.Addr {
	n.hosts++
	b := [4]byte{10, byte(n.hosts >> 16), byte(n.hosts >> 8), byte(n.hosts)}
	if !v6 {
		return netip.AddrFrom4(b)
	}
	return netip.AddrFrom16([16]byte{0: 0xfd, 13: b[1], 14: b[2], 15: b[3]})
}

// freePort finds a port among those that systems give to clients, 49152 to 65535.
func (n *Network) freePort(ip netip.Addr) (netip.AddrPort, bool) {
	const first, count = 49152, 1 << 14
	for range count {
		addr := netip.AddrPortFrom(ip, first+n.ports%count)
		n.ports++
		if n.conns[addr] == nil {
			return addr, true
		}
	}
	return netip.AddrPort{}, false
}

// find returns the address behind addr, which need not be open except for a Name.
func (n *Network) find(addr net.Addr) (netip.AddrPort, error) {
	switch a := addr.(type) {
	case *net.UDPAddr:
		if a == nil {
			return netip.AddrPort{}, errNotAddr
		}
		ap := a.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
	case Name:
		n.mu.Lock()
		defer n.mu.Unlock()
		if c := n.names[a]; c != nil {
			return c.addr, nil
		}
		return netip.AddrPort{}, fmt.Errorf("%w: %s", errNoHost, a)
	}
	return netip.AddrPort{}, errNotAddr
}
