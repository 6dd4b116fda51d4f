package raknet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Every bound that a peer can reach is reached here from outside, by one who listens and by one who
// is dialed, and something has to come of it that harms nobody else.

// user is a message of the application's.
func user(n int) []byte { return append([]byte{0xfe}, make([]byte, n-1)...) }

func TestWhatIsNotReadIsRefusedAndThenEndsTheConnection(t *testing.T) {
	const buffer = 100_000
	inBothRoles(t, raknet.Limits{ReceiveBuffer: buffer}, raknet.Timeouts{ReceiveStall: 5 * time.Second}, func(m *mallory) {
		var last uint32
		for range 300 {
			last = m.say(protocol.ReliableOrdered, user(1000))
			m.pass(time.Millisecond)
		}
		m.pass(100 * time.Millisecond)
		s := m.victim.Stats()
		require.Less(m, s.ReceiveQueueBytes, buffer+1100, "one message may exceed it")
		require.Greater(m, s.ReceiveQueueBytes, buffer-1)
		require.NotZero(m, s.DatagramsRefused)
		require.False(m, m.hasAck(last), "what finds no room is not acknowledged")

		lost := m.say(protocol.Unreliable, user(1000))
		m.pass(100 * time.Millisecond)
		require.True(m, m.hasAck(lost), "an unreliable message is dropped for good")
		require.NotZero(m, m.victim.Stats().UnreliableDropped)
		m.requireEnd(5*time.Second, raknet.ErrReceiveOverflow)
	})
}

func TestFragmentsAreBoundedBeforeAnythingIsAllocated(t *testing.T) {
	inBothRoles(t, raknet.Limits{ReceiveFragments: 100}, raknet.Timeouts{}, func(m *mallory) {
		for _, count := range []uint32{0, 101, 1 << 31, 1<<32 - 1} {
			f := m.frame(protocol.Reliable, user(10))
			f.Split, f.SplitCount = true, count
			number := m.datagram(f)
			m.pass(100 * time.Millisecond)
			require.False(m, m.hasAck(number), "%d fragments", count)
		}
		require.EqualValues(m, 4, m.victim.Stats().Violations)
		f := m.frame(protocol.Reliable, user(10))
		f.Split, f.SplitCount = true, 100
		number := m.datagram(f)
		m.pass(100 * time.Millisecond)
		require.True(m, m.hasAck(number), "as many as there may be")
		m.requireAlive()
	})
}

func TestUnfinishedMessagesAreBounded(t *testing.T) {
	const room = 1 << 20
	inBothRoles(t, raknet.Limits{ReassemblyBytes: room}, raknet.Timeouts{}, func(m *mallory) {
		for id := range 60 {
			f := m.frame(protocol.Reliable, user(1000))
			f.Split, f.SplitCount, f.SplitID = true, 50, uint16(id)
			m.datagram(f)
			m.pass(time.Millisecond)
		}
		m.pass(100 * time.Millisecond)
		taken := m.ackCount()
		require.Less(m, taken, 22, "each may come to 50 kB")
		require.Greater(m, taken, 5)
		require.EqualValues(m, 60-taken, m.victim.Stats().DatagramsRefused)
		m.requireAlive()
		m.requireEnd(time.Minute, raknet.ErrUnfinishedMessage)
	})
}

// As many messages may be begun as one of this library begins itself.
func TestMessagesBegunAreBounded(t *testing.T) {
	inBothRoles(t, raknet.Limits{ReassemblyBytes: 64 << 20}, raknet.Timeouts{}, func(m *mallory) {
		for id := range 1000 {
			f := m.frame(protocol.Reliable, user(100))
			f.Split, f.SplitCount, f.SplitID = true, 2, uint16(id)
			m.datagram(f)
			m.pass(time.Millisecond)
		}
		m.pass(100 * time.Millisecond)
		require.Equal(m, 256, m.ackCount())
		m.requireAlive()
	})
}

func TestMessagesThatWaitForAnEarlierOneAreBounded(t *testing.T) {
	for name, limits := range map[string]raknet.Limits{
		"by number": {HeldMessages: 100},
		"by bytes":  {HeldBytes: 100 * 2100},
	} {
		t.Run(name, func(t *testing.T) {
			inBothRoles(t, limits, raknet.Timeouts{}, func(m *mallory) {
				missing := m.frame(protocol.ReliableOrdered, user(500))
				for range 1000 {
					m.say(protocol.ReliableOrdered, user(500))
					m.pass(time.Millisecond)
				}
				m.pass(100 * time.Millisecond)
				held := m.ackCount()
				require.GreaterOrEqual(m, held, 100)
				require.LessOrEqual(m, held, 500, "messages are charged for what they pin")
				require.Zero(m, m.victim.Stats().ReceiveQueueMessages)
				m.datagram(missing)
				m.pass(100 * time.Millisecond)
				require.Equal(m, held+1, m.victim.Stats().ReceiveQueueMessages, "what was held is not lost")
				m.requireAlive()
			})
		})
	}
}

// malformed is a datagram with his next number that nobody can read.
func (m *mallory) malformed() []byte {
	return append(wire.AppendDatagramHeader(nil, wire.FrameSetID, m.number), 0x60, 0xff)
}

// Malformed datagrams are forgiven as far as a broken link explains them. Over that the connection
// ends, and nothing happens to the address, which somebody else may have forged.
func TestStrikesEndTheConnectionAndNotTheAddress(t *testing.T) {
	inBothRoles(t, raknet.Limits{}, raknet.Timeouts{}, func(m *mallory) {
		for range 100 {
			m.raw(m.malformed())
		}
		m.pass(100 * time.Millisecond)
		require.EqualValues(m, 100, m.victim.Stats().Violations)
		m.requireAlive()
		t.Log("# as many as come back each second")
		for range 5 {
			for range 50 {
				m.raw(m.malformed())
				m.pass(20 * time.Millisecond)
			}
		}
		m.requireAlive()
		for range 102 {
			m.raw(m.malformed())
		}
		m.requireEnd(time.Second, raknet.ErrProtocolViolation)
	})
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		m := w.malloryDials(raknet.Dialer{})
		for range 102 {
			m.raw(m.malformed())
		}
		m.requireEnd(time.Second, raknet.ErrProtocolViolation)
		require.NoError(w, m.pc.Close())
		again := w.malloryDials(raknet.Dialer{})
		again.requireAlive()
		for range w.listener.Blocked() {
			w.Fatal("an address is blocked")
		}
	})
}

// Who acknowledges nothing makes the writer wait, not the memory grow.
func TestWhoAcknowledgesNothingMakesWritersWait(t *testing.T) {
	const buffer = 200_000
	inBothRoles(t, raknet.Limits{SendBuffer: buffer}, raknet.Timeouts{}, func(m *mallory) {
		m.acknowledges(false)
		require.NoError(m, m.victim.SetWriteDeadline(time.Now().Add(2*time.Second)))
		sent, start := 0, time.Now()
		for ; sent < 1000; sent++ {
			if _, err := m.victim.Write(user(1000)); err != nil {
				require.ErrorIs(m, err, os.ErrDeadlineExceeded)
				break
			}
		}
		require.Equal(m, 2*time.Second, time.Since(start))
		require.Less(m, sent, buffer/1000+1)
		require.Greater(m, sent, buffer/1200)
		s := m.victim.Stats()
		require.LessOrEqual(m, s.BytesInFlight, s.CongestionWindow+1500)
		require.NoError(m, m.victim.Context().Err())
	})
}

// Who is heard and never acknowledges what he is sent cannot be trusted to get it.
func TestWhoIsHeardAndAcknowledgesNothingIsGivenUp(t *testing.T) {
	inBothRoles(t, raknet.Limits{}, raknet.Timeouts{}, func(m *mallory) {
		m.acknowledges(false)
		_, err := m.victim.Write(user(100))
		require.NoError(m, err)
		for range 90 {
			m.say(protocol.Unreliable, user(10))
			m.pass(time.Second)
			_, _ = m.victim.ReadPacket()
			if m.victim.Context().Err() != nil {
				break
			}
		}
		require.ErrorIs(m, context.Cause(m.victim.Context()), raknet.ErrUnacknowledged)
	})
}

// Nothing that can be forged without seeing the connection is a sign of life.
func TestForgedSignsOfLifeKeepNoConnection(t *testing.T) {
	inBothRoles(t, raknet.Limits{}, raknet.Timeouts{}, func(m *mallory) {
		m.acknowledges(false)
		start := time.Now()
		for m.victim.Context().Err() == nil && time.Since(start) < time.Minute {
			for _, b := range [][]byte{
				{0x84, 0, 0, 0xc0},                         // a number far away, without frames
				{0xc0, 0, 1, 1, 0xff, 0xff, 0x7f},          // an ACK of what was never sent
				{0xa0, 0, 1, 1, 0xff, 0xff, 0x7f},          // a NACK of it
				{0x15}, {0x00}, {0x03}, {0xff, 0xff, 0xff}, // bare control messages, noise
				pingDatagram, request1(1400), // what strangers may send
				append([]byte{0x1c}, pingDatagram[1:]...), // and servers
			} {
				m.raw(b)
			}
			m.pass(100 * time.Millisecond)
		}
		require.ErrorIs(m, context.Cause(m.victim.Context()), raknet.ErrIdleTimeout)
		require.InDelta(m, 10, time.Since(start).Seconds(), 2)
	})
}

func TestPingsInAConnectionAreAnsweredAtABoundedRate(t *testing.T) {
	inBothRoles(t, raknet.Limits{}, raknet.Timeouts{}, func(m *mallory) {
		for i := range 3000 {
			m.say(protocol.Unreliable, (&wire.ConnectedPing{Time: int64(i)}).Append(nil))
			m.pass(time.Millisecond)
		}
		m.pass(time.Second)
		pongs := m.sent(protocol.IDConnectedPong)
		require.LessOrEqual(m, len(pongs), 5+20*4)
		require.GreaterOrEqual(m, len(pongs), 40)
		var p wire.ConnectedPong
		require.NoError(m, p.Parse(pongs[len(pongs)-1]))
		require.EqualValues(m, 2999, p.PingTime, "the newest is answered")
		m.requireAlive()
	})
}

// Holes after every datagram make every one a range of its own.
func TestAcknowledgementsOfHolesAreBounded(t *testing.T) {
	inBothRoles(t, raknet.Limits{}, raknet.Timeouts{}, func(m *mallory) {
		sent := 0
		for range 10 {
			for range 200 {
				m.number++ // a hole
				m.say(protocol.Unreliable, user(2))
				sent += 8
			}
			m.pass(50 * time.Millisecond)
		}
		m.pass(time.Second)
		m.mu.Lock()
		most, bytes := m.most, m.bytes
		m.mu.Unlock()
		require.LessOrEqual(m, most, 256)
		require.Less(m, bytes, 12*sent, "answers are bounded by what came")
		m.requireAlive()
	})
}

// One ACK may name everything there is a hundred times over.
func TestAnAckOfEverythingIsTakenForWhatItSays(t *testing.T) {
	inBothRoles(t, raknet.Limits{}, raknet.Timeouts{}, func(m *mallory) {
		m.acknowledges(false)
		for range 50 {
			_, err := m.victim.Write(user(1000))
			require.NoError(m, err)
		}
		m.pass(50 * time.Millisecond)
		for _, id := range []byte{0xa0, 0xc0} {
			bomb := binary.BigEndian.AppendUint16([]byte{id}, 200)
			for range 200 {
				bomb = append(bomb, 0, 0, 0, 0, 0xff, 0xff, 0x7f)
			}
			before := m.victim.Stats()
			for range 20 {
				m.raw(bomb)
			}
			m.pass(15 * time.Millisecond)
			after := m.victim.Stats()
			require.LessOrEqual(m, after.FramesResent-before.FramesResent, uint64(60), "each frame once a round trip")
			require.LessOrEqual(m, after.BytesInFlight, after.CongestionWindow+1500)
		}
		m.acknowledges(true)
		m.pass(3 * time.Second)
		require.Zero(m, m.victim.Stats().BytesInFlight)
		m.requireAlive()
	})
}

func TestNumbersOutsideTheWindowsAreNotTaken(t *testing.T) {
	inBothRoles(t, raknet.Limits{}, raknet.Timeouts{}, func(m *mallory) {
		m.requireAlive()
		jumped := m.number + 1<<22
		number := m.number
		m.number = jumped
		m.say(protocol.Reliable, user(10))
		m.number = number
		m.reliable--

		f := m.frame(protocol.Reliable, user(10))
		m.reliable--
		f.Reliable += 1 << 20
		reliable := m.datagram(f)

		f = m.frame(protocol.ReliableOrdered, user(10))
		m.reliable, m.order = m.reliable-1, m.order-1
		f.Order += 1 << 20
		order := m.datagram(f)
		m.pass(100 * time.Millisecond)
		require.False(m, m.hasAck(jumped))
		require.False(m, m.hasAck(reliable))
		require.False(m, m.hasAck(order))
		require.EqualValues(m, 3, m.victim.Stats().DatagramsRefused)
		require.EqualValues(m, 1, m.victim.Stats().ReceiveQueueMessages, "that of requireAlive")
		m.requireAlive()
	})
}

func TestTooLargeMessagesAreRefusedBeforeTheyAreCopied(t *testing.T) {
	inBothRoles(t, raknet.Limits{MaxFragments: 10}, raknet.Timeouts{}, func(m *mallory) {
		fits := 10 * (m.victim.MTU() - 60)
		_, err := m.victim.Write(user(fits))
		require.NoError(m, err)
		_, err = m.victim.Write(user(fits + 1))
		require.ErrorIs(m, err, raknet.ErrMessageTooLarge)
		m.requireAlive()
	})
}

// A server that goes on talking before it has let the client in.
func TestWhatComesBeforeTheHandshakeIsOverIsBounded(t *testing.T) {
	t.Run("dialer", func(t *testing.T) {
		story(t, good, raknet.ListenConfig{}, func(w *world) {
			m := w.mallory("10.66.6.7:666")
			m.order = 1 // it never sends the first ordered message, which the client waits for
			go m.serve()
			var err error
			wait := async(func() {
				_, err = raknet.Dialer{UpstreamDialer: w.network}.DialContext(w.Context(), "10.66.6.7:666")
			})
			w.pass(time.Second)
			for range 2000 {
				m.say(protocol.Reliable, user(200))
				w.pass(time.Millisecond)
			}
			require.Less(w, wait(), 5*time.Second)
			requireOp(w, err, "dial")
			require.ErrorIs(w, err, raknet.ErrProtocolViolation)
		})
	})
	t.Run("listener", func(t *testing.T) {
		story(t, good, raknet.ListenConfig{}, func(w *world) {
			m := w.mallory("10.66.6.6:666")
			require.Equal(w, byte(protocol.IDOpenConnectionReply2), m.knock(666)[0])
			go m.listen()
			for range 2000 {
				m.say(protocol.Reliable, user(200))
				w.pass(time.Millisecond)
			}
			require.Zero(w, w.listener.Stats().HalfOpen)
			require.Zero(w, w.listener.Stats().Connections)
			require.Less(w, m.ackCount(), 1100)
		})
	})
}

// Requests that are repeated are answered a few times.
func TestHandshakesThatAreRepeatedAreAnsweredAFewTimes(t *testing.T) {
	t.Run("listener", func(t *testing.T) {
		story(t, good, raknet.ListenConfig{}, func(w *world) {
			m := w.mallory("10.66.6.6:666")
			require.Equal(w, byte(protocol.IDOpenConnectionReply2), m.knock(666)[0])
			go m.listen()
			for range 300 {
				m.say(protocol.ReliableOrdered, (&wire.ConnectionRequest{GUID: 1}).Append(nil))
				w.pass(30 * time.Millisecond)
			}
			n := len(m.sent(protocol.IDConnectionRequestAccepted))
			require.LessOrEqual(w, n, 8)
			require.NotZero(w, n)
		})
	})
	t.Run("dialer", func(t *testing.T) {
		story(t, good, raknet.ListenConfig{}, func(w *world) {
			m := w.malloryAnswers(raknet.Dialer{})
			for range 300 {
				m.say(protocol.ReliableOrdered, (&wire.ConnectionRequestAccepted{Internal: 20}).Append(nil))
				w.pass(30 * time.Millisecond)
			}
			require.LessOrEqual(w, len(m.sent(protocol.IDNewIncomingConnection)), 8)
			m.requireAlive()
			_ = m.victim.Close()
		})
	})
}

// Offline packets of a hostile server: none of them ends a dial but those that say so, and none
// grows anything.
func TestADialHearsOutAFloodOfNonsense(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		m := w.mallory("10.66.6.7:666")
		go func() {
			for b := make([]byte, 2048); ; {
				n, from, err := m.pc.ReadFrom(b)
				if err != nil {
					return
				}
				m.mu.Lock()
				m.to = from
				m.mu.Unlock()
				for i := range 200 {
					m.raw(bytes.Repeat([]byte{byte(i)}, 1+n%1400))
				}
			}
		}()
		start := time.Now()
		_, err := raknet.Dialer{UpstreamDialer: w.network}.DialTimeout("10.66.6.7:666", 5*time.Second)
		o := requireOp(w, err, "dial")
		require.True(w, o.Timeout())
		require.Equal(w, 5*time.Second, time.Since(start))
	})
}
