package session

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func pingAt(time int64) []byte {
	p := wire.ConnectedPing{Time: time}
	return p.Append(nil)
}

func TestAPingIsAnsweredUnreliablyWithItsOwnTime(t *testing.T) {
	for _, r := range []*rig{
		newRig(t, Config{Side: Server}), newRig(t, Config{Side: Client}), // some ping before the handshake
		connectedServer(t, Config{}), connectedClient(t, Config{}),
	} {
		r.forget()
		r.send(protocol.Unreliable, pingAt(-77))
		f := r.last(protocol.IDConnectedPong)
		require.Equal(t, protocol.Unreliable, f.Reliability)
		var p wire.ConnectedPong
		require.NoError(t, p.Parse(f.Payload))
		require.Equal(t, wire.ConnectedPong{PingTime: -77, Time: r.now.Milli() + someEpoch}, p)
		r.send(protocol.Unreliable, []byte{0, 1, 2})
		r.send(protocol.Unreliable, append(pingAt(3), "tail"...))
		require.Equal(t, 2, r.count(protocol.IDConnectedPong))
	}
}

func TestAFloodOfPingsIsAnsweredAtABoundedRateTheNewestLast(t *testing.T) {
	r := connectedServer(t, Config{})
	for i := range 10 {
		data := wire.AppendDatagramHeader(nil, wire.FrameSetID, r.number)
		r.number++
		for j := range 100 {
			data = r.frame(data, protocol.Unreliable, pingAt(int64(100*i+j)))
		}
		r.raw(data)
	}
	require.Equal(t, pongBurst, r.count(protocol.IDConnectedPong))
	r.after(time.Second)
	require.Equal(t, pongBurst+1, r.count(protocol.IDConnectedPong))
	require.EqualValues(t, 999, binary.BigEndian.Uint64(r.last(protocol.IDConnectedPong).Payload[1:]))
	var s Stats
	r.Stats(&s)
	require.EqualValues(t, pongBurst+1, s.PongsSent)
	require.EqualValues(t, 1000-pongBurst-1, s.PongsSuppressed)

	for range 1000 {
		r.send(protocol.Unreliable, pingAt(1))
		r.after(time.Millisecond)
	}
	require.InDelta(t, 25, r.count(protocol.IDConnectedPong)-pongBurst-1, 2)
	require.Equal(t, Connected, r.State())
}

func TestPongsOfTimesThatWereNeverSentSayNothing(t *testing.T) {
	r := connectedServer(t, Config{})
	var before, after Stats
	r.Stats(&before)
	for _, pong := range [][]byte{
		(&wire.ConnectedPong{PingTime: 1 << 62, Time: 1}).Append(nil),
		(&wire.ConnectedPong{PingTime: r.now.Milli() + someEpoch}).Append(nil),
		{3}, {3, 1}, {3, 0, 0, 0, 0, 0, 0, 0},
	} {
		r.send(protocol.Unreliable, pong)
	}
	r.Stats(&after)
	require.Equal(t, before.RTT, after.RTT)
	require.Zero(t, after.PingRTT)
	require.Len(t, r.acked, 5)
	require.Empty(t, r.messages)
}

func TestAPongMeasuresTheRoundTripOnce(t *testing.T) {
	p := connectedPair(t, func(client, server *Config) { client.Timing.Ping = defaultPing }) // chosen, so that kin, too, are pinged
	p.run(time.Second)
	var s Stats
	p.client.Stats(&s)
	require.Equal(t, 2*pathDelay, s.PingRTT, "the client pings when it is connected")
	require.InDelta(t, float64(2*pathDelay), float64(p.client.RTT()), float64(pathDelay))
}

func TestAnIdleConnectionLivesAndCostsLittle(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	sent := p.client.sent + p.server.sent
	p.run(10 * time.Minute)
	require.Equal(t, Connected, p.client.State())
	require.Equal(t, Connected, p.server.State())
	per := float64(p.client.sent+p.server.sent-sent) / 600
	require.Less(t, per, 2.5, "datagrams a second, both ways together")
}

// Only the server pings, and all its connections do so at the same moments.
func TestTheServerPingsForBothSides(t *testing.T) {
	p := connectedPair(t, func(client, server *Config) { // chosen, so that it holds for kin as well
		client.Timing.Ping, server.Timing.Ping = defaultPing, defaultPing
	})
	p.run(time.Second)
	var client, server Stats
	p.client.Stats(&client)
	p.server.Stats(&server)
	pings := client.PingsSent
	moments := p.asked(&p.server, time.Minute)
	p.client.Stats(&client)
	require.Equal(t, pings, client.PingsSent)
	require.InDelta(t, 60/2.25, len(moments), 2)
	for _, at := range moments[1:] {
		require.Zero(t, at%monotime.Time(250*time.Millisecond), at)
	}
}

// asked lets time pass, and returns when a node asked whether the other lives.
func (p *pair) asked(n *node, d time.Duration) (moments []monotime.Time) {
	last := n.keepalive.lastPing
	for end := p.now.Add(d); p.step(end); {
		if at := n.keepalive.lastPing; at != last {
			moments = append(moments, at)
			last = at
		}
	}
	return moments
}

func TestAnIdleConnectionOutlivesHeavyLoss(t *testing.T) {
	p := connectedPair(t, nil)
	r := dice(t, 40)
	p.path = func(Side, int, []byte) fate { return fate{drop: r.Float64() < 0.4} }
	p.run(time.Hour)
	require.Equal(t, Connected, p.client.State())
	require.Equal(t, Connected, p.server.State())
}

// The peer of an idle session is one that answers nothing but ACKs.
func TestAcknowledgementsAloneKeepAPeerAlive(t *testing.T) {
	r := connectedServer(t, Config{})
	r.after(5 * time.Minute)
	require.Equal(t, Connected, r.State())
	require.InDelta(t, 133, r.count(protocol.IDConnectedPing), 2, "one in 2.25 s")
	for _, f := range r.frames {
		require.Equal(t, protocol.Unreliable, f.Reliability)
		require.Len(t, f.Payload, 9)
	}
}

// The application does not read, so that everything the peer sends is refused. It is not
// the peer who is to blame.
func TestRefusedDatagramsShowThatThePeerLives(t *testing.T) {
	p := connectedPair(t, func(c, s *Config) {
		s.ARQ.Limits.ReceiveBuffer = 1000
		s.Timing.Ping, c.Timing.Ping = -1, -1
		s.Timing.Idle, s.Timing.ReceiveStall = 5*time.Second, 10*time.Second
	})
	p.server.deaf = true
	p.client.say(parcel(1, 1000), protocol.Reliable, 0)
	p.client.say(parcel(2, 1000), protocol.Reliable, 0)
	p.until("server gives up", 20*time.Second, func() bool { return p.server.closed != nil })
	require.ErrorIs(t, p.server.closed, ErrReceiveOverflow)
}

func TestADeadPeerIsFoundAlthoughNobodySends(t *testing.T) {
	for _, side := range []Side{Client, Server} {
		p := connectedPair(t, nil)
		p.run(time.Minute)
		alive, dead := &p.client, &p.server
		if side == Server {
			alive, dead = dead, alive
		}
		p.flights = nil
		dead.asleep = true
		since := alive.LastHeard()
		p.until("death is noticed", 15*time.Second, func() bool { return alive.closed != nil })
		require.ErrorIs(t, alive.closed, ErrIdleTimeout)
		require.Equal(t, defaultIdle, p.now.Sub(since))
	}
}

func TestADeadPeerIsFoundWithUnacknowledgedData(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(3 * time.Second)
	p.server.asleep = true
	p.client.say(parcel(1, 100_000), protocol.ReliableOrdered, 0)
	took := p.until("death is noticed", 15*time.Second, func() bool { return p.client.closed != nil })
	require.ErrorIs(t, p.client.closed, ErrIdleTimeout)
	require.LessOrEqual(t, took, defaultIdle)
}

func TestWhatAnybodyCanForgeIsNoSignOfLife(t *testing.T) {
	r := connectedServer(t, Config{Timing: Timing{Ping: -1}})
	for range 11 {
		r.after(time.Second)
		r.hex("42", "", "01000000000000000100ffff00fefefefefdfdfdfd123456780000000000000001",
			"c0 0001 01 000040",                            // an ACK of what was never sent
			"84 f0ff7f 00 0008 fe", "84 000090 00 0008 fe", // numbers far ahead and far behind
			"84", "15")
	}
	require.ErrorIs(t, r.closedWith(), ErrIdleTimeout)
}

func TestAPeerThatNeverAcknowledgesAModeIsGivenUp(t *testing.T) {
	r := connectedServer(t, Config{})
	r.autoAck = false
	require.NoError(t, r.Send(r.now, &arq.Message{Payload: []byte{0xfe}, Reliability: protocol.ReliableSequenced}))
	r.settle()
	seen := 0
	for range 1000 {
		r.after(100 * time.Millisecond)
		for _, data := range r.out[seen:] {
			// It answers every datagram but those with the mode it cannot read.
			for _, f := range framesOf(data) {
				if f.Reliability != protocol.ReliableSequenced {
					r.raw(ack(uint32(data[1]) | uint32(data[2])<<8))
				}
			}
		}
		seen = len(r.out)
		r.send(protocol.Unreliable, pingAt(1))
		if r.State() != Connected {
			break
		}
	}
	require.ErrorIs(t, r.closedWith(), ErrStalled)
	require.InDelta(t, 68, r.now.Sub(start).Seconds(), 8)
}

func TestASleepingProcessDoesNotBlameItsPeer(t *testing.T) {
	for _, nap := range []time.Duration{2 * time.Second, 8 * time.Second, 12 * time.Second, time.Hour} {
		p := connectedPair(t, nil)
		p.run(time.Minute)
		// The server's process is stopped; so is the whole machine's network for
		// the client, which naps as well and so does not give up.
		p.client.asleep, p.server.asleep = true, true
		p.now = p.now.Add(nap)
		p.client.asleep, p.server.asleep = false, false
		p.run(time.Minute)
		require.Equal(t, Connected, p.client.State(), "%v", nap)
		require.Equal(t, Connected, p.server.State(), "%v", nap)
	}
}

func TestASleepIsForgivenOnlyOnce(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Minute)
	p.server.asleep = true // for good
	p.client.asleep = true
	p.now = p.now.Add(time.Hour)
	p.client.asleep = false
	took := p.until("death is noticed", 15*time.Second, func() bool { return p.client.closed != nil })
	require.LessOrEqual(t, took, defaultIdle)
	require.GreaterOrEqual(t, took, stallGrace)
}

func TestASleepDuringTheHandshakeOrACloseIsForgivenToo(t *testing.T) {
	p := newPair(t, nil)
	p.client.asleep, p.server.asleep = true, true
	p.now = p.now.Add(time.Minute)
	p.client.asleep, p.server.asleep = false, false
	p.until("connected", 3*time.Second, func() bool { return p.server.State() == Connected })

	p.client.say(parcel(0, 100_000), protocol.ReliableOrdered, 0)
	p.client.close()
	p.client.asleep, p.server.asleep = true, true
	p.now = p.now.Add(7 * time.Second)
	p.client.asleep, p.server.asleep = false, false
	p.until("closed", 10*time.Second, func() bool { return p.client.closed != nil })
	require.ErrorIs(t, p.client.closed, ErrClosed)
	require.Len(t, p.server.messages, 1)
}

func TestIdleAndPingsCanBeOff(t *testing.T) {
	r := connectedServer(t, Config{Timing: Timing{Idle: -1, Ping: -1}})
	r.after(time.Hour)
	require.Equal(t, Connected, r.State())
	require.Empty(t, r.frames)
}
