package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// goodbye is a datagram with a disconnect, of a number and in a mode.
func goodbye(number uint32, mode protocol.Reliability) []byte {
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, number)
	return append(wire.AppendFrameHeader(b, &wire.Frame{Reliability: mode, Reliable: number, Order: number}, 1), byte(protocol.IDDisconnect))
}

// besiegedServer is a connected server that just got a datagram of somebody who guesses.
func besiegedServer(t *testing.T) *rig {
	r := connectedServer(t, Config{})
	r.raw(goodbye(r.number+1<<20, protocol.Unreliable))
	require.Equal(t, Connected, r.State())
	r.forget()
	return r
}

// All counts are small, and so are the guesses of somebody who knows that they begin at zero.
func TestDisconnectsOfEveryNumberEndNothing(t *testing.T) {
	r := connectedServer(t, Config{})
	for range 200 {
		r.send(protocol.ReliableOrdered, []byte{0xfe, 1})
	}
	for n := uint32(1000); n > 0; n-- {
		r.raw(goodbye(n, protocol.ReliableOrdered))
		r.after(time.Millisecond)
	}
	r.after(3 * time.Second)
	require.Equal(t, Connected, r.State())
}

func TestGuessedDisconnectsEndNothing(t *testing.T) {
	for _, mode := range []protocol.Reliability{protocol.Unreliable, protocol.Reliable, protocol.ReliableOrdered} {
		random := dice(t, 7)
		r := connectedServer(t, Config{})
		for i := range 20_000 { // some of which have a number in the window
			r.raw(goodbye(random.Uint32()&wire.Mask24, mode))
			if i%100 == 0 {
				r.send(protocol.ReliableOrdered, []byte{0xfe, byte(i)})
				r.after(10 * time.Millisecond)
			}
			if i%5000 == 0 { // after a rest every number ahead is taken
				r.after(1500 * time.Millisecond)
			}
			require.Equal(t, Connected, r.State(), "mode %v, guess %d", mode, i)
			r.out, r.frames, r.acked, r.messages = nil, nil, nil, nil
		}
		r.after(5 * time.Second)
		require.Equal(t, Connected, r.State())
	}
}

// A guess that hits by means of one that came before it is doubted like any other.
func TestAGuessInTwoStepsEndsNothing(t *testing.T) {
	r := connectedServer(t, Config{})
	r.after(2 * time.Second)
	far := r.number + 20_000
	f := wire.Frame{Reliability: protocol.Unreliable}
	r.raw(append(wire.AppendFrameHeader(wire.AppendDatagramHeader(nil, wire.FrameSetID, far), &f, 1), 0xfe))
	require.Len(t, r.messages, 1, "the jump was taken")
	r.raw(goodbye(far+1, protocol.Unreliable))
	for range 2 * strikeBurst {
		r.raw(append(wire.AppendDatagramHeader(nil, wire.FrameSetID, far+2), 0x60, 0, 0))
	}
	r.after(echoTime + time.Millisecond)
	r.send(protocol.Unreliable, []byte{0xfe})
	r.after(3 * time.Second)
	require.Equal(t, Connected, r.State())
}

func TestADoubtedDisconnectIsBelievedWhenNothingFollows(t *testing.T) {
	r := besiegedServer(t)
	r.autoAck = false
	r.raw(goodbye(r.number, protocol.Unreliable))
	require.Equal(t, 1, r.count(protocol.IDConnectedPing), "the peer is asked whether it lives")
	r.raw(goodbye(r.number, protocol.Unreliable)) // the path doubles it, and that is no sign of life
	r.raw(goodbye(r.number+1, protocol.Unreliable))
	r.after(doubtTime - time.Millisecond)
	require.Equal(t, Connected, r.State())
	r.after(2 * time.Millisecond)
	require.ErrorIs(t, r.closedWith(), ErrDisconnected)
}

// What was under way when the peer left comes after its disconnect, and is no sign of life.
func TestADoubtedDisconnectIsNotRefutedByWhatLeftBefore(t *testing.T) {
	r := besiegedServer(t)
	r.autoAck = false
	late := r.number
	r.raw(goodbye(late+2, protocol.Unreliable))
	require.Equal(t, 1, r.count(protocol.IDConnectedPing))
	f := wire.Frame{Reliability: protocol.Unreliable}
	for n := late; n < late+2; n++ {
		r.raw(append(wire.AppendFrameHeader(wire.AppendDatagramHeader(nil, wire.FrameSetID, n), &f, 1), 0xfe))
	}
	r.raw([]byte{wire.ACKID, 0, 1, 1, 0, 0, 0}) // of what was sent before the question
	r.after(doubtTime + time.Millisecond)
	require.ErrorIs(t, r.closedWith(), ErrDisconnected)
}

func TestADoubtedDisconnectIsRefutedByASignOfLife(t *testing.T) {
	for name, answer := range map[string]func(r *rig){
		"the answer to the ping": func(r *rig) {
			r.number++ // whose number was used up
			for _, f := range r.frames {
				var ping wire.ConnectedPing
				if ping.Parse(f.Payload) == nil {
					r.send(protocol.Unreliable, (&wire.ConnectedPong{PingTime: ping.Time, Time: 1}).Append(nil))
					return
				}
			}
			t.Error("nobody asked")
		},
		"a message, later": func(r *rig) {
			r.after(echoTime + time.Millisecond)
			r.number++
			r.send(protocol.Unreliable, []byte{0xfe})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := besiegedServer(t)
			r.raw(goodbye(r.number, protocol.Unreliable))
			answer(r)
			r.after(2 * doubtTime)
			require.Equal(t, Connected, r.State())
		})
	}
}

// A client that closes while somebody else forges its address is noticed a little later.
func TestADisconnectInOrderIsDoubtedAsWell(t *testing.T) {
	r := besiegedServer(t)
	r.autoAck = false
	r.send(protocol.ReliableOrdered, []byte{byte(protocol.IDDisconnect)})
	require.Equal(t, Connected, r.State())
	r.after(doubtTime + time.Millisecond)
	require.ErrorIs(t, r.closedWith(), ErrDisconnected)
}

func TestASiegeIsForgotten(t *testing.T) {
	r := besiegedServer(t)
	r.after((siegeTime + 2) * strangeUnit)
	r.raw(goodbye(r.number, protocol.Unreliable))
	require.ErrorIs(t, r.closedWith(), ErrDisconnected)
}

// A guessed reliable index that the peer has not used yet would make its frame a copy, and its channel wait
// for ever.
func TestAGuessedIndexHoldsNobodyUp(t *testing.T) {
	for what, guess := range map[string]func(i int, peer uint32, random uint32) (number, index uint32){
		// For half of them the engine would look at the index, and of those some are soon used.
		"all": func(_ int, _, random uint32) (number, index uint32) { return random, random * 2654435761 },
		"in rows": func(i int, _, random uint32) (number, index uint32) {
			return uint32(i%4096) + uint32(i/4096)<<21, random
		},
		"in pairs": func(i int, _, random uint32) (number, index uint32) { return uint32(i/2)*7919 + uint32(i%2), random },
		"close by": func(i int, peer, random uint32) (number, index uint32) {
			return peer + 65 + random%8000, peer + random%1000
		},
		"close behind": func(i int, peer, random uint32) (number, index uint32) {
			return peer - 66 - random%8000, peer + random%1000
		},
	} {
		random := dice(t, 9)
		r := connectedServer(t, Config{})
		r.raw(goodbye(r.number+1<<22, protocol.Unreliable)) // who guesses cannot but show it before long
		for i := range 20_000 {
			number, index := guess(i, r.number, random.Uint32())
			if near := number - r.number + nearNumbers; near&wire.Mask24 <= 2*nearNumbers+1 {
				continue // that one in 130,000 is not told from the peer's
			}
			f := wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: index & wire.Mask24, Order: random.Uint32() & wire.Mask24}
			r.raw(append(wire.AppendFrameHeader(wire.AppendDatagramHeader(nil, wire.FrameSetID, number&wire.Mask24), &f, 1), 0xfe))
			if i%4 == 0 {
				r.send(protocol.ReliableOrdered, []byte{0xfe, byte(i)})
				require.Len(t, r.messages, 1, "%s, message %d", what, i)
			}
			r.forget()
		}
	}
}

// A peer that lost so much that its numbers are no longer near is taken at once while nobody guesses, and if
// somebody does when it was not seen for a moment where it was.
func TestAPeerThatLostMuchGoesOn(t *testing.T) {
	for _, siege := range []bool{false, true} {
		r := connectedServer(t, Config{})
		r.send(protocol.ReliableOrdered, []byte{0xfe, 1})
		if siege {
			r.raw(goodbye(r.number+1<<22, protocol.Unreliable))
		}
		r.number += 1000
		r.forget()
		began, tries := r.now, 0
		for ; len(r.messages) == 0; tries++ {
			if siege {
				r.raw(goodbye(r.number+1<<22+uint32(tries), protocol.Unreliable))
			}
			r.send(protocol.ReliableOrdered, []byte{0xfe, 2})
			if len(r.messages) == 0 { // what is not acknowledged is sent again
				r.order--
				r.reliable--
				r.after(100 * time.Millisecond)
			}
		}
		if !siege {
			require.Equal(t, 1, tries)
		}
		require.Less(t, r.now.Sub(began), (leftTime+1)*time.Duration(strangeUnit))
		require.Equal(t, Connected, r.State())
		for i := range byte(10) {
			r.send(protocol.ReliableOrdered, []byte{0xfe, i})
			require.Len(t, r.messages, 2+int(i), "it is near again")
		}
	}
}

// A forged jump puts the peer far behind, where the engine knows nothing of its datagrams any more. It goes on
// all the same, although somebody else goes on guessing.
func TestAForgedJumpLeavesThePeerWhereItIs(t *testing.T) {
	r := connectedServer(t, Config{})
	for jump := range uint32(5) {
		r.after(2 * time.Second)
		r.forget()
		number := r.number + 20_000 + 5_000*jump
		r.raw(append(wire.AppendFrameHeader(wire.AppendDatagramHeader(nil, wire.FrameSetID, number), &wire.Frame{}, 1), 0xfe))
		require.Len(t, r.messages, 1, "the jump was taken")
		for i := range byte(10) {
			r.raw(goodbye(r.number+1<<22, protocol.Unreliable))
			r.send(protocol.ReliableOrdered, []byte{0xfe, i})
			require.Len(t, r.messages, int(2+i))
		}
	}
	require.Equal(t, Connected, r.State())
}

// Who was not heard for a while may have gone on anywhere, also far behind what was forged; and if
// it goes on in order, it is believed at once.
func TestAPeerIsFoundWhereItGoesOn(t *testing.T) {
	r := connectedServer(t, Config{})
	for range 2 * nearNumbers {
		r.raw(r.datagram(protocol.Unreliable, []byte{0xfe}))
	}
	require.Equal(t, Connected, r.State())
	r.newest += 30_000 // as if it had been led astray
	r.forget()
	r.send(protocol.ReliableOrdered, []byte{0xfe, 1})
	require.Empty(t, r.messages, "one alone may be a guess")
	r.order-- // what was dropped is sent again
	r.reliable--
	r.send(protocol.ReliableOrdered, []byte{0xfe, 1})
	require.Len(t, r.messages, 1)
	r.newest += 30_000
	r.after((leftTime + 1) * strangeUnit)
	r.raw(goodbye(r.number+1<<22, protocol.Unreliable))
	r.send(protocol.ReliableOrdered, []byte{0xfe, 2})
	require.Len(t, r.messages, 2)
}

func TestForgedGarbageEndsNothing(t *testing.T) {
	random := dice(t, 8)
	r := connectedServer(t, Config{})
	for i := range 10 * strikeBurst {
		number := wire.AppendUint24([]byte{0x84}, random.Uint32())
		r.raw(append(number, 0x60, 0, 0))
		r.raw([]byte{0xc0, 0xff, 0xff})
		r.raw([]byte{0xa0, 0xff, byte(i)})
		r.raw([]byte{0x84})
	}
	require.Equal(t, Connected, r.State())
	r.after((siegeTime + 2) * strangeUnit)
	for range strikeBurst + 1 {
		r.hex("84 020000 60 0000") // which only the peer can have sent
	}
	require.ErrorIs(t, r.closedWith(), ErrViolations)
}
