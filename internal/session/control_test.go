package session

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

func TestControlMessagesNeverReachTheApplicationWhateverTheirForm(t *testing.T) {
	for id := range 256 {
		if !protocol.ID(id).IsControl() || protocol.ID(id) == protocol.IDDisconnect {
			continue
		}
		for _, side := range []func(testing.TB, Config) *rig{connectedServer, connectedClient} {
			r := side(t, Config{})
			for _, size := range []int{1, 2, 8, 9, 17, 18, 26, 200, 3000} {
				payload := make([]byte, size)
				payload[0] = byte(id)
				require.Equal(t, arq.VerdictAccepted, r.send(protocol.Reliable, payload))
				require.Equal(t, arq.VerdictAccepted, r.send(protocol.ReliableOrdered, payload))
			}
			require.Empty(t, r.messages)
			require.Equal(t, Connected, r.State())
		}
	}
}

func TestEveryOtherMessageReachesTheApplication(t *testing.T) {
	r := connectedServer(t, Config{})
	var want []string
	for id := range 256 {
		if protocol.ID(id).IsControl() {
			continue
		}
		want = append(want, string([]byte{byte(id)}), string([]byte{byte(id), 1, 2}))
		r.send(protocol.ReliableOrdered, []byte{byte(id)})
		r.send(protocol.Unreliable, []byte{byte(id), 1, 2})
	}
	require.Equal(t, want, r.messages)
}

func TestMessagesThatComeBeforeTheHandshakeIsCompleteWait(t *testing.T) {
	server := newRig(t, Config{Side: Server})
	server.send(protocol.Reliable, []byte("\xfeone"))
	server.send(protocol.Reliable, request(1))
	server.send(protocol.Unreliable, []byte("\xfetwo"))
	require.Empty(t, server.messages)
	require.Len(t, server.acked, 3, "held, not refused")
	require.False(t, server.Pending())
	server.send(protocol.ReliableOrdered, incoming())
	require.Equal(t, []Event{{Kind: EventConnected}}, server.events)
	require.Equal(t, []string{"\xfeone", "\xfetwo"}, server.messages)

	client := newRig(t, Config{Side: Client})
	client.send(protocol.Reliable, []byte("\xfeone"))
	client.send(protocol.ReliableOrdered, acceptance(20))
	require.Equal(t, []string{"\xfeone"}, client.messages)
}

func TestWhatIsHeldBeforeTheHandshakeIsBounded(t *testing.T) {
	t.Run("unreliable messages are dropped", func(t *testing.T) {
		r := newRig(t, Config{Side: Server})
		for range 2 * heldMessages {
			r.send(protocol.Unreliable, []byte("\xfex"))
		}
		require.Equal(t, Handshaking, r.State())
		r.send(protocol.Reliable, request(1))
		r.send(protocol.ReliableOrdered, incoming())
		require.Len(t, r.messages, heldMessages)
	})
	t.Run("half a datagram takes half a buffer", func(t *testing.T) {
		r := newRig(t, Config{Side: Server})
		for i := range 400 {
			r.send(protocol.Reliable, []byte("\xfe"+strings.Repeat("x", 519)))
			require.Equal(t, Handshaking, r.State(), "after %d", i)
		}
	})
	t.Run("reliable messages end the connection", func(t *testing.T) {
		r := newRig(t, Config{Side: Server})
		big := []byte("\xfe" + strings.Repeat("x", 1300))
		for range heldBytes/pool.ClassDatagram - 40 {
			r.send(protocol.Reliable, big)
		}
		require.Equal(t, Handshaking, r.State())
		for range 60 {
			r.send(protocol.Reliable, big)
		}
		require.ErrorIs(t, r.closedWith(), ErrEarlyOverflow)
		require.Empty(t, r.messages, "what was held is gone")
	})
}

func TestAnApplicationThatDoesNotReadSlowsItsPeerAndIsGivenUp(t *testing.T) {
	small := func(c, s *Config) {
		s.ARQ.Limits.ReceiveBuffer = 64 << 10
	}
	t.Run("nothing is lost while it pauses", func(t *testing.T) {
		p := connectedPair(t, small)
		p.server.deaf = true
		for i := range 200 {
			p.client.say(parcel(i, 1000), protocol.ReliableOrdered, 0)
		}
		p.run(5 * time.Second)
		require.Less(t, p.server.Unread(), 72<<10, "one batch above the limit at most")
		require.Greater(t, p.server.Unread(), 60<<10)
		require.Equal(t, Connected, p.server.State())
		p.server.deaf = false
		p.until("everything arrived", 10*time.Second, func() bool { return len(p.server.messages) == 200 })
		for i, m := range p.server.messages {
			require.Equal(t, parcel(i, 1000), m)
		}
		require.Nil(t, p.client.closed)
		p.run(time.Minute)
		require.Equal(t, Connected, p.server.State())
	})
	t.Run("for ever, it is closed", func(t *testing.T) {
		p := connectedPair(t, small)
		p.server.deaf = true
		for i := range 200 {
			p.client.say(parcel(i, 1000), protocol.ReliableOrdered, 0)
		}
		took := p.until("server gives up", 20*time.Second, func() bool { return p.server.closed != nil })
		require.ErrorIs(t, p.server.closed, ErrReceiveOverflow)
		require.InDelta(t, 10, took.Seconds(), 1)
		p.until("client hears of it", time.Second, func() bool { return p.client.closed != nil })
		require.ErrorIs(t, p.client.closed, ErrDisconnected)
		p.server.read()
		require.Greater(t, len(p.server.messages), 25, "what had arrived stays readable")
	})
}

func TestAPeerCannotPinMuchMoreMemoryThanItIsChargedFor(t *testing.T) {
	r := connectedServer(t, Config{})
	pinned := 0
	for range 1000 {
		// One-byte messages, each in a read buffer of its own; nobody reads.
		b := poolRead(r.datagram(protocol.Reliable, []byte{0xfe}))
		r.Receive(r.now, b, b.Bytes())
		if b.Shared() {
			pinned++
		}
		b.Release()
	}
	require.Equal(t, inboxLoose/pool.ClassRead, pinned)
}

func TestWhatAPeerPinsIsBoundedByBytesNotByMessages(t *testing.T) {
	before := pool.InUse()
	r := connectedServer(t, Config{})
	kept := func() (pinned int) {
		for range 50 {
			// A run of many datagrams, as one buffer: of each such run two messages are unread.
			b := pool.Get(pool.ClassBatch)
			for range 2 {
				data := append(b.B[b.N:b.N:len(b.B)], r.datagram(protocol.Reliable, []byte{0xfe})...)
				b.N += len(data)
				r.Receive(r.now, b, data)
			}
			if b.Shared() {
				pinned++
			}
			b.Release()
		}
		return pinned
	}
	var d arq.Delivery
	for range 3 {
		require.Equal(t, inboxLoose/pool.ClassBatch, kept(), "both messages of one buffer count once")
		require.EqualValues(t, inboxLoose, r.inbox.loose)
		for n := 100; r.NextMessage(&d); n-- {
			require.Equal(t, n-1, r.inbox.len())
			d.Release()
		}
		require.Zero(t, r.inbox.loose, "what is read makes room")
	}
	r.Release()
	require.Equal(t, before, pool.InUse())
}
