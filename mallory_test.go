package raknet_test

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// stranger is a socket that sends what the test wants, and hears what comes back.
type stranger struct {
	*world
	pc *netsim.PacketConn
}

// stranger opens a socket in the world's network. It may have any address: that is how one
// forges them, without the answers.
func (w *world) stranger(address string) *stranger {
	w.Helper()
	pc, err := w.network.Listen(netip.MustParseAddrPort(address))
	require.NoError(w, err)
	require.NoError(w, pc.SetReadBuffer(8<<20))
	w.Cleanup(func() { _ = pc.Close() })
	return &stranger{w, pc}
}

// send sends datagrams to the listener.
func (s *stranger) send(datagrams ...[]byte) {
	s.Helper()
	for _, b := range datagrams {
		_, err := s.pc.WriteTo(b, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(serverAddress)))
		require.NoError(s, err)
	}
}

// hear returns everything that comes within a time.
func (s *stranger) hear(d time.Duration) (list [][]byte) {
	_ = s.pc.SetReadDeadline(time.Now().Add(d))
	for b := make([]byte, 2048); ; {
		n, _, err := s.pc.ReadFrom(b)
		if err != nil {
			synctest.Wait() // what was heard was also seen by whoever looked on
			return list
		}
		list = append(list, slices.Clone(b[:n]))
	}
}

// hearOne returns the next datagram that is not of a connection, nil if none comes within a second.
func (s *stranger) hearOne() []byte {
	_ = s.pc.SetReadDeadline(time.Now().Add(time.Second))
	for b := make([]byte, 2048); ; {
		n, _, err := s.pc.ReadFrom(b)
		if err != nil {
			return nil
		}
		if b[0]&0x80 == 0 {
			return b[:n]
		}
	}
}

// prefixed puts the same in front of each of its datagrams.
func prefixed(header []byte, datagrams ...[]byte) (list [][]byte) {
	for _, d := range datagrams {
		list = append(list, append(slices.Clone(header), d...))
	}
	return list
}

var pingDatagram = (&wire.UnconnectedPing{HasGUID: true, GUID: 5, Time: 6}).Append(nil)

func request1(mtu int) []byte { return (&wire.OpenRequest1{Version: 11, MTU: mtu}).Append(nil) }

// request2 is what follows on a reply 1, with its cookie if it has one.
func request2(t require.TestingT, reply1 []byte, guid int64) []byte {
	var r wire.OpenReply1
	require.NoError(t, r.Parse(reply1), "% x", reply1)
	p := wire.OpenRequest2{HasCookie: r.Security, Cookie: r.Cookie, Server: netip.MustParseAddrPort(serverAddress), MTU: r.MTU, GUID: guid}
	return p.Append(nil)
}

// knock goes through the offline handshake and returns the answer to the second request.
func (s *stranger) knock(guid int64) []byte {
	s.Helper()
	s.send(request1(1400))
	s.send(request2(s, s.hearOne(), guid))
	return s.hearOne()
}

// mallory is a peer of a connection who follows the protocol as far as the test wants him to: what
// he sends is the test's, and he acknowledges only what he is told to. In the background
// he notes what comes.
type mallory struct {
	*stranger
	victim *raknet.Conn // at the other end
	to     net.Addr

	number, reliable, order uint32 // what his next datagram and frame have

	mu       sync.Mutex
	acks     bool            // he acknowledges what comes
	acked    map[uint32]bool // numbers of his datagrams that the victim acknowledged
	nacked   map[uint32]bool
	frames   []wire.Frame // that came, copied
	received int          // datagrams with frames
	bytes    int
	most     int    // ranges in one ACK
	since    uint32 // the first of his datagrams whose fate he notes
}

// roles are the two that the library plays, and has to be safe in.
var roles = map[string]func(w *world, d raknet.Dialer) *mallory{
	"listener": (*world).malloryDials,
	"dialer":   (*world).malloryAnswers,
}

// inBothRoles tells the story of a connection with mallory at the other end, once as one that the
// listener accepted and once as one that was dialed, with the same limits.
func inBothRoles(t *testing.T, limits raknet.Limits, timeouts raknet.Timeouts, tell func(m *mallory)) {
	for role, begin := range roles {
		t.Run(role, func(t *testing.T) {
			story(t, good, raknet.ListenConfig{Limits: limits, Timeouts: timeouts}, func(w *world) {
				m := begin(w, raknet.Dialer{Limits: limits, Timeouts: timeouts})
				tell(m)
			})
		})
	}
}

// mallory makes one at an address.
func (w *world) mallory(address string) *mallory {
	m := &mallory{stranger: w.stranger(address), acks: true, acked: map[uint32]bool{}, nacked: map[uint32]bool{}}
	m.to = net.UDPAddrFromAddrPort(netip.MustParseAddrPort(serverAddress))
	return m
}

// malloryDials connects one to the listener.
func (w *world) malloryDials(raknet.Dialer) *mallory { return w.malloryFrom("10.66.6.6:666") }

func (w *world) malloryFrom(address string) *mallory {
	w.Helper()
	m := w.mallory(address)
	require.Equal(w, byte(protocol.IDOpenConnectionReply2), m.knock(666)[0])
	go m.listen()
	m.connect()
	c, err := w.listener.AcceptContext(w.Context())
	require.NoError(w, err)
	m.begin(c)
	return m
}

// connect goes through the second half of the handshake. He listens already.
func (m *mallory) connect() {
	m.Helper()
	m.say(protocol.ReliableOrdered, (&wire.ConnectionRequest{GUID: 666}).Append(nil))
	m.pass(100 * time.Millisecond)
	accepted := m.sent(protocol.IDConnectionRequestAccepted)
	require.Len(m, accepted, 1)
	var p wire.ConnectionRequestAccepted
	require.NoError(m, p.Parse(accepted[0]))
	m.say(protocol.ReliableOrdered, (&wire.NewIncomingConnection{Internal: 20, AcceptedTime: p.Time}).Append(nil))
}

// malloryAnswers lets the library dial one.
func (w *world) malloryAnswers(d raknet.Dialer) *mallory {
	w.Helper()
	return w.malloryAnswersAt("10.66.6.7:666", d)
}

func (w *world) malloryAnswersAt(address string, d raknet.Dialer) *mallory {
	w.Helper()
	m := w.mallory(address)
	go m.serve()
	d.UpstreamDialer = w.network
	c, err := d.DialContext(w.Context(), address)
	require.NoError(w, err)
	m.begin(c)
	return m
}

// begin waits until the handshake has nothing more to say, and forgets it.
func (m *mallory) begin(victim *raknet.Conn) {
	m.victim = victim
	m.Cleanup(func() { _ = victim.Close() })
	m.pass(time.Second)
	m.forget()
	require.NoError(m, victim.Context().Err())
}

// listen notes what comes until the socket closes.
func (m *mallory) listen() {
	_ = m.pc.SetReadDeadline(time.Time{})
	for b := make([]byte, 2048); ; {
		n, _, err := m.pc.ReadFrom(b)
		if err != nil {
			return
		}
		m.note(b[:n])
	}
}

// serve answers a client's handshake, and notes the rest.
func (m *mallory) serve() {
	for b := make([]byte, 2048); ; {
		n, from, err := m.pc.ReadFrom(b)
		if err != nil {
			return
		}
		m.mu.Lock()
		m.to = from
		m.mu.Unlock()
		switch protocol.ID(b[0]) {
		case protocol.IDOpenConnectionRequest1:
			m.raw((&wire.OpenReply1{GUID: 666, MTU: n + protocol.UDPOverhead}).Append(nil))
		case protocol.IDOpenConnectionRequest2:
			var p wire.OpenRequest2
			if p.Parse(b[:n], false) == nil {
				m.raw((&wire.OpenReply2{GUID: 666, MTU: p.MTU}).Append(nil))
			}
		default:
			m.note(b[:n])
			if len(m.sent(protocol.IDConnectionRequest)) == 1 && m.order == 0 {
				m.say(protocol.ReliableOrdered, (&wire.ConnectionRequestAccepted{Internal: 20}).Append(nil))
			}
		}
	}
}

func (m *mallory) note(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes += len(b)
	switch wire.Classify(b) {
	case wire.KindACK, wire.KindNACK:
		set := m.acked
		it, err := wire.ParseRanges(b)
		if wire.Classify(b) == wire.KindNACK {
			set = m.nacked
		} else {
			m.most = max(m.most, it.Count())
		}
		require.NoError(m, err)
		for r, ok := it.Next(); ok; r, ok = it.Next() {
			for n := max(r.First, m.since); n <= r.Last; n++ {
				set[n] = true
			}
		}
	case wire.KindFrameSet:
		m.received++
		number, frames, _ := wire.ParseDatagramHeader(b)
		it := wire.Frames(frames)
		for f := (wire.Frame{}); it.Next(&f); {
			f.Payload = slices.Clone(f.Payload)
			m.frames = append(m.frames, f)
		}
		if m.acks {
			m.raw(ackOf(number, number))
		}
	}
}

// ackOf is an ACK of a run of datagrams.
func ackOf(first, last uint32) []byte {
	a := wire.StartRanges(nil, wire.ACKID, 100)
	a.Add(first, last)
	return a.Finish()
}

// raw sends a datagram to the victim.
func (m *mallory) raw(b []byte) {
	_, _ = m.pc.WriteTo(b, m.to)
}

// datagram puts frames into his next datagram, and returns its number.
func (m *mallory) datagram(frames ...wire.Frame) uint32 {
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, m.number)
	for i := range frames {
		b = wire.AppendFrameHeader(b, &frames[i], len(frames[i].Payload))
		b = append(b, frames[i].Payload...)
	}
	m.number++
	m.raw(b)
	return m.number - 1
}

// frame is one with his next numbers.
func (m *mallory) frame(r protocol.Reliability, payload []byte) wire.Frame {
	f := wire.Frame{Reliability: r, Payload: payload}
	if r.IsReliable() {
		f.Reliable = m.reliable
		m.reliable++
	}
	if r.IsOrdered() {
		f.Order = m.order
		m.order++
	}
	return f
}

// say sends one message in a datagram of its own, and returns the datagram's number.
func (m *mallory) say(r protocol.Reliability, payload []byte) uint32 {
	return m.datagram(m.frame(r, payload))
}

// sent returns the messages with an identifier that the victim sent.
func (m *mallory) sent(id protocol.ID) (list [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.frames {
		if !f.Split && f.Payload[0] == byte(id) {
			list = append(list, f.Payload)
		}
	}
	return list
}

// forget empties his notes.
func (m *mallory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.acked)
	clear(m.nacked)
	m.frames, m.received, m.bytes, m.most, m.since = nil, 0, 0, 0, m.number
}

// acknowledges says whether he acknowledges what comes from now on.
func (m *mallory) acknowledges(yes bool) {
	m.mu.Lock()
	m.acks = yes
	m.mu.Unlock()
}

// hasAck reports whether the victim acknowledged his datagram.
func (m *mallory) hasAck(number uint32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acked[number]
}

// ackCount returns how many of his datagrams the victim acknowledged.
func (m *mallory) ackCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.acked)
}

// requireAlive checks that the connection works, whatever came before.
func (m *mallory) requireAlive() {
	m.Helper()
	number := m.say(protocol.Unreliable, []byte("\xfealive"))
	m.pass(200 * time.Millisecond)
	require.NoError(m, m.victim.Context().Err())
	require.True(m, m.hasAck(number))
}

// requireEnd waits for the connection's end and checks its reason.
func (m *mallory) requireEnd(within time.Duration, reason error) {
	m.Helper()
	select {
	case <-m.victim.Context().Done():
	case <-time.After(within):
		require.Fail(m, "the connection goes on")
	}
	synctest.Wait()
	require.ErrorIs(m, context.Cause(m.victim.Context()), reason)
}
