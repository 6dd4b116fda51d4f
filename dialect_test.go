package raknet_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/dialect"
	"github.com/raknet-go/raknet/internal/netsim"
)

// What other implementations are like stands in docs/DIALECTS.md. Here each of them is
// played, as a server and as a client, and talked with.

// speech is what is said to each peer, which says it again.
var speech = []struct {
	mode    raknet.Reliability
	channel uint8
	size    int
}{
	{raknet.Unreliable, 0, 20},
	{raknet.Reliable, 0, 40},
	{raknet.ReliableOrdered, 0, 60},
	{raknet.ReliableOrdered, 5, 1},
	{raknet.ReliableOrdered, 31, 1300},
	{raknet.UnreliableWithReceipt, 0, 30},
	{raknet.ReliableOrderedWithReceipt, 5, 3000},
	{raknet.Reliable, 0, 5000},
	{raknet.Unreliable, 0, 4000}, // which goes reliable
	{raknet.ReliableOrdered, 0, 100_000},
	{raknet.ReliableOrdered, 0, 1},
	{raknet.ReliableOrdered, 31, 20_000},
}

// converse says everything and hears it again. On a link that loses, what is unreliable is left out.
func converse(w *world, c *raknet.Conn, lossy bool) {
	ctx, cancel := context.WithTimeout(w.Context(), 3*time.Minute)
	defer cancel()
	want := map[string][]string{}
	total := 0
	for i, s := range speech {
		if lossy && !s.mode.IsReliable() && s.size < c.MTU()-60 {
			continue
		}
		m := message(s.size)
		m[len(m)-1] = byte(i)
		m[0] = 0xfe
		_, err := c.Send(ctx, m, raknet.SendOptions{Reliability: s.mode, Channel: s.channel})
		require.NoError(w, err)
		mode := s.mode
		if s.size > c.MTU()-60 {
			mode = mode.Split()
		}
		key := fmt.Sprint(mode.IsOrdered(), s.channel)
		want[key] = append(want[key], string(m))
		total++
	}
	got := map[string][]string{}
	for range total {
		m, err := c.Receive(ctx)
		require.NoError(w, err, "after %d of %d", len(got), total)
		key := fmt.Sprint(m.Reliability.IsOrdered(), m.Channel)
		got[key] = append(got[key], string(m.Data))
	}
	for key, messages := range want {
		have := got[key]
		if key[0] == 'f' { // unordered
			slices.Sort(messages)
			slices.Sort(have)
		}
		require.Equal(w, len(messages), len(have), key)
		for i := range messages {
			require.True(w, messages[i] == have[i], "%s, message %d of %d bytes came as %d", key, i, len(messages[i]), len(have[i]))
		}
	}
}

// sequence says what only counts while it is new, one after the other on a link that loses nothing, and
// hears all of it again, in order. (The peers here do not drop what is old themselves.)
func sequence(w *world, c *raknet.Conn) {
	for _, mode := range []raknet.Reliability{raknet.UnreliableSequenced, raknet.ReliableSequenced} {
		const total = 10
		for i := range total {
			_, err := c.Send(w.Context(), []byte{0xfe, byte(i)}, raknet.SendOptions{Reliability: mode, Channel: 2})
			require.NoError(w, err)
			w.pass(100 * time.Millisecond)
			if i == total/2 { // the numbering begins again
				_, err := c.Send(w.Context(), []byte{0xfe, 0xff}, raknet.SendOptions{Reliability: raknet.ReliableOrdered, Channel: 2})
				require.NoError(w, err)
				w.pass(100 * time.Millisecond)
			}
		}
		last, came, ordered := -1, 0, 0
		for {
			patience, cancel := context.WithTimeout(w.Context(), 3*time.Second)
			m, err := c.Receive(patience)
			cancel()
			if err != nil {
				break
			}
			require.Len(w, m.Data, 2)
			if m.Data[1] == 0xff {
				require.Equal(w, raknet.ReliableOrdered, m.Reliability)
				ordered++
				continue
			}
			require.Equal(w, mode, m.Reliability)
			require.Greater(w, int(m.Data[1]), last, "older after newer")
			last = int(m.Data[1])
			came++
		}
		require.Equal(w, 1, ordered)
		require.Equal(w, total, came)
	}
}

// end makes the peer close, in whatever way it has.
func end(w *world, c *raknet.Conn, h dialect.Habits) {
	_, err := c.Write([]byte(dialect.Bye))
	require.NoError(w, err)
	asked := time.Now()
	<-c.Context().Done()
	if h.Close == dialect.CloseMessage {
		requireClosedBy(w, c, true)
		// Its farewell is sent again as often as it is lost: four times in a row it never is here.
		require.Less(w, time.Since(asked), 9*time.Second+4*h.Resend)
		return
	}
	require.GreaterOrEqual(w, time.Since(asked), 9*time.Second, "a bare byte, which anybody can forge, ends nothing")
	_, err = c.ReadPacket()
	require.ErrorIs(w, err, raknet.ErrIdleTimeout)
}

// unharmed checks that the peer survived what it was sent.
func unharmed(w *world, losses dialect.Losses) {
	require.Equal(w, dialect.Losses{}, losses)
}

// limitsFor are those of peers that need some.
func limitsFor(h dialect.Habits) raknet.PeerLimits {
	switch h.Name {
	case "RakLib":
		return raknet.PeerPocketMine
	case "Cloudburst":
		return raknet.PeerCloudburst
	}
	return raknet.PeerLimits{}
}

// paths are those on which peers are met.
var paths = []struct {
	name   string
	link   netsim.Link
	server string
	lossy  bool
}{
	{"IPv4", good, "10.9.8.6:19132", false},
	{"IPv6", good, "[fd00:9::6]:19132", false},
	{"a bad link", netsim.Link{Delay: 20 * time.Millisecond, Loss: 0.1, Duplicate: 0.05, Reorder: 0.05, ReorderBy: 20 * time.Millisecond}, "10.9.8.6:19132", true},
}

func TestForeignServers(t *testing.T) {
	for _, h := range dialect.Peers() {
		for _, p := range paths {
			if p.lossy && h.OneNumber {
				continue // it never sends again what is lost
			}
			t.Run(h.Name+" over "+p.name, func(t *testing.T) {
				story(t, p.link, raknet.ListenConfig{}, func(w *world) {
					pc, err := w.network.ListenPacket("udp", p.server)
					require.NoError(w, err)
					server := dialect.Serve(h, pc)
					d := raknet.Dialer{UpstreamDialer: w.network, PeerLimits: limitsFor(h), Tracer: traced(w.T, nil)}
					pong, err := d.PingInfo(w.Context(), p.server)
					require.NoError(w, err)
					require.NotZero(w, pong.GUID)
					c, err := d.DialTimeout(p.server, time.Minute)
					require.NoError(w, err)
					require.Equal(w, h.Version, c.ProtocolVersion())
					require.Equal(w, pong.GUID, c.GUID())
					require.LessOrEqual(w, c.MTU(), 1492)
					converse(w, c, p.lossy || h.OneNumber)
					if !p.lossy && !h.NoTopBit && !h.OneNumber && h.Name != "JRakNet" { // which leaves the sequencing index out
						sequence(w, c)
					}
					end(w, c, h)
					w.pass(time.Second)
					require.NoError(w, pc.Close())
					server.Wait()
					for _, peer := range server.All {
						unharmed(w, peer.Losses)
					}
				})
			})
		}
	}
}

func TestForeignClients(t *testing.T) {
	for _, h := range dialect.Peers() {
		for _, p := range paths {
			if p.lossy && h.OneNumber {
				continue
			}
			t.Run(h.Name+" over "+p.name, func(t *testing.T) {
				story(t, p.link, raknet.ListenConfig{}, func(w *world) {
					conf := raknet.ListenConfig{
						UpstreamPacketListener: w.network, ProtocolVersions: []byte{6, 7, 8, 9, 10, 11}, DisableCookies: h.NoCookies,
						PeerLimits: limitsFor(h), Tracer: traced(w.T, nil),
					}
					l, err := conf.Listen(p.server)
					require.NoError(w, err)
					defer l.Close()
					from := "10.1.1.1:5000"
					if p.name == "IPv6" {
						from = "[fd00:1::1]:5000"
					}
					pc, err := w.network.ListenPacket("udp", from)
					require.NoError(w, err)
					client := dialect.Dial(h, pc, netip.MustParseAddrPort(p.server))
					patience, cancel := context.WithTimeout(w.Context(), time.Minute)
					defer cancel()
					c, err := l.AcceptContext(patience)
					require.NoError(w, err)
					guid := h.GUID
					if guid == 0 {
						guid = 0x1122334455667788
					}
					require.Equal(w, guid, c.GUID())
					if !h.NoCookies {
						require.Equal(w, h.Version, c.ProtocolVersion())
					}
					converse(w, c, p.lossy || h.OneNumber)
					if !p.lossy && !h.NoTopBit && !h.OneNumber && h.Name != "JRakNet" { // which leaves the sequencing index out
						sequence(w, c)
					}
					end(w, c, h)
					w.pass(time.Second)
					require.NoError(w, pc.Close())
					client.Wait()
					require.NotNil(w, client.Conn)
					unharmed(w, client.Conn.Losses)
				})
			})
		}
	}
}
