package script

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/session"
)

// What is the same in every script.
const (
	clientGUID = 1001
	serverGUID = 2002
	clientPort = 50000
	// start is the monotonic time at which scripts begin: cookie keys change every
	// 30 s of it, so that they change every 30 s of a script, too. Time stamps in
	// messages count from the script's own beginning.
	start = monotime.Time(30 * time.Second)
	epoch = -30_000
)

var (
	clientAddr = netip.MustParseAddrPort("192.0.2.1:50000")
	serverAddr = netip.MustParseAddrPort("192.0.2.2:19132")
	cookieKey  = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// side is one end of the path.
type side uint8

const (
	client side = iota
	server
)

func (s side) String() string { return [...]string{"c", "s"}[s] }
func (s side) other() side    { return 1 - s }

// settings are what the set command changes, for both ends.
type settings struct {
	arq    arq.Config
	timing session.Timing
}

// world is two hosts, the path between them, and the time.
type world struct {
	now   monotime.Time
	path  path
	cfg   settings
	users [2]user
	dialer
	host  host
	lines []string
	quiet bool
	count [2]int // datagrams sent while quiet
	inUse int64
	fault error // of the machines, not of the script
}

// user is the application of one end.
type user struct {
	deaf     bool // does not read
	got      []string
	receipts []string
	closed   string
	state    string
}

func newWorld() *world {
	w := &world{now: start, inUse: pool.InUse()}
	w.path.delay = 10 * time.Millisecond
	w.dialer.w, w.host.w = w, w
	w.dialer.port, w.dialer.guid = clientPort, clientGUID
	return w
}

// close gives everything back and reports what was kept.
func (w *world) close() error {
	for _, n := range w.nodes() {
		n.conn.Release()
	}
	w.dialer.node, w.host.nodes = nil, nil
	if n := pool.InUse() - w.inUse; n != 0 && w.fault == nil {
		return fmt.Errorf("%d buffers were not returned", n)
	}
	return w.fault
}

// said returns what was reported since it was last called.
func (w *world) said() []string {
	l := w.lines
	w.lines = nil
	return l
}

// say reports something that happened now: who is "c->s" for a datagram, or an end.
func (w *world) say(who, format string, args ...any) {
	if !w.quiet {
		ms := float64(w.now.Sub(start)) / float64(time.Millisecond)
		w.lines = append(w.lines, fmt.Sprintf("%8.2f %-4s  %s", ms, who, fmt.Sprintf(format, args...)))
	}
}

// more reports a further line of what say reported last.
func (w *world) more(format string, args ...any) {
	if !w.quiet {
		w.lines = append(w.lines, fmt.Sprintf("%17s%s", "", fmt.Sprintf(format, args...)))
	}
}

// nodes returns every connection that lives, the client's first.
func (w *world) nodes() []*node {
	var all []*node
	if w.dialer.node != nil {
		all = append(all, w.dialer.node)
	}
	return append(all, w.host.nodes...)
}

// launch puts a datagram on the path. port is the client's, whoever sends.
func (w *world) launch(from side, port uint16, data []byte) {
	w.count[from]++
	fate := w.path.send(w.now, from, port, data)
	if !w.present(from.other(), port) {
		fate = " -- to nobody"
	}
	lines := showDatagram(data)
	w.say(from.String()+"->"+from.other().String(), "%s%s", lines[0], fate)
	for _, l := range lines[1:] {
		w.more("%s", l)
	}
}

// present reports whether anybody is there to receive.
func (w *world) present(s side, port uint16) bool {
	if s == server {
		return w.host.listening
	}
	return port == w.dialer.port && (w.dialer.dialing || w.dialer.node != nil)
}

// arrive hands a datagram to its end, which settles later.
func (w *world) arrive(f flight) {
	switch {
	case !w.present(f.from.other(), f.port):
	case f.from == client:
		w.host.receive(f.port, f.data)
	default:
		w.dialer.receive(f.data)
	}
}

// settle lets one end send and report what it has. Datagrams that arrive at the same
// moment are one batch: all are received before the end answers, as when a
// socket is read until it is empty.
func (w *world) settle(s side) {
	if s == client {
		w.dialer.settle()
		return
	}
	w.host.settle()
}

// deadline is when the end must be woken.
func (w *world) deadline(s side) monotime.Time {
	if s == client {
		return w.dialer.deadline()
	}
	return w.host.deadline()
}

// run lets time pass until limit, or until enough is true after some event.
func (w *world) run(limit monotime.Time, enough func() bool) error {
	for steps := 0; w.fault == nil; steps++ {
		if steps > 200_000 {
			return errors.New("the peers do not come to rest")
		}
		if enough != nil && enough() {
			return nil
		}
		at := min(w.path.next(), w.deadline(client), w.deadline(server))
		if at > limit {
			w.now = max(w.now, limit)
			return nil
		}
		w.now = max(w.now, at)
		arrived := false
		for _, to := range []side{client, server} {
			batch := w.path.take(w.now, to)
			for _, f := range batch {
				w.arrive(f)
			}
			if len(batch) > 0 {
				arrived = true
				w.settle(to)
			}
		}
		if arrived {
			continue
		}
		for _, s := range []side{client, server} {
			if w.deadline(s) <= w.now {
				w.settle(s)
			}
		}
	}
	return w.fault
}

// pong is what the host answers unconnected pings with.
const pong = "MCPE;script"

// host is the listening end: the offline server, and its connections by the client's
// port. What it decides is what the runtime decides around the same machines.
type host struct {
	w         *world
	listening bool
	offline   offline.Server
	refuse    byte // the packet that refuses every request 2; 0: none
	nodes     []*node
}

// restartSilence is how long a connection must have been silent before a request
// from its address with another GUID replaces it.
const restartSilence = 3 * time.Second

func (h *host) find(port uint16) *node {
	for _, n := range h.nodes {
		if n.port == port {
			return n
		}
	}
	return nil
}

func (h *host) receive(port uint16, data []byte) {
	n := h.find(port)
	if n != nil && len(data) > 0 && data[0]&0x80 != 0 {
		n.receive(data)
		return
	}
	from := netip.AddrPortFrom(clientAddr.Addr(), port)
	reply, out := h.offline.Handle(h.w.now, from, data, nil)
	switch out.Kind {
	case offline.Reply:
		h.w.launch(server, port, reply)
	case offline.Ping:
		h.w.launch(server, port, h.offline.AppendPong(nil, out.Time, []byte(pong)))
	case offline.Accept:
		h.accept(port, from, n, &out)
	default:
		h.w.say("s", "drops it: %v", out.Reason)
	}
}

// accept answers a valid request 2; old is the connection of the address, if any.
func (h *host) accept(port uint16, from netip.AddrPort, old *node, out *offline.Outcome) {
	w := h.w
	if old != nil {
		switch s := old.conn.State(); {
		case s == session.Handshaking && old.conn.PeerGUID() == out.GUID:
			w.launch(server, port, h.offline.AppendReply2(nil, old.conn.MTU(), from))
			return
		case s == session.Connected && w.now.Sub(old.conn.LastHeard()) < restartSilence:
			w.launch(server, port, h.offline.AppendRefusal(nil, refusalNames["already-connected"]))
			return
		}
	}
	if h.refuse != 0 {
		w.launch(server, port, h.offline.AppendRefusal(nil, refusalNames[refusalName(h.refuse)]))
		return
	}
	if old != nil {
		w.say("s", "gives up the earlier connection of this address")
		old.conn.Release()
		h.forget(old)
	}
	w.launch(server, port, h.offline.AppendReply2(nil, out.MTU, from))
	n := newNode(w, server, port, &session.Config{Side: session.Server, MTU: out.MTU, Version: out.Version,
		LocalGUID: serverGUID, PeerGUID: out.GUID, PeerAddr: from})
	h.nodes = append(h.nodes, n)
}

func (h *host) forget(gone *node) {
	for i, n := range h.nodes {
		if n == gone {
			h.nodes = append(h.nodes[:i], h.nodes[i+1:]...)
			return
		}
	}
}

func (h *host) settle() {
	for _, n := range append([]*node(nil), h.nodes...) {
		n.settle()
		if n.conn.State() == session.Dead {
			h.w.say("s", "forgets the connection")
			n.conn.Release()
			h.forget(n)
		}
	}
}

func (h *host) deadline() monotime.Time {
	d := monotime.Never
	for _, n := range h.nodes {
		d = min(d, n.wake)
	}
	return d
}

// dialer is the dialing end: the offline client until that is done, then the connection.
type dialer struct {
	w       *world
	port    uint16
	guid    int64
	dialing bool
	offline offline.Client
	node    *node
	wake    monotime.Time
}

func (d *dialer) dial(cfg *offline.ClientConfig) {
	cfg.GUID, cfg.ServerAddr = d.guid, serverAddr
	d.dialing = true
	d.offline.Init(d.w.now, cfg)
	d.settle()
}

func (d *dialer) receive(data []byte) {
	switch {
	case d.dialing:
		d.offline.Receive(d.w.now, data)
	case d.node != nil && len(data) > 0 && data[0]&0x80 != 0:
		d.node.receive(data)
	default:
		d.w.say("c", "ignores it")
	}
}

func (d *dialer) settle() {
	if d.dialing {
		d.negotiate()
	}
	if n := d.node; n != nil {
		n.settle()
		if n.conn.State() == session.Dead {
			d.w.say("c", "forgets the connection")
			n.conn.Release()
			d.node = nil
		}
	}
}

// negotiate does what the offline client wants, and makes the connection when it is done.
func (d *dialer) negotiate() {
	w, c := d.w, &d.offline
	c.Advance(w.now)
	result, done, err := c.Result()
	switch {
	case err != nil:
		d.dialing = false
		w.say("c", "dial fails: %v", err)
		return
	case done:
		d.dialing = false
		w.say("c", "agreed on version %d, mtu %d with %d", result.Version, result.MTU, result.ServerGUID)
		d.node = newNode(w, client, d.port, &session.Config{Side: session.Client, MTU: result.MTU, Version: result.Version,
			LocalGUID: d.guid, PeerGUID: result.ServerGUID, PeerAddr: serverAddr, ARQ: arq.Config{RoundTrip: result.RoundTrip}})
		return
	case c.NeedFreshPort():
		d.port++
		d.guid++
		w.say("c", "moves to port %d as %d", d.port, d.guid)
		c.Restart(w.now, d.guid)
	}
	for b, _ := c.Transmit(w.now, nil); b != nil; b, _ = c.Transmit(w.now, nil) {
		w.launch(client, d.port, b)
	}
	d.wake = c.Deadline()
}

func (d *dialer) deadline() monotime.Time {
	switch {
	case d.dialing:
		return d.wake
	case d.node != nil:
		return d.node.wake
	}
	return monotime.Never
}
