package offline

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/proxyproto"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func vectors(t testing.TB, context string) []hostile.Vector {
	t.Helper()
	all, err := hostile.Load(context)
	require.NoError(t, err)
	return all
}

// prepare writes the cookie into a vector that wants one and returns when to deliver it.
func prepare(t testing.TB, v *hostile.Vector, s *Server) (now monotime.Time) {
	if v.Patch.Cookie == 0 {
		return start
	}
	from := clientAddr
	if v.Patch.CookieFrom == "other-port" {
		from = netip.AddrPortFrom(from.Addr(), from.Port()+1)
	}
	cookie := cookieFor(t, s, start, from, 11)
	for _, pkt := range v.Datagrams {
		for i := range 4 {
			pkt[v.Patch.Cookie+i] = byte(cookie >> (24 - 8*i))
		}
	}
	return start.Add(time.Duration(v.Patch.DelayS) * time.Second)
}

// answer plays the runtime: it turns what Handle says into the packet that goes out.
func answer(s *Server, now monotime.Time, pkt, dst []byte) (reply []byte, out Outcome) {
	reply, out = s.Handle(now, clientAddr, pkt, dst)
	switch out.Kind {
	case Ping:
		reply = s.AppendPong(dst, out.Time, []byte("MCPE;motd"))
	case Accept:
		reply = s.AppendReply2(dst, out.MTU, clientAddr)
	}
	return reply, out
}

func TestServerOnHostileVectors(t *testing.T) {
	for _, v := range vectors(t, hostile.ServerOffline) {
		s := newServer(ServerConfig{})
		now := prepare(t, &v, s)
		wants := strings.Split(v.Expect, ",")
		require.Len(t, v.Datagrams, len(wants), v.ID)
		for i, pkt := range v.Datagrams {
			if strings.HasPrefix(v.Config, "proxy-trust") {
				_, rest, err := proxyproto.Cut(pkt) // as the runtime does
				if err != nil {
					require.Equal(t, "drop", wants[i], v.ID)
					continue
				}
				pkt = rest
			}
			reply, out := answer(s, now, pkt, nil)
			if !slices.ContainsFunc(strings.Split(wants[i], "|"), func(want string) bool { return fits(want, reply, out) }) {
				t.Errorf("%s (%s): want %s, got %+v and % x", v.ID, v.Why, wants[i], out, reply)
			}
			if (out.Kind == Drop) != (out.Reason != DropNone) || (out.Kind == Drop) != (reply == nil) {
				t.Errorf("%s: %+v with a reply of %d bytes", v.ID, out, len(reply))
			}
		}
	}
}

// fits reports whether a server's reaction is the one named: "drop",
// "reply:06", "reply:06:mtu=1400" or "reply:08:mtu<=cap".
func fits(want string, reply []byte, out Outcome) bool {
	if want == "drop" {
		return out.Kind == Drop && reply == nil
	}
	rest, ok := strings.CutPrefix(want, "reply:")
	if !ok || len(reply) == 0 {
		return false
	}
	id, mtu, _ := strings.Cut(rest, ":mtu")
	if n, err := strconv.ParseUint(id, 16, 8); err != nil || byte(n) != reply[0] {
		return false
	}
	got := 0
	switch reply[0] {
	case byte(protocol.IDOpenConnectionReply1):
		var r wire.OpenReply1
		if r.Parse(reply) != nil {
			return false
		}
		got = r.MTU
	case byte(protocol.IDOpenConnectionReply2):
		var r wire.OpenReply2
		if r.Parse(reply) != nil {
			return false
		}
		got = r.MTU
	}
	if exact, ok := strings.CutPrefix(mtu, "="); ok {
		n, err := strconv.Atoi(exact)
		return err == nil && got == n
	}
	return got <= protocol.MaxMTU
}

// The server is shown every prefix of every vector and every byte of it changed to every
// other value. It answers with no more than it got, but to pings, allocates nothing,
// and is the same server afterwards, since it remembers nobody.
func TestServerOnDamagedHostileVectors(t *testing.T) {
	scope, prints := hostile.All(), hostile.NewFingerprints()
	runs := 0
	for _, v := range vectors(t, hostile.ServerOffline) {
		s := newServer(ServerConfig{})
		now := prepare(t, &v, s)
		before := prints.Of(s)
		dst := make([]byte, 0, PongSize)
		n := testing.AllocsPerRun(1, func() {
			for k, pkt := range v.Datagrams {
				scope.Damage(pkt, k, func(b []byte) {
					runs++
					reply, out := answer(s, now, b, dst)
					if len(reply) > len(b) && out.Kind != Ping || len(reply) > PongSize {
						t.Fatalf("%s: %x is answered with %d bytes (%+v)", v.ID, b, len(reply), out)
					}
					if (out.Kind == Drop) != (out.Reason != DropNone) || (out.Kind == Drop) != (reply == nil) {
						t.Fatalf("%s: %x: %+v with a reply of %d bytes", v.ID, b, out, len(reply))
					}
				})
			}
		})
		require.LessOrEqual(t, n, float64(len(v.Datagrams)), "%s: a copy of each datagram is all that is allocated", v.ID)
		require.Equal(t, before, prints.Of(s), "%s: the server remembers something", v.ID)
	}
	t.Logf("%d runs", runs/2) // AllocsPerRun goes through them twice
}

// dialled returns a client that waits for a reply 1, or for a reply 2 to a request
// of MTU 1400.
func dialled(waitsFor protocol.ID) *Client {
	c := new(Client)
	c.Init(start, &ClientConfig{GUID: clientGUID, Version: 11, ServerAddr: serverAddr})
	drain(c, start)
	if waitsFor == protocol.IDOpenConnectionReply2 {
		c.Receive(start, (&wire.OpenReply1{GUID: serverGUID, MTU: 1400}).Append(nil))
		drain(c, start)
	}
	return c
}

// drain transmits until nothing is due and returns the datagrams.
func drain(c *Client, now monotime.Time) (sent [][]byte) {
	for {
		pkt, _ := c.Transmit(now, nil)
		if pkt == nil {
			return sent
		}
		sent = append(sent, pkt)
	}
}

func TestClientOnHostileVectors(t *testing.T) {
	for _, v := range vectors(t, hostile.ClientOffline) {
		if v.Datagrams[0][0] == byte(protocol.IDUnconnectedPong) {
			p := pinged()
			p.Receive(start, v.Datagrams[0])
			pong, ok := p.Result()
			require.True(t, ok, v.ID)
			require.Equal(t, "pong:empty", v.Expect)
			require.Empty(t, pong.Data, v.ID)
			continue
		}
		c := dialled(waitsFor(v.Datagrams[0][0]))
		for _, pkt := range v.Datagrams {
			c.Receive(start, pkt)
		}
		sent := drain(c, start)
		if !slices.ContainsFunc(strings.Split(v.Expect, "|"), func(want string) bool { return reacted(c, sent, want) }) {
			n, done, err := c.Result()
			t.Errorf("%s (%s): want %s, got %+v, %t, %v", v.ID, v.Why, v.Expect, n, done, err)
		}
	}
}

func waitsFor(id byte) protocol.ID {
	if id == byte(protocol.IDOpenConnectionReply2) {
		return protocol.IDOpenConnectionReply2
	}
	return protocol.IDOpenConnectionReply1
}

// reacted reports whether the client's reaction, with what it sent, is the one named.
func reacted(c *Client, sent [][]byte, want string) bool {
	n, done, err := c.Result()
	request := func(cookie bool, value uint32, mtu int) bool {
		var r wire.OpenRequest2
		return !done && len(sent) > 0 && r.Parse(sent[0], cookie) == nil && r.Cookie == value && r.MTU == mtu
	}
	refused := func(reason Refusal) bool { return err != nil && *err.(*RefusedError) == RefusedError{reason} }
	switch want {
	case "ignore":
		return !done && len(sent) == 0
	case "send:07":
		return request(false, 0, 1400)
	case "send:07 with own MTU":
		return request(true, 0, 1492) || request(false, 0, 1492)
	case "send:07 with cookie 11223344 and challenge 0":
		return request(true, 0x11223344, 1400)
	case "send:07 with newest cookie":
		return request(true, 0x55667788, 1400) && len(sent) == 1
	case "error:security-unsupported":
		return done && err == ErrSecurityUnsupported
	case "connected-phase", "mtu kept":
		return done && err == nil && n.MTU == 1400
	case "error:incompatible server=10":
		return done && *err.(*VersionError) == VersionError{Client: 11, Server: 10}
	case "error:incompatible":
		return done && *err.(*VersionError) == VersionError{Client: 11, Server: 10}
	case "error:already-connected or retry":
		return refused(AlreadyConnected)
	case "error:full":
		return refused(NoFreeSlots)
	case "error:banned":
		return refused(Banned)
	case "error:recently-connected or retry":
		return !done && len(sent) == 0 && c.Deadline() >= start.Add(ms(100))
	}
	return false
}

// damagedClient is the client that damaged vectors are played against.
type damagedClient struct {
	Client
	t       testing.TB
	prints  *hostile.Fingerprints
	pinger  Pinger
	pinging bool
	dst     []byte
}

func (d *damagedClient) Start(v *hostile.Vector) {
	first := v.Datagrams[0][0]
	d.Client = *dialled(waitsFor(first))
	d.pinger, d.pinging = *pinged(), first == byte(protocol.IDUnconnectedPong)
}

func (d *damagedClient) Receive(b []byte) (took bool) {
	if d.pinging {
		d.pinger.Receive(start, b)
	} else {
		d.Client.Receive(start, b)
	}
	return true // the state tells
}

func (d *damagedClient) State() uint64 { return d.prints.Of(&d.Client) ^ d.prints.Of(&d.pinger) }

func (d *damagedClient) Finish() {
	checkClient(d.t, &d.Client, start, d.dst)
	if _, done, _ := d.Result(); done {
		return
	}
	// It goes on as if nothing had happened: its deadlines come, and it asks again.
	for range 3 {
		at := d.Deadline()
		d.Advance(at)
		checkClient(d.t, &d.Client, at, d.dst)
		if _, done, _ := d.Result(); done {
			return
		}
	}
}

func (d *damagedClient) Discard() {}

// The same for the client, which must come to a result that makes sense or go on, and of
// which another that dials at the same time must notice nothing.
func TestClientOnDamagedHostileVectors(t *testing.T) {
	prints := hostile.NewFingerprints()
	player := hostile.Player{T: t, Scope: hostile.All(), Drops: 1}
	player.Subject = &damagedClient{t: t, prints: prints, dst: make([]byte, 0, 1500)}
	other := dialled(protocol.IDOpenConnectionReply2)
	before := prints.Of(other)
	for _, v := range vectors(t, hostile.ClientOffline) {
		player.Play(&v)
	}
	require.Equal(t, before, prints.Of(other))
	t.Log(&player)
}

// checkClient asserts what holds for a client at any time, and drains it.
func checkClient(t testing.TB, c *Client, now monotime.Time, dst []byte) {
	t.Helper()
	n, done, err := c.Result()
	if done && err == nil && (n.MTU < protocol.MinMTU || n.MTU > c.sizes[c.size]) {
		t.Fatalf("MTU %d at a probe of %d", n.MTU, c.sizes[c.size])
	}
	for count := 0; ; count++ {
		pkt, probe := c.Transmit(now, dst)
		if pkt == nil {
			break
		}
		if count == 2 || done {
			t.Fatalf("datagram %d at once (done: %t)", count+1, done)
		}
		if len(pkt)+protocol.UDPOverhead > c.sizes[0] || probe != (pkt[0] == byte(protocol.IDOpenConnectionRequest1)) {
			t.Fatalf("a datagram of %d bytes, probe: %t", len(pkt), probe)
		}
	}
	if d := c.Deadline(); d <= now || (d == monotime.Never) != done {
		t.Fatalf("at %d the deadline is %d (done: %t)", now, d, done)
	}
}
