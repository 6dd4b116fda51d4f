package session

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

func TestWhatWasWrittenArrivesBeforeTheClose(t *testing.T) {
	for _, loss := range []float64{0, 0.05, 0.3} {
		for seed := range uint64(10) {
			p := connectedPair(t, nil)
			r := dice(t, seed)
			p.path = func(Side, int, []byte) fate { return fate{drop: r.Float64() < loss} }
			sent := map[string]int{}
			for i := range 30 {
				m := parcel(i, 1+r.IntN(5000))
				mode := []protocol.Reliability{protocol.Reliable, protocol.ReliableOrdered}[i%2]
				sent[m]++
				p.client.say(m, mode, uint8(i%5))
			}
			p.client.close()
			require.ErrorIs(t, p.client.Send(p.now, &arq.Message{Payload: []byte{0xfe}}), ErrClosed)
			p.until("server sees the close", 6*time.Second, func() bool { return p.server.closed != nil })
			require.ErrorIs(t, p.server.closed, ErrDisconnected)
			require.Len(t, p.server.messages, 30)
			for _, m := range p.server.messages {
				sent[m]--
				require.Zero(t, sent[m])
			}
			require.Equal(t, "closed", p.server.log[len(p.server.log)-1])
			p.until("client is done", 3*time.Second, func() bool { return p.client.closed != nil })
			require.ErrorIs(t, p.client.closed, ErrClosed)
			p.until("both are forgotten", 3*time.Second, func() bool { return p.client.State() == Dead && p.server.State() == Dead })
			require.Equal(t, monotime.Never, p.client.Deadline())
			p.finish()
		}
	}
}

func TestUnreliableMessagesLeaveBeforeTheClose(t *testing.T) {
	p := connectedPair(t, nil)
	for i := range 10 {
		require.NoError(t, p.client.Send(p.now, &arq.Message{Payload: []byte(parcel(i, 1000)), Priority: protocol.PriorityLow}))
	}
	p.client.close()
	p.until("server sees the close", time.Second, func() bool { return p.server.closed != nil })
	require.Len(t, p.server.messages, 10)
	p.until("client is done", time.Second, func() bool { return p.client.closed != nil })
	require.ErrorIs(t, p.client.closed, ErrClosed)
}

func TestAnUnreliableMessageIsNoReasonToWait(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	p.client.Send(p.now, &arq.Message{Payload: []byte(parcel(1, 1000))})
	p.client.close()
	took := p.until("both sides are closed", time.Second, func() bool { return p.server.closed != nil && p.client.closed != nil })
	require.Less(t, took, 5*pathDelay)
}

func TestBothSidesCloseAtOnce(t *testing.T) {
	for seed := range uint64(20) {
		p := connectedPair(t, nil)
		r := dice(t, seed)
		p.path = func(Side, int, []byte) fate { return fate{drop: r.Float64() < 0.2, copies: r.IntN(2)} }
		p.client.close()
		p.server.close()
		p.until("both are closed", 6*time.Second, func() bool { return p.client.closed != nil && p.server.closed != nil })
		require.ErrorIs(t, p.client.closed, ErrClosed)
		require.ErrorIs(t, p.server.closed, ErrClosed)
		p.run(5 * time.Second)
		require.Equal(t, Dead, p.client.State())
		require.Equal(t, Dead, p.server.State())
		require.Empty(t, p.flights)
		p.finish()
	}
}

func TestAPeerThatLeavesDuringTheDrainCutsItShort(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	p.client.say(parcel(1, 500_000), protocol.ReliableOrdered, 0)
	p.client.close()
	p.server.abort(nil)
	p.until("client is closed", time.Second, func() bool { return p.client.closed != nil })
	require.ErrorIs(t, p.client.closed, ErrDisconnected, "what was written did not arrive")
	require.ErrorIs(t, p.server.closed, ErrClosed)
}

// A client that only looked, say, need not wait for its half of the handshake to be acknowledged: the server sees it
// open and close, in that order, whatever is lost.
func TestWhoHasWrittenNothingSaysGoodbyeAtOnce(t *testing.T) {
	for lost := -1; lost < 4; lost++ {
		p := newPair(t, nil)
		p.until("client is connected", time.Second, func() bool { return p.client.State() == Connected })
		left := lost
		p.path = func(from Side, n int, data []byte) fate {
			if from == Client {
				left--
			}
			return fate{drop: from == Client && left == -1 && lost >= 0}
		}
		p.client.close()
		took := p.until("both sides are closed", 5*time.Second, func() bool { return p.server.closed != nil && p.client.closed != nil })
		require.Equal(t, []string{"connected", "closed"}, p.server.log)
		require.ErrorIs(t, p.server.closed, ErrDisconnected)
		require.ErrorIs(t, p.client.closed, ErrClosed)
		if lost < 0 {
			require.LessOrEqual(t, took, 2*pathDelay, "one trip there, one back")
		}
		p.finish()
	}
}

func TestAPeerThatDoesNotAcknowledgeBoundsTheDrain(t *testing.T) {
	r := connectedServer(t, Config{})
	r.autoAck = false
	require.NoError(t, r.Send(r.now, &arq.Message{Payload: []byte{0xfe}, Reliability: protocol.ReliableOrdered}))
	r.Close(r.now)
	r.Close(r.now)
	r.settle()
	require.Equal(t, Closing, r.State())
	for range 49 { // the peer is alive
		r.after(100 * time.Millisecond)
		r.send(protocol.Unreliable, pingAt(1))
	}
	require.Equal(t, 0, r.count(protocol.IDDisconnect))
	r.after(100 * time.Millisecond)
	require.ErrorIs(t, r.closedWith(), ErrCloseTimeout)
	require.Equal(t, 1, r.count(protocol.IDDisconnect))
	require.Equal(t, protocol.Unreliable, r.last(protocol.IDDisconnect).Reliability)
	frames := len(r.frames)
	r.after(defaultLinger)
	require.Len(t, r.frames, frames, "nothing is resent after the end")
	require.Equal(t, Dead, r.State())
}

func TestTheFarewellIsBoundedToo(t *testing.T) {
	r := connectedServer(t, Config{})
	r.autoAck = false // the usual case: the answer to the 0x15 is lost, and the peer is gone
	r.Close(r.now)
	r.settle()
	require.Equal(t, protocol.ReliableOrdered, r.last(protocol.IDDisconnect).Reliability)
	r.after(defaultFarewell - time.Millisecond)
	require.Nil(t, r.closedWith())
	require.Greater(t, r.count(protocol.IDDisconnect), 1, "resent")
	r.after(time.Millisecond)
	require.ErrorIs(t, r.closedWith(), ErrClosed, "everything but the farewell had arrived")
}

func TestTheDisconnectWaitsForItsPlaceOnItsChannel(t *testing.T) {
	r := connectedServer(t, Config{})
	r.hex("84 020000 60 0008 030000 030000 00 15")
	require.Equal(t, Connected, r.State())
	r.hex("84 030000 60 0010 030000 020000 00 fe02") // wrong: a used reliable index changes nothing
	require.Equal(t, Connected, r.State())
	r.hex("84 040000 60 0010 020000 020000 00 fe02")
	require.Equal(t, []string{"\xfe\x02"}, r.messages)
	require.ErrorIs(t, r.closedWith(), ErrDisconnected)
}

func TestADisconnectInAnyModeCloses(t *testing.T) {
	for mode := protocol.Unreliable; mode <= protocol.ReliableSequenced; mode++ {
		for _, payload := range []string{"\x15", "\x15tail"} {
			r := connectedServer(t, Config{})
			r.send(mode, []byte(payload))
			require.ErrorIs(t, r.closedWith(), ErrDisconnected, mode.String())
			require.Len(t, r.acked, 1)
		}
	}
}

func TestNothingIsDeliveredOnceTheCloseWasSeen(t *testing.T) {
	r := connectedServer(t, Config{})
	data := r.datagram(protocol.Reliable, []byte("\xfebefore"))
	data = r.frame(data, protocol.Reliable, []byte{0x15})
	data = r.frame(data, protocol.Reliable, []byte("\xfeafter"))
	r.raw(data)
	r.send(protocol.Reliable, []byte("\xfelater"))
	r.send(protocol.ReliableOrdered, []byte{0x15})
	require.Equal(t, []string{"\xfebefore"}, r.messages)
	require.Equal(t, []Event{{Kind: EventClosed, Err: ErrDisconnected}}, r.events)
	require.Equal(t, []uint32{2, 4}, r.acked, "nobody reads what came later")
}

func TestUnreadMessagesOutliveTheConnection(t *testing.T) {
	p := connectedPair(t, nil)
	p.server.deaf = true
	p.client.say(parcel(1, 10_000), protocol.ReliableOrdered, 0)
	p.client.say(parcel(2, 10), protocol.ReliableOrdered, 0)
	p.client.close()
	p.until("server is dead", 10*time.Second, func() bool { return p.server.State() == Dead })
	p.server.read()
	p.server.wantMessages(parcel(1, 10_000), parcel(2, 10))
}

func TestALingeringConnectionAnswersRepeatsAndNothingElse(t *testing.T) {
	r := connectedServer(t, Config{})
	r.autoAck = false
	require.NoError(t, r.Send(r.now, &arq.Message{Payload: []byte(parcel(1, 50_000)), Reliability: protocol.Reliable}))
	r.settle()
	bye := r.datagram(protocol.ReliableOrdered, []byte{0x15})
	r.raw(bye)
	r.forget()
	r.after(time.Second)
	require.Empty(t, r.frames, "its own data is dropped with the connection")
	r.raw(bye)
	r.number++
	r.send(protocol.Unreliable, pingAt(1))
	require.NotEmpty(t, r.acked)
	require.Empty(t, r.frames)
	r.after(defaultLinger)
	require.Equal(t, Dead, r.State())
	r.forget()
	r.raw(bye)
	require.Empty(t, r.out)
	require.Empty(t, r.events)
}

func TestAPeerThatMissedTheEndIsToldAgain(t *testing.T) {
	for _, loss := range []bool{false, true} {
		p := connectedPair(t, nil)
		p.run(time.Second)
		first := true
		p.path = func(from Side, n int, data []byte) fate {
			drop := loss && first && from == Server
			first = first && from != Server
			return fate{drop: drop}
		}
		p.server.abort(nil)
		p.run(200 * time.Millisecond)
		require.Equal(t, !loss, p.client.closed != nil)
		if loss {
			p.client.say(parcel(1, 100), protocol.ReliableOrdered, 0)
			p.until("the client knows", 200*time.Millisecond, func() bool { return p.client.closed != nil })
			require.ErrorIs(t, p.client.closed, ErrDisconnected)
		}
		require.Empty(t, p.server.messages)
	}
}

func TestWhoseFarewellWasAnsweredIsForgotten(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	p.client.close()
	took := p.until("client is closed", 2*time.Second, func() bool { return p.client.closed != nil })
	require.Less(t, took, time.Second)
	require.Equal(t, Dead, p.client.State(), "it has a socket of its own, which others wait for")
	require.Equal(t, Closed, p.server.State(), "its answer may have been lost")
	p.until("server is forgotten, too", 3*time.Second, func() bool { return p.server.State() == Dead })
	p.finish()
}

func TestALostAcknowledgementOfTheFarewellCostsOneResend(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	p.path = func(from Side, n int, data []byte) fate {
		return fate{drop: from == Server && p.server.State() == Closed && p.now < start.Add(1100*time.Millisecond)}
	}
	p.client.close()
	took := p.until("client is closed", 2*time.Second, func() bool { return p.client.closed != nil })
	require.ErrorIs(t, p.client.closed, ErrClosed)
	require.Less(t, took, time.Second)
}

func TestAbortEndsAtOnceAndOvertakesWhatIsQueued(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	p.client.say(parcel(1, 2_000_000), protocol.ReliableOrdered, 0)
	cause := errors.New("enough")
	p.client.abort(cause)
	p.client.abort(errors.New("again"))
	p.client.close()
	require.Equal(t, cause, p.client.closed)
	require.Equal(t, cause, p.client.Err())
	took := p.until("server hears", time.Second, func() bool { return p.server.closed != nil })
	require.Equal(t, pathDelay, took)
	require.ErrorIs(t, p.server.closed, ErrDisconnected)
	require.Empty(t, p.server.messages)
	require.ErrorIs(t, p.client.Send(p.now, &arq.Message{Payload: []byte{0xfe}}), ErrClosed)
}

func TestClosingBeforeTheHandshakeIsComplete(t *testing.T) {
	p := newPair(t, nil)
	p.client.close()
	require.ErrorIs(t, p.client.closed, ErrClosed)
	p.until("server hears", time.Second, func() bool { return p.server.closed != nil })
	require.Equal(t, []string{"closed"}, p.server.log)

	r := newRig(t, Config{Side: Server})
	r.send(protocol.Reliable, []byte("\xfeheld"))
	r.send(protocol.ReliableOrdered, []byte{0x15})
	require.Equal(t, []Event{{Kind: EventClosed, Err: ErrDisconnected}}, r.events)
	require.Empty(t, r.messages, "never connected, never delivered")
}

func TestClosingWithoutPatience(t *testing.T) {
	impatient := func(c, s *Config) { c.Timing = Timing{Drain: -1, Farewell: -1, Linger: -1} }
	p := connectedPair(t, impatient)
	p.run(time.Second)
	p.client.close()
	require.ErrorIs(t, p.client.closed, ErrClosed)
	p.until("server hears", time.Second, func() bool { return p.server.closed != nil })
	require.Equal(t, Dead, p.client.State())

	p = connectedPair(t, impatient)
	p.client.say(parcel(1, 100), protocol.ReliableOrdered, 0)
	p.client.close()
	require.ErrorIs(t, p.client.closed, ErrCloseTimeout)
}

func TestTooManyViolationsEndTheConnection(t *testing.T) {
	r := connectedServer(t, Config{})
	for range strikeBurst {
		r.hex("84 020000 60 0000")
	}
	r.after(time.Second)
	for range strikeBurst / 2 {
		r.hex("84 030000 60 0000")
	}
	require.Equal(t, Connected, r.State(), "within the budget")
	r.hex("84 020000 60 0000")
	require.ErrorIs(t, r.closedWith(), ErrViolations)
	require.Equal(t, 1, r.count(protocol.IDDisconnect))
}

func TestReleaseForgetsEverythingAtAnyMoment(t *testing.T) {
	for i := range 30 {
		p := newPair(t, nil)
		p.server.deaf = true
		for range i {
			p.step(p.now.Add(time.Second))
			if p.client.State() == Connected && p.client.SendSpace() > 10_000 {
				p.client.say(parcel(i, 10_000), protocol.ReliableOrdered, 0)
			}
		}
		p.finish()
		require.Equal(t, Dead, p.client.State())
		var ev Event
		var d arq.Delivery
		require.False(t, p.client.Next(&ev) || p.client.NextMessage(&d) || p.client.Pending(), fmt.Sprint(i))
		require.Nil(t, p.client.Transmit(p.now))
		p.client.Advance(p.now)
		p.client.Close(p.now)
		p.client.Abort(p.now, nil)
		require.Equal(t, arq.VerdictIgnored, p.client.Receive(p.now, nil, ack(0)))
	}
}

func TestAcksThatAStrangerProvokesEndNothing(t *testing.T) {
	r := connectedServer(t, Config{})
	for range 10 * strikeBurst {
		r.hex("c0 0001 01 000040") // an ACK of what was never sent
	}
	require.NoError(t, r.Err())
	require.Equal(t, Connected, r.State())
}
