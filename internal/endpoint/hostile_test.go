package endpoint

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// bystanders are the two ends of a connection that lives beside hostile datagrams.
type bystanders struct {
	r              *rig
	client, server *Conn
	said           int
}

// look lets the two talk, and checks that each got what the other sent and nothing else.
func (b *bystanders) look() {
	b.r.t.Helper()
	b.said++
	up, down := fmt.Sprintf("\xfeup %d", b.said), fmt.Sprintf("\xfedown %d", b.said)
	b.r.write(b.client, up)
	require.Equal(b.r.t, up, b.r.read(b.server))
	b.r.write(b.server, down)
	require.Equal(b.r.t, down, b.r.read(b.client))
	time.Sleep(100 * time.Millisecond) // acknowledgements arrive
	c, s := b.client.Stats(), b.server.Stats()
	require.Equal(b.r.t, c.DatagramsSent, s.DatagramsReceived)
	require.Equal(b.r.t, s.DatagramsSent, c.DatagramsReceived)
	require.Equal(b.r.t, c.BytesSent, s.BytesReceived)
	require.Equal(b.r.t, s.BytesSent, c.BytesReceived)
	for _, is := range []ConnStats{c, s} {
		require.Zero(b.r.t, is.Violations+is.DatagramsRefused+is.DuplicatesReceived+is.FramesResent+is.DatagramsLost+is.Stale)
		require.Zero(b.r.t, is.BytesInFlight+is.HeldBytes+is.ReassemblyBytes+is.ReceiveQueueBytes)
	}
	require.False(b.r.t, isClosed(b.r.server.Done()))
}

// answers counts what a server sends to whom.
type answers struct {
	sync.Mutex
	datagrams, bytes map[netip.AddrPort]int
}

// countAnswers counts what leaves the server from now on.
func (r *rig) countAnswers() *answers {
	a := &answers{datagrams: map[netip.AddrPort]int{}, bytes: map[netip.AddrPort]int{}}
	r.net.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
		if from == r.at.AddrPort {
			a.Lock()
			a.datagrams[to]++
			a.bytes[to] += len(data)
			a.Unlock()
		}
		return false
	})
	return a
}

// take returns what was sent to an address since the last time.
func (a *answers) take(to netip.AddrPort) (datagrams, bytes int) {
	a.Lock()
	defer a.Unlock()
	datagrams, bytes = a.datagrams[to], a.bytes[to]
	delete(a.datagrams, to)
	delete(a.bytes, to)
	return datagrams, bytes
}

// distinct returns the datagrams of a vector that differ by more than their number, and of
// a flood the first and the last.
func distinct(v *hostile.Vector) (list [][]byte) {
	if n := len(v.Datagrams); n > 100 {
		return [][]byte{v.Datagrams[0], v.Datagrams[n-1]}
	}
	seen := map[string]bool{}
	for _, d := range v.Datagrams {
		key := string(d)
		if len(d) > 4 && wire.Classify(d) == wire.KindFrameSet {
			key = string(d[:1]) + string(d[4:])
		}
		if !seen[key] {
			seen[key] = true
			list = append(list, d)
		}
	}
	return list
}

// Every change of every byte of every vector comes to a listener from a stranger: it answers with
// no more than it got, but to pings, and a connection beside them notices nothing.
func TestDamagedVectorsOfStrangersLeaveAConnectionAlone(t *testing.T) {
	all, err := hostile.Load()
	require.NoError(t, err)
	scope, runs := hostile.NewScope(t), 0
	listener := udpAddr("10.0.0.1:19132")
	bubble(t, func(r *rig) {
		count := r.countAnswers()
		b := &bystanders{r: r}
		b.client, b.server = r.pair()
		b.look()
		for n, v := range all {
			stray := r.stray(fmt.Sprintf("10.6.%d.1:6", n))
			var cookie uint32
			if v.Patch.Cookie > 0 {
				var reply wire.OpenReply1
				p := wire.OpenRequest1{Version: 11, MTU: 1492}
				stray.send(p.Append(nil))
				require.NoError(t, reply.Parse(stray.hear()))
				cookie = reply.Cookie
			}
			for k, d := range distinct(&v) {
				if v.Patch.Cookie > 0 {
					d = append([]byte(nil), d...)
					binary.BigEndian.PutUint32(d[v.Patch.Cookie:], cookie)
				}
				for i := range scope.Bytes(d, k) {
					count.take(stray.pc.AddrPort())
					datagrams, bytes, pings := 0, 0, 0
					scope.DamageAt(d, i, func(damaged []byte) {
						if _, err := stray.pc.WriteTo(damaged, listener); err != nil {
							t.Fatal(err)
						}
						datagrams++
						bytes += len(damaged)
						if len(damaged) > 0 && (damaged[0] == byte(protocol.IDUnconnectedPing) || damaged[0] == byte(protocol.IDUnconnectedPingOpen)) {
							pings++
						}
					})
					runs += datagrams
					time.Sleep(2 * oneWay)
					if n, size := count.take(stray.pc.AddrPort()); n > datagrams || pings == 0 && size > bytes {
						t.Fatalf("%s: %d datagrams, %d bytes, with changes of byte %d are answered with %d, %d bytes", v.ID, datagrams, bytes, i, n, size)
					}
					if i%16 == 0 {
						b.look()
					}
				}
			}
			stray.pc.Close()
			b.look()
			require.Equal(t, 1, r.server.Stats().Connections, v.ID)
		}
	})
	t.Logf("%d runs", runs)
}

// numbered moves the numbers of a vector's datagram on by n, but for those at byte i, which is
// damaged: what a connection has taken once it would only count as a duplicate.
func numbered(b, vector []byte, i, n int) []byte {
	if wire.Classify(vector) != wire.KindFrameSet {
		return b
	}
	move := func(at int) {
		if len(b) >= at+3 && (i < at || i >= at+3) {
			wire.PutUint24(b[at:], wire.Uint24(b[at:])+uint32(n))
		}
	}
	move(1)
	if _, frames, err := wire.ParseDatagramHeader(vector); err == nil && len(frames) > 0 {
		mode := protocol.Reliability(frames[0] >> 5)
		if mode.IsReliable() {
			move(7)
		}
		if mode == protocol.ReliableOrdered {
			move(10)
		}
	}
	return b
}

// connect brings a stranger into the state that a vector asks for.
func (s *stray) connect(guid int64, handshaking bool) {
	s.knock(guid, 1)
	if handshaking {
		return
	}
	for n, body := range [][]byte{
		(&wire.ConnectionRequest{GUID: guid}).Append(nil),
		(&wire.NewIncomingConnection{Internal: 20}).Append(nil),
	} {
		b := wire.AppendDatagramHeader(nil, wire.FrameSetID, uint32(n))
		b = wire.AppendFrameHeader(b, &wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: uint32(n), Order: uint32(n)}, len(body))
		s.send(append(b, body...))
		time.Sleep(2 * oneWay)
	}
	a := wire.StartRanges(nil, wire.ACKID, 100)
	a.Add(0, 1)
	s.send(a.Finish())
	time.Sleep(oneWay)
}

const (
	// answersAtOnce and answersEach bound the datagrams with which a listener answers a peer within
	// a fifth of a second: what it sends anyhow, and what for each datagram that came.
	answersAtOnce, answersEach = 16, 2
)

// The same comes from a peer, in a connection of its own for every byte: it may end that one, and
// a connection beside it notices nothing.
func TestDamagedVectorsOfAPeerLeaveAnotherConnectionAlone(t *testing.T) {
	all, err := hostile.Load(hostile.ServerConnected)
	require.NoError(t, err)
	scope, runs, ended := hostile.NewScope(t), 0, 0
	bubble(t, func(r *rig) {
		count := r.countAnswers()
		b := &bystanders{r: r}
		b.client, b.server = r.pair()
		port := 0
		for _, v := range all {
			handshaking := v.State == "handshaking"
			for k, d := range distinct(&v) {
				for i := range scope.Bytes(d, k) {
					port++
					stray := r.stray(fmt.Sprintf("10.6.%d.%d:6", port>>8&255, port&255))
					stray.connect(int64(port), handshaking)
					count.take(stray.pc.AddrPort())
					datagrams := 0
					scope.DamageAt(d, i, func(damaged []byte) {
						stray.send(numbered(append([]byte(nil), damaged...), d, i, datagrams))
						datagrams++
					})
					runs += datagrams
					b.look()
					if n, bytes := count.take(stray.pc.AddrPort()); n > answersAtOnce+answersEach*datagrams {
						t.Fatalf("%s: %d datagrams with changes of byte %d are answered with %d, %d bytes", v.ID, datagrams, i, n, bytes)
					}
					if r.server.Stats().Connections < 2 {
						ended++
					}
					r.turnAway()
					stray.pc.Close()
				}
			}
		}
		b.look()
	})
	t.Logf("%d runs in connections of which %d ended or never began", runs, ended)
}

// turnAway ends every connection that waits to be accepted.
func (r *rig) turnAway() {
	for {
		c, _ := r.server.accepts.pop()
		if c == nil {
			return
		}
		c.Abort(nil)
	}
}

func (s *stray) sendTo(address string, p []byte) {
	_, err := s.pc.WriteTo(p, udpAddr(address))
	require.NoError(s.r.t, err)
}

// serve plays a server to the one that dials it, up to the state that a vector asks for.
func (s *stray) serve(address string, v *hostile.Vector) {
	await := func(id protocol.ID) {
		for b := s.hear(); ; b = s.hear() {
			require.NotNil(s.r.t, b, "no %v came", id)
			if b[0] == byte(id) {
				return
			}
		}
	}
	await(protocol.IDOpenConnectionRequest1)
	waitsForReply2 := v.Datagrams[0][0] == byte(protocol.IDOpenConnectionReply2)
	if v.Context == hostile.ClientOffline && !waitsForReply2 {
		return
	}
	first := wire.OpenReply1{GUID: 1, MTU: 1400}
	s.sendTo(address, first.Append(nil))
	await(protocol.IDOpenConnectionRequest2)
	if v.Context == hostile.ClientOffline {
		return
	}
	second := wire.OpenReply2{GUID: 1, Client: netip.MustParseAddrPort(address), MTU: 1400}
	s.sendTo(address, second.Append(nil))
	time.Sleep(2 * oneWay) // the connection request is on its way
}

// changesPerDial is how many damaged answers one dial gets.
const changesPerDial = 16

// Every change of every byte of what a server may answer comes to an endpoint that dials it, and
// a connection of the same endpoint to another server notices nothing.
func TestDamagedAnswersOfAServerLeaveAnotherConnectionAlone(t *testing.T) {
	all, err := hostile.Load(hostile.ClientOffline, hostile.ClientConnected)
	require.NoError(t, err)
	scope, runs, dials := hostile.NewScope(t), 0, 0
	bubble(t, func(r *rig) {
		e := r.listen("10.0.0.2:5000", Config{GUID: 7})
		b := &bystanders{r: r, client: r.dialFrom(e), server: r.accept()}
		b.look()
		for _, v := range all {
			for k, d := range distinct(&v) {
				for i := range scope.Bytes(d, k) {
					var damaged [][]byte
					scope.DamageAt(d, i, func(c []byte) { damaged = append(damaged, append([]byte(nil), c...)) })
					for part := range slices.Chunk(damaged, changesPerDial) {
						dials++
						stray := r.stray(fmt.Sprintf("10.7.%d.%d:6", dials>>8&255, dials&255))
						ctx, cancel := context.WithCancel(context.Background())
						var dialed *Conn
						dial := start(func() (err error) {
							dialed, err = e.Dial(ctx, udp.Peer{AddrPort: stray.pc.AddrPort()}, DialConfig{})
							return err
						})
						stray.serve("10.0.0.2:5000", &v)
						for n, c := range part {
							runs++
							stray.sendTo("10.0.0.2:5000", numbered(c, d, i, n))
							if n%(waiterPackets/2) == 0 {
								time.Sleep(2 * oneWay)
							}
						}
						time.Sleep(2 * oneWay)
						cancel()
						if dial.wait() == nil {
							dialed.Abort(nil)
						}
						stray.pc.Close()
					}
					b.look()
				}
			}
		}
	})
	t.Logf("%d runs in %d dials", runs, dials)
}
