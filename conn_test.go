package raknet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
)

func TestMessagesGoBothWays(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})

		n, err := client.Write([]byte("\xfeto the server"))
		require.NoError(w, err)
		require.Equal(w, 14, n)
		b, err := server.ReadPacket()
		require.NoError(w, err)
		require.Equal(w, "\xfeto the server", string(b))

		_, err = server.Write([]byte("\xfeto the client"))
		require.NoError(w, err)
		buf := make([]byte, 100)
		n, err = client.Read(buf)
		require.NoError(w, err)
		require.Equal(w, "\xfeto the client", string(buf[:n]))
	})
}

func TestEveryModeArrivesWithItsChannel(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		for mode := raknet.Unreliable; mode <= raknet.ReliableOrderedWithReceipt; mode++ {
			for _, channel := range []uint8{0, 5, 31} {
				r, err := client.Send(w.Context(), []byte{0xfe, byte(mode)}, raknet.SendOptions{Reliability: mode, Channel: channel, Priority: raknet.PriorityLow})
				require.NoError(w, err)
				require.Equal(w, mode.WithReceipt(), r != nil)

				m, err := server.Receive(w.Context())
				require.NoError(w, err)
				want := raknet.Message{Data: []byte{0xfe, byte(mode)}, Reliability: mode.Wire()}
				if mode.HasChannel() {
					want.Channel = channel
				}
				require.Equal(w, want, m)
			}
		}
	})
}

func TestLargeMessagesCrossABadLink(t *testing.T) {
	story(t, bad, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		for _, size := range []int{1, 1400, 1432, 1433, 50_000, 1_000_000} {
			sent := bytes.Repeat([]byte{0xfe, byte(size)}, size/2+1)[:size]
			_, err := client.Write(sent)
			require.NoError(w, err)
			got, err := server.ReadPacket()
			require.NoError(w, err)
			require.True(w, bytes.Equal(sent, got), "%d bytes", size)
		}
	})
}

func TestWriteCopiesAndReadPacketGivesAway(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		buf := []byte("\xfe????")
		for i := range 20 {
			buf[1] = byte(i)
			_, err := client.Write(buf)
			require.NoError(w, err)
		}
		clear(buf)
		var kept [][]byte
		for range 20 {
			b, err := server.ReadPacket()
			require.NoError(w, err)
			kept = append(kept, b)
			for i := 2; i < len(b); i++ {
				b[i] = 0xaa // as decrypting in place does
			}
			_ = append(b, 0xaa)
		}
		for i, b := range kept {
			require.Equal(w, []byte{0xfe, byte(i), 0xaa, 0xaa, 0xaa}, b)
		}
	})
}

func TestAMessageTooLongForReadIsLostAndTheNextIsNot(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		for _, s := range []string{"\xfelong message", "\xfeshort"} {
			_, err := client.Write([]byte(s))
			require.NoError(w, err)
		}
		buf := make([]byte, 8)
		_, err := server.Read(buf)
		requireOp(w, err, "read")
		require.ErrorIs(w, err, raknet.ErrBufferTooSmall)
		n, err := server.Read(buf)
		require.NoError(w, err)
		require.Equal(w, "\xfeshort", string(buf[:n]))
	})
}

func TestReadDeadlines(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		reads := map[string]func() error{
			"Read":       func() error { _, err := server.Read(make([]byte, 100)); return err },
			"ReadPacket": func() error { _, err := server.ReadPacket(); return err },
			"Receive":    func() error { _, err := server.Receive(w.Context()); return err },
		}
		for name, read := range reads {
			start := time.Now()
			require.NoError(w, server.SetReadDeadline(start.Add(3*time.Second)))
			err := read()
			o := requireOp(w, err, "read")
			require.ErrorIs(w, err, os.ErrDeadlineExceeded, name)
			require.True(w, o.Timeout(), name)
			require.Equal(w, 3*time.Second, time.Since(start), name)
		}

		// A deadline that has passed wins over what is there to read.
		_, err := client.Write([]byte{0xfe})
		require.NoError(w, err)
		w.pass(time.Second)
		require.ErrorIs(w, reads["ReadPacket"](), os.ErrDeadlineExceeded)

		// Without it everything is as before.
		require.NoError(w, server.SetDeadline(time.Time{}))
		require.NoError(w, reads["ReadPacket"]())

		// One that moves wakes whoever waits.
		var waitErr error
		wait := async(func() { waitErr = reads["Read"]() })
		w.pass(time.Second)
		require.NoError(w, server.SetReadDeadline(time.Unix(1, 0)))
		require.Equal(w, time.Second, wait())
		require.ErrorIs(w, waitErr, os.ErrDeadlineExceeded)
	})
}

func TestWritesWaitForTheSendBufferUntilTheDeadline(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, _ := w.dial(raknet.Dialer{Limits: raknet.Limits{SendBuffer: 64 << 10}, Timeouts: raknet.Timeouts{Idle: -1}})
		mend := w.cut()
		var err error
		start := time.Now()
		require.NoError(w, client.SetWriteDeadline(start.Add(2*time.Second)))
		written := 0
		for {
			var n int
			if n, err = client.Write(message(10_000)); err != nil {
				require.Zero(w, n)
				break
			}
			written += n
		}
		o := requireOp(w, err, "write")
		require.ErrorIs(w, err, os.ErrDeadlineExceeded)
		require.True(w, o.Timeout())
		require.Equal(w, 2*time.Second, time.Since(start))
		require.Greater(w, written, 40_000)
		require.LessOrEqual(w, written, 64<<10)

		// A context does the same for Send, with its cause.
		require.NoError(w, client.SetWriteDeadline(time.Time{}))
		why := errors.New("enough waited")
		ctx, cancel := context.WithTimeoutCause(w.Context(), time.Second, why)
		defer cancel()
		_, err = client.Send(ctx, message(60_000), raknet.SendOptions{Reliability: raknet.Reliable})
		o = requireOp(w, err, "write")
		require.ErrorIs(w, err, context.DeadlineExceeded)
		require.ErrorIs(w, err, why)
		require.True(w, o.Timeout())

		// Unreliable messages never wait.
		_, err = client.Send(w.Context(), message(1000), raknet.SendOptions{})
		require.NoError(w, err)

		// Acknowledgements make room.
		wait := async(func() { _, err = client.Write(message(60_000)) })
		w.pass(time.Second)
		mend()
		require.Greater(w, wait(), time.Second)
		require.NoError(w, err)
	})
}

// message returns a message of n bytes.
func message(n int) []byte {
	b := make([]byte, n)
	b[0] = 0xfe
	return b
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		_, server := w.dial(raknet.Dialer{})
		why := errors.New("the player went for tea")
		ctx, cancel := context.WithCancelCause(w.Context())
		var err error
		wait := async(func() { _, err = server.Receive(ctx) })
		w.pass(time.Second)
		cancel(why)
		require.Equal(w, time.Second, wait())
		o := requireOp(w, err, "read")
		require.ErrorIs(w, err, context.Canceled)
		require.ErrorIs(w, err, why)
		require.False(w, o.Timeout())
		require.NoError(w, server.Context().Err(), "the connection lives on")
	})
}

func TestACloseIsSeenByBothSides(t *testing.T) {
	for _, byServer := range []bool{false, true} {
		story(t, good, raknet.ListenConfig{}, func(w *world) {
			client, server := w.dial(raknet.Dialer{})
			closing, other := client, server
			if byServer {
				closing, other = server, client
			}
			var blocked error
			wait := async(func() { _, blocked = closing.ReadPacket() })
			w.pass(time.Second)
			_, err := other.Write([]byte("\xfeunread"))
			require.NoError(w, err)
			_, err = closing.Write([]byte("\xfelast words"))
			require.NoError(w, err)
			require.NoError(w, closing.Close())
			require.Equal(w, time.Second, wait(), "whoever waits is woken at once")
			require.ErrorIs(w, blocked, net.ErrClosed)
			requireClosedBy(w, closing, false)

			b, err := other.ReadPacket()
			require.NoError(w, err, "what was written before Close comes first")
			require.Equal(w, "\xfelast words", string(b))
			requireClosedBy(w, other, true)
		})
	}
}

func TestReadEndsLikeAFile(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		var text []byte
		var err error
		wait := async(func() { text, err = io.ReadAll(server) })
		for _, s := range []string{"\xfeone ", "\xfetwo"} {
			_, werr := client.Write([]byte(s))
			require.NoError(w, werr)
		}
		require.NoError(w, client.Close())
		wait()
		require.NoError(w, err)
		require.Equal(w, "\xfeone \xfetwo", string(text))
	})
}

// A kick: whatever the link does, the reason arrives before the good-bye.
func TestTheReasonForAKickArrives(t *testing.T) {
	for seed := range 20 {
		story(t, bad, raknet.ListenConfig{}, func(w *world) {
			for range seed {
				w.network.ListenPacket("udp", ":0") // other addresses, other chances
			}
			client, server := w.dial(raknet.Dialer{})
			_, err := server.Write([]byte("\xfeyou are kicked"))
			require.NoError(w, err)
			require.NoError(w, server.Close())
			b, err := client.ReadPacket()
			require.NoError(w, err)
			require.Equal(w, "\xfeyou are kicked", string(b))
			_, err = client.ReadPacket()
			require.ErrorIs(w, err, io.EOF)
		})
	}
}

func TestASilentPeerIsGivenUp(t *testing.T) {
	story(t, good, raknet.ListenConfig{Timeouts: raknet.Timeouts{Idle: 4 * time.Second}}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		w.pass(time.Minute)
		require.NoError(w, client.Context().Err(), "idle is not silent")

		w.cut()
		start := time.Now()
		_, err := server.ReadPacket()
		o := requireOp(w, err, "read")
		require.ErrorIs(w, err, raknet.ErrIdleTimeout)
		require.ErrorIs(w, err, net.ErrClosed)
		require.NotErrorIs(w, err, io.EOF)
		require.False(w, o.Timeout())
		require.InDelta(w, 4, time.Since(start).Seconds(), 3)
		require.ErrorIs(w, context.Cause(server.Context()), raknet.ErrIdleTimeout)

		_, err = client.Read(make([]byte, 1))
		require.ErrorIs(w, err, raknet.ErrIdleTimeout)
		require.InDelta(w, 10, time.Since(start).Seconds(), 3)
	})
}

func TestMessagesThatCannotBeSentChangeNothing(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{Limits: raknet.Limits{MaxFragments: 10}})
		before := client.Stats()

		type attempt struct {
			payload []byte
			o       raknet.SendOptions
			want    error
		}
		attempts := []attempt{
			{nil, raknet.SendOptions{}, raknet.ErrEmptyMessage},
			{[]byte{}, raknet.SendOptions{Reliability: raknet.ReliableOrdered}, raknet.ErrEmptyMessage},
			{[]byte{0xfe}, raknet.SendOptions{Reliability: raknet.ReliableOrdered, Channel: 32}, raknet.ErrInvalidChannel},
			{[]byte{0xfe}, raknet.SendOptions{Reliability: raknet.UnreliableSequenced, Channel: 255}, raknet.ErrInvalidChannel},
			{[]byte{0xfe}, raknet.SendOptions{Reliability: 8}, raknet.ErrInvalidReliability},
			{[]byte{0xfe}, raknet.SendOptions{Priority: 4}, raknet.ErrInvalidPriority},
			{message(20_000), raknet.SendOptions{Reliability: raknet.Reliable}, raknet.ErrMessageTooLarge},
		}
		for _, id := range []byte{0x00, 0x03, 0x04, 0x09, 0x10, 0x13, 0x15, 0x18} {
			attempts = append(attempts, attempt{[]byte{id, 1, 2}, raknet.SendOptions{Reliability: raknet.Reliable}, raknet.ErrReservedID})
		}
		for _, a := range attempts {
			r, err := client.Send(w.Context(), a.payload, a.o)
			requireOp(w, err, "write")
			require.ErrorIs(w, err, a.want)
			require.Nil(w, r)
		}
		n, err := client.Write(nil)
		requireOp(w, err, "write")
		require.ErrorIs(w, err, raknet.ErrEmptyMessage)
		require.Zero(w, n)
		n, err = client.Write([]byte{0x15})
		requireOp(w, err, "write")
		require.ErrorIs(w, err, raknet.ErrReservedID)
		require.Zero(w, n)
		require.Equal(w, before.MessagesSent, client.Stats().MessagesSent)

		_, err = client.Write([]byte{0xfe})
		require.NoError(w, err)
		b, err := server.ReadPacket()
		require.NoError(w, err)
		require.Equal(w, []byte{0xfe}, b)
	})
}

func TestEveryOtherFirstByteIsDelivered(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		reserved := []byte{0x00, 0x03, 0x04, 0x09, 0x10, 0x13, 0x15, 0x18}
		for id := range 256 {
			if slices.Contains(reserved, byte(id)) {
				continue
			}
			_, err := client.Write([]byte{byte(id), 7})
			require.NoError(w, err)
			b, err := server.ReadPacket()
			require.NoError(w, err)
			require.Equal(w, []byte{byte(id), 7}, b)
		}
	})
}

func TestAHandlerGetsMessagesInOrder(t *testing.T) {
	story(t, bad, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		for i := range 20 {
			_, err := client.Write([]byte{0xfe, byte(i)})
			require.NoError(w, err)
		}
		w.pass(5 * time.Second) // the first of them wait to be read
		var mu sync.Mutex
		var got []byte
		server.Handle(func(m raknet.Message) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, m.Data[1])
		})
		for i := range 20 {
			_, err := client.Write([]byte{0xfe, byte(20 + i)})
			require.NoError(w, err)
		}
		w.pass(10 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.Len(w, got, 40)
		require.True(w, slices.IsSorted(got))
	})
}

func TestAHandlerMayAnswerAndMayBeTakenAway(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		server.Handle(func(m raknet.Message) {
			_, err := server.Send(context.Background(), append(m.Data, '!'), raknet.SendOptions{Reliability: m.Reliability, Channel: m.Channel})
			assert.NoError(w, err)
		})
		_, err := client.Send(w.Context(), []byte("\xfehello"), raknet.SendOptions{Reliability: raknet.ReliableOrdered, Channel: 9})
		require.NoError(w, err)
		m, err := client.Receive(w.Context())
		require.NoError(w, err)
		require.Equal(w, raknet.Message{Data: []byte("\xfehello!"), Reliability: raknet.ReliableOrdered, Channel: 9}, m)

		server.Handle(nil)
		_, err = client.Write([]byte("\xferead me"))
		require.NoError(w, err)
		b, err := server.ReadPacket()
		require.NoError(w, err)
		require.Equal(w, "\xferead me", string(b))
	})
}

// A close on a dead link gives up after its time and leaves nothing behind.
func TestACloseOnADeadLinkEnds(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, _ := w.dial(raknet.Dialer{Timeouts: raknet.Timeouts{Close: 2 * time.Second}})
		w.cut()
		r, err := client.Send(w.Context(), []byte{0xfe}, raknet.SendOptions{Reliability: raknet.ReliableWithReceipt})
		require.NoError(w, err)
		start := time.Now()
		require.NoError(w, client.Close())
		require.Zero(w, time.Since(start))
		<-r.Done()
		require.ErrorIs(w, r.Err(), net.ErrClosed)
		w.pass(20 * time.Second)
		c, err := w.network.Listen(client.LocalAddr().(*net.UDPAddr).AddrPort())
		require.NoError(w, err, "the socket is closed")
		require.NoError(w, c.Close())
	})
}

func TestAHandlerThatPanicsEndsItsConnectionOnly(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		other, otherServer := w.dial(raknet.Dialer{})
		server.Handle(func(raknet.Message) { panic("oops") })
		_, err := client.Write([]byte{0xfe})
		require.NoError(w, err)
		<-server.Context().Done()
		require.ErrorIs(w, context.Cause(server.Context()), raknet.ErrHandlerPanic)
		<-client.Context().Done()

		_, err = other.Write([]byte{0xfe})
		require.NoError(w, err)
		_, err = otherServer.ReadPacket()
		require.NoError(w, err)
	})
}

func TestASlowReaderSlowsThePeerAndAStuckOneLosesTheConnection(t *testing.T) {
	const unread, held = 50_000, 100_000
	conf := raknet.ListenConfig{Limits: raknet.Limits{ReceiveBuffer: unread, HeldBytes: held}, Timeouts: raknet.Timeouts{ReceiveStall: 5 * time.Second}}
	story(t, good, conf, func(w *world) {
		client, server := w.dial(raknet.Dialer{Limits: raknet.Limits{SendBuffer: 100_000}})
		var sendErr error
		wait := async(func() {
			for sendErr == nil {
				_, sendErr = client.Write(message(1000))
			}
		})
		for range 200 {
			w.pass(20 * time.Millisecond)
			b, err := server.ReadPacket()
			require.NoError(w, err)
			require.Len(w, b, 1000)
		}
		// What waited behind a refused datagram comes on top when that is sent again, and does not count while it is
		// unread; as much may wait once more, and a quarter while it is wanted.
		require.LessOrEqual(w, server.Stats().ReceiveQueueBytes, unread+held+held*5/4+5000)
		<-server.Context().Done()
		require.ErrorIs(w, context.Cause(server.Context()), raknet.ErrReceiveOverflow)
		wait()
		require.ErrorIs(w, sendErr, net.ErrClosed)
	})
}

func TestAConnectionKnowsItsPeer(t *testing.T) {
	story(t, good, raknet.ListenConfig{GUID: 42, MaxMTU: 1200}, func(w *world) {
		client, server := w.dial(raknet.Dialer{GUID: -7})
		require.EqualValues(w, 42, client.GUID())
		require.EqualValues(w, -7, server.GUID())
		for _, c := range []*raknet.Conn{client, server} {
			require.Equal(w, 1200, c.MTU())
			require.EqualValues(w, 11, c.ProtocolVersion())
			require.IsType(w, (*net.UDPAddr)(nil), c.RemoteAddr())
			require.IsType(w, (*net.UDPAddr)(nil), c.LocalAddr())
		}
		require.Equal(w, serverAddress, client.RemoteAddr().String())
		require.Equal(w, client.LocalAddr().String(), server.RemoteAddr().String())

		w.pass(10 * time.Second) // pings measure
		for _, c := range []*raknet.Conn{client, server} {
			require.InDelta(w, 20, float64(c.RTT())/1e6, 12)
			require.Equal(w, c.RTT()/2, c.Latency())
		}
	})
}

func TestStatsCount(t *testing.T) {
	story(t, bad, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		for range 200 {
			_, err := client.Write(message(1000))
			require.NoError(w, err)
		}
		w.pass(30 * time.Second)
		s := server.Stats()
		require.EqualValues(w, 200, s.MessagesReceived)
		require.Equal(w, 200, s.ReceiveQueueMessages)
		require.Greater(w, s.ReceiveQueueBytes, 200*1024, "the buffers that they lie in")
		require.Less(w, s.ReceiveQueueBytes, 200*2200)
		require.Greater(w, s.BytesReceived, uint64(200_000))
		require.NotZero(w, s.DuplicatesReceived)
		require.Zero(w, s.Violations)

		c := client.Stats()
		require.EqualValues(w, 200, c.MessagesSent)
		require.NotZero(w, c.DatagramsLost)
		require.NotZero(w, c.FramesResent)
		require.NotZero(w, c.RTT)
		require.NotZero(w, c.MinRTT)
		require.NotZero(w, c.CongestionWindow)
		require.Zero(w, c.SendQueueBytes)
		require.Greater(w, c.DatagramsSent, uint64(100))
		require.Greater(w, c.BytesSent, uint64(200_000))
	})
}

// Anybody may do anything at any time.
func TestConnIsSafeForConcurrentUse(t *testing.T) {
	story(t, bad, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		const writers, each = 8, 25
		var work sync.WaitGroup
		for g := range writers {
			work.Go(func() {
				for i := range each {
					_, err := client.Send(w.Context(), fmt.Appendf(nil, "\xfe%d/%d", g, i), raknet.SendOptions{Reliability: raknet.Reliable})
					assert.NoError(w, err)
					client.Stats()
					client.RTT()
				}
			})
		}
		var mu sync.Mutex
		got := map[string]bool{}
		for range writers {
			work.Go(func() {
				for range each {
					b, err := server.ReadPacket()
					assert.NoError(w, err)
					mu.Lock()
					assert.False(w, got[string(b)], "%q came twice", b)
					got[string(b)] = true
					mu.Unlock()
				}
			})
		}
		work.Wait()
		require.Len(w, got, writers*each)
	})
}

// Half a megabyte a second in large messages, as a game server sends when a player
// joins, on a healthy link.
func TestLargeWritesDoNotBlockOnAHealthyLink(t *testing.T) {
	story(t, netsim.Link{Delay: 10 * time.Millisecond, Bandwidth: 12_500_000}, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		var work sync.WaitGroup
		work.Go(func() {
			for range 100 {
				b, err := client.ReadPacket()
				assert.NoError(w, err)
				assert.Len(w, b, 50_000)
			}
		})
		for range 100 {
			start := time.Now()
			_, err := server.Write(message(50_000))
			require.NoError(w, err)
			require.Zero(w, time.Since(start))
			time.Sleep(50 * time.Millisecond)
		}
		work.Wait()
	})
}
