package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Two peers of this library know each other from the handshake on, and another implementation is not taken for one.
func TestKinKnowEachOtherFromTheHandshakeOn(t *testing.T) {
	p := connectedPair(t, func(client, server *Config) {
		client.Timing.Idle, server.Timing.Idle = 4*time.Second, -1
	})
	require.EqualValues(t, kinForever, p.client.kin)
	require.Equal(t, 4*time.Second, time.Duration(p.server.kin)*kinUnit)
	require.Zero(t, connectedServer(t, Config{}).kin)
	require.Zero(t, connectedClient(t, Config{}).kin)
}

func TestHowLongKinBearSilence(t *testing.T) {
	for idle, want := range map[time.Duration]uint16{
		-1: wire.KinForever, time.Millisecond: 1, 10 * time.Second: 100, time.Hour: 36000, 1000 * time.Hour: wire.KinForever - 1,
	} {
		timing := Timing{Idle: idle}.Settle()
		require.Equal(t, wire.Kin{Patience: want}, (&Conn{timing: timing}).ownKin(), idle)
	}
	var c Conn
	for said, want := range map[uint16]uint8{0: 0, 1: 1, 9: 1, 10: 2, 100: 20, 2000: kinForever - 1, wire.KinForever: kinForever} {
		c.kin = 0
		c.meetKin(wire.Kin{Patience: said})
		require.Equal(t, want, c.kin, said)
	}
}

// An idle connection of kin takes two datagrams in four and a half seconds, which the server begins.
func TestKinAskHalfAsOften(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	before := p.client.sent + p.server.sent
	var client, server Stats
	moments := p.asked(&p.server, time.Minute)
	require.InDelta(t, 60/4.5, len(moments), 2)
	for _, at := range moments {
		require.Zero(t, at%monotime.Time(500*time.Millisecond), at)
	}
	p.client.Stats(&client)
	p.server.Stats(&server)
	require.EqualValues(t, 1, server.PingsSent, "one ask in eight measures the round trip")
	require.Equal(t, 2*len(moments)+2, p.client.sent+p.server.sent-before)
	require.Zero(t, client.PingsSent, "not even when it was connected: the handshake has measured the round trip")
	require.InDelta(t, float64(2*pathDelay), float64(p.client.RTT()), float64(pathDelay))
}

// A client asks where its server does not.
func TestAClientOfKinAsksLater(t *testing.T) {
	p := connectedPair(t, func(_, server *Config) { server.Timing.Ping = -1 })
	p.run(time.Second)
	require.InDelta(t, 60/6.25, len(p.asked(&p.client, time.Minute)), 1)
	require.Equal(t, Connected, p.server.State())
}

// An impatient peer is asked in time, and so is one whose own pings are frequent.
func TestKinAreAskedBeforeTheyLosePatience(t *testing.T) {
	p := connectedPair(t, func(client, _ *Config) { client.Timing.Idle = 2 * time.Second })
	p.run(time.Second)
	moments := p.asked(&p.server, time.Minute)
	require.GreaterOrEqual(t, len(moments), 59)
	require.Equal(t, Connected, p.client.State())
	require.Equal(t, Connected, p.server.State())
}

// The first loss makes peers do what they do for everybody.
func TestKinPingWhileThePathLoses(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	p.path = func(Side, int, []byte) fate { return fate{drop: true} }
	for len(p.asked(&p.server, 100*time.Millisecond)) == 0 {
	}
	var s Stats
	p.server.Stats(&s)
	require.Zero(t, s.PingsSent)
	require.Len(t, p.asked(&p.server, 4*time.Second), 8, "every 500 ms")
	p.server.Stats(&s)
	require.EqualValues(t, 8, s.PingsSent)
	p.path = nil
	require.InDelta(t, 60/2.25, len(p.asked(&p.server, time.Minute)), 2)
	require.Equal(t, Connected, p.client.State())
}

// Who refuses what comes does not acknowledge it: so it pings as for everybody, and stays alive.
func TestAKinThatRefusesPings(t *testing.T) {
	p := connectedPair(t, func(_, server *Config) {
		server.Timing.ReceiveStall, server.ARQ.Limits.ReceiveBuffer = -1, 1000
	})
	p.server.deaf = true
	p.run(time.Second)
	for range 10 {
		require.NoError(t, p.client.Send(p.now, &arq.Message{Payload: append([]byte{0xfe}, make([]byte, 999)...), Reliability: protocol.Reliable}))
	}
	p.client.settle()
	p.run(time.Second)
	require.False(t, p.server.relaxed())
	require.InDelta(t, 60/2.25, len(p.asked(&p.server, time.Minute)), 2)
	require.Equal(t, Connected, p.client.State())
	require.Equal(t, Connected, p.server.State())
}

// Kin that are silent for longer than others may be are asked before they are taken for dead.
func TestKinAreAskedBeforeTheyAreForlorn(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	for p.now.Sub(p.server.LastHeard()) < 3*time.Second {
		p.run(100 * time.Millisecond)
	}
	require.False(t, p.server.Forlorn(p.now), "it is asked")
	p.server.settle()
	p.run(kinGrace)
	require.Less(t, p.now.Sub(p.server.LastHeard()), kinGrace, "and answers")
	require.Equal(t, Connected, p.client.State())

	t.Log("# who does not answer is dead")
	p.path = func(Side, int, []byte) fate { return fate{drop: true} }
	p.run(3 * time.Second)
	require.False(t, p.server.Forlorn(p.now))
	p.server.settle()
	p.run(kinGrace / 2)
	p.run(kinGrace)
	require.True(t, p.server.Forlorn(p.now))

	t.Log("# as others are without a question")
	r := connectedServer(t, Config{})
	r.after(3 * time.Second)
	require.True(t, r.Forlorn(r.now))
}

// A detect lost connections is acknowledged at once, and by nothing else.
func TestADetectLostConnectionsIsAnsweredByItsAck(t *testing.T) {
	r := connectedServer(t, Config{})
	r.after(time.Second)
	r.forget()
	for range 30 {
		r.send(protocol.Unreliable, []byte{byte(protocol.IDDetectLostConnections)})
		require.Len(t, r.acked, 1)
		require.Empty(t, r.frames)
		r.forget()
	}
}

// Between the moments at which peers are asked nothing has to be done.
func TestAnIdleConnectionIsLookedAtWithItsPingsOnly(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(20 * time.Second)
	looks := map[monotime.Time]bool{}
	for end := p.now.Add(5 * time.Minute); p.now < end; {
		at := p.server.Deadline()
		looks[at] = true
		p.run(at.Sub(p.now) + time.Nanosecond)
	}
	require.Less(t, len(looks), 3*67+10, "the ask, its answer and a look whether that came")
}

// Wide datagrams are for two who both see the other on their machine and can receive them.
func TestKinOnOneMachineSaySo(t *testing.T) {
	for _, c := range []struct{ client, server bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		p := connectedPair(t, func(client, server *Config) {
			client.Near, server.Near = c.client, c.server
		})
		require.Equal(t, c.client, p.client.eng.TakesWide())
		require.Equal(t, c.server, p.server.eng.TakesWide())
		both := c.client && c.server
		require.Equal(t, both, p.client.eng.MayAsk())
		require.Equal(t, both, p.server.eng.MayAsk())
		require.Equal(t, 1492, p.client.CutMTU(), "nothing is wide before the path was asked")
	}
	t.Log("# a peer of another implementation is sent nothing that it does not know")
	r := connectedServer(t, Config{Near: true})
	require.True(t, r.eng.TakesWide())
	require.False(t, r.eng.MayAsk())
}
