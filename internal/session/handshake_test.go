package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func TestHandshakeTakesOneAndAHalfRoundTrips(t *testing.T) {
	p := newPair(t, nil)
	took := p.until("client is connected", time.Second, func() bool { return p.client.State() == Connected })
	require.Equal(t, 2*pathDelay, took)
	took += p.until("server is connected", time.Second, func() bool { return p.server.State() == Connected })
	require.Equal(t, 3*pathDelay, took)
	p.client.say("\xfehello", protocol.ReliableOrdered, 0)
	p.server.say("\xfewelcome", protocol.Reliable, 0)
	p.run(time.Second)
	p.client.wantMessages("\xfewelcome")
	p.server.wantMessages("\xfehello")
	require.Equal(t, []string{"connected", "\xfehello"}, p.server.log)
}

func TestHandshakeMessagesAreWhatTheOriginalSends(t *testing.T) {
	r := newRig(t, Config{Side: Client, LocalGUID: -2})
	f := r.last(protocol.IDConnectionRequest)
	require.Equal(t, protocol.Reliable, f.Reliability)
	require.Len(t, f.Payload, 18)
	var req wire.ConnectionRequest
	require.NoError(t, req.Parse(f.Payload))
	require.Equal(t, wire.ConnectionRequest{GUID: -2, Time: start.Milli() + someEpoch, Password: []byte{}}, req)

	r.send(protocol.ReliableOrdered, acceptance(10))
	f = r.last(protocol.IDNewIncomingConnection)
	require.Equal(t, protocol.ReliableOrdered, f.Reliability)
	require.EqualValues(t, 0, f.Channel)
	require.Len(t, f.Payload, 164, "twenty addresses")
	var in wire.NewIncomingConnection
	require.NoError(t, in.Parse(f.Payload))
	require.EqualValues(t, 2, in.AcceptedTime, "the server's time is echoed")
	require.Equal(t, 1, r.count(protocol.IDConnectedPing), "the client pings at once")

	old := newRig(t, Config{Side: Server, Version: 8})
	old.now = start.Add(time.Second)
	old.send(protocol.Reliable, request(1))
	f = old.last(protocol.IDConnectionRequestAccepted)
	require.Equal(t, protocol.ReliableOrdered, f.Reliability)
	require.Len(t, f.Payload, 96, "ten addresses")
	var acc wire.ConnectionRequestAccepted
	require.NoError(t, acc.Parse(f.Payload))
	require.EqualValues(t, 1, acc.RequestTime, "the request's time is echoed")
	require.Equal(t, old.now.Milli()+someEpoch, acc.Time)
}

// Each of the first datagrams of either side lost up to three times, in every combination.
func TestHandshakeSurvivesEveryPatternOfEarlyLoss(t *testing.T) {
	for pattern := range 1 << 12 {
		p := pairOver(t, func(from Side, n int, _ []byte) fate {
			bit := n
			if from == Server {
				bit += 6
			}
			return fate{drop: n < 6 && pattern>>bit&1 == 1}
		}, nil)
		ok := func() bool { return p.client.State() == Connected && p.server.State() == Connected }
		for limit := p.now.Add(10 * time.Second); !ok(); {
			if !p.step(limit) {
				t.Fatalf("pattern %012b: client %v, server %v", pattern, p.client.State(), p.server.State())
			}
		}
		p.finish()
	}
}

func TestAClientAsksAgainUntilItIsAnswered(t *testing.T) {
	r := newRig(t, Config{Side: Client})
	require.Equal(t, 1, r.count(protocol.IDConnectionRequest))
	// The server acknowledges every datagram but never answers.
	r.after(requestInterval)
	require.Equal(t, 2, r.count(protocol.IDConnectionRequest))
	r.after(9 * time.Second)
	n := r.count(protocol.IDConnectionRequest)
	require.True(t, n >= 5 && n <= 8, "%d requests", n)
	require.Nil(t, r.closedWith())
	r.after(time.Second)
	require.ErrorIs(t, r.closedWith(), ErrHandshakeTimeout)
	require.Equal(t, 1, r.count(protocol.IDDisconnect), "the server may forget what it knows")
}

func TestNobodyThere(t *testing.T) {
	p := newPair(t, nil)
	p.server.asleep = true
	took := p.until("client gives up", time.Minute, func() bool { return p.client.closed != nil })
	require.Equal(t, defaultHandshake, took)
	require.ErrorIs(t, p.client.closed, ErrHandshakeTimeout)
	require.Equal(t, []string{"closed"}, p.client.log)
}

func TestAServerForgetsAClientThatNeverFinishesAndStaysQuiet(t *testing.T) {
	r := newRig(t, Config{Side: Server})
	r.after(9900 * time.Millisecond)
	require.Nil(t, r.closedWith())
	r.after(100 * time.Millisecond)
	require.ErrorIs(t, r.closedWith(), ErrHandshakeTimeout)
	require.Empty(t, r.out)
}

func TestAServerAnswersAFloodOfRequestsOnce(t *testing.T) {
	r := newRig(t, Config{Side: Server})
	for range 40 {
		r.send(protocol.Unreliable, request(1))
		r.after(time.Millisecond)
	}
	require.Equal(t, 1, r.count(protocol.IDConnectionRequestAccepted))
	require.Len(t, r.acked, 40)
	for range 100 {
		r.after(repeatInterval / 4)
		r.send(protocol.Unreliable, request(1))
	}
	require.LessOrEqual(t, r.count(protocol.IDConnectionRequestAccepted), maxRepeats)
}

func TestARequestRepeatedAfterTheAnswerWasAcknowledgedIsAnsweredWithTheSameTime(t *testing.T) {
	r := newRig(t, Config{Side: Server})
	r.send(protocol.Reliable, request(1))
	first := r.last(protocol.IDConnectionRequestAccepted).Payload
	r.after(requestInterval)
	r.send(protocol.Reliable, request(1))
	require.Equal(t, 2, r.count(protocol.IDConnectionRequestAccepted))
	require.Equal(t, first, r.last(protocol.IDConnectionRequestAccepted).Payload)
	r.send(protocol.ReliableOrdered, incoming())
	require.Equal(t, Connected, r.State())
}

func TestAnUnacknowledgedAnswerIsResentByTheEngineAlone(t *testing.T) {
	r := newRig(t, Config{Side: Server})
	r.autoAck = false
	r.send(protocol.Reliable, request(1))
	index := r.last(protocol.IDConnectionRequestAccepted).Reliable
	for range 8 {
		r.after(250 * time.Millisecond)
		r.send(protocol.Reliable, request(1))
	}
	require.Greater(t, r.count(protocol.IDConnectionRequestAccepted), 1)
	require.Equal(t, index, r.last(protocol.IDConnectionRequestAccepted).Reliable, "one message only")
}

func TestAServerTakesAnyGUIDSecurityAndPassword(t *testing.T) {
	for _, p := range []wire.ConnectionRequest{
		{GUID: 99}, {GUID: -1, Security: true}, {Password: []byte("secret")}, {Time: -1},
	} {
		r := newRig(t, Config{Side: Server, PeerGUID: 5})
		r.send(protocol.Reliable, p.Append(nil))
		require.Equal(t, 1, r.count(protocol.IDConnectionRequestAccepted))
		require.EqualValues(t, 5, r.PeerGUID())
	}
}

func TestAServerIsConnectedByAnyWholeIncomingConnection(t *testing.T) {
	address := "\x04\x80\xff\xff\xfe\x4a\xbc"
	v6 := "\x06\x17\x00\x4a\xbd\x00\x00\x00\x00" + string(make([]byte, 20))
	times := "0123456789abcdef"
	for body, want := range map[string]State{
		"":                                       Connected,
		address:                                  Connected,
		address + address:                        Connected,
		v6:                                       Connected,
		address + times:                          Connected,
		address + address + times:                Connected,
		address + v6 + times:                     Connected,
		v6 + times:                               Connected,
		"\x77" + times + times:                   Connected, // garbage, but long enough
		address + address + address[:5]:          Handshaking,
		address[:3]:                              Handshaking,
		"\x77":                                   Handshaking,
		address + address + address + "\x00\x00": Connected, // 23 bytes of body hold two times
	} {
		for _, mode := range []protocol.Reliability{protocol.Unreliable, protocol.Reliable, protocol.ReliableOrdered} {
			r := newRig(t, Config{Side: Server})
			r.send(protocol.Reliable, request(1))
			r.send(mode, append([]byte{0x13}, body...))
			require.Equal(t, want, r.State(), "%x", body)
			require.Len(t, r.acked, 2)
			if want == Connected {
				require.Equal(t, []Event{{Kind: EventConnected}}, r.events)
			}
		}
	}
}

func TestAServerIsNotConnectedByAnIncomingConnectionItDidNotInvite(t *testing.T) {
	r := newRig(t, Config{Side: Server})
	r.send(protocol.ReliableOrdered, incoming())
	require.Equal(t, Handshaking, r.State())
	r.send(protocol.ReliableOrdered, request(1))
	r.send(protocol.ReliableOrdered, incoming())
	require.Equal(t, Connected, r.State())
}

func TestAClientIsConnectedByEveryDialectOfTheAnswer(t *testing.T) {
	oneByteIndex := append([]byte("\x10\x04\x80\xff\xff\xfe\x9c\x40\x00"), make([]byte, 16)...)
	for name, payload := range map[string][]byte{
		"no addresses": acceptance(0), "5": acceptance(5), "10": acceptance(10), "20": acceptance(20), "60, split": acceptance(60),
		"one-byte index": oneByteIndex,
	} {
		for _, mode := range []protocol.Reliability{protocol.Unreliable, protocol.Reliable, protocol.ReliableOrdered} {
			r := newRig(t, Config{Side: Client})
			r.send(mode, payload)
			require.Equal(t, Connected, r.State(), name)
			require.Equal(t, 1, r.count(protocol.IDNewIncomingConnection), name)
			require.Equal(t, []Event{{Kind: EventConnected}}, r.events)
		}
	}
}

func TestARepeatedAnswerDrawsAnotherIncomingConnectionWithinBounds(t *testing.T) {
	r := connectedClient(t, Config{})
	r.send(protocol.ReliableOrdered, acceptance(20))
	require.Equal(t, 0, r.count(protocol.IDNewIncomingConnection), "too soon")
	for range 20 {
		r.after(repeatInterval)
		r.send(protocol.ReliableOrdered, acceptance(20))
	}
	require.Equal(t, maxRepeats-1, r.count(protocol.IDNewIncomingConnection))
	require.Equal(t, Connected, r.State())
	require.Empty(t, r.events)
}

func TestHandshakeMessagesOfTheWrongSideAreIgnored(t *testing.T) {
	server := newRig(t, Config{Side: Server})
	server.send(protocol.ReliableOrdered, acceptance(10))
	require.Equal(t, Handshaking, server.State())
	require.Empty(t, server.frames)

	client := newRig(t, Config{Side: Client})
	client.forget()
	client.send(protocol.ReliableOrdered, incoming())
	client.send(protocol.Reliable, request(1))
	require.Equal(t, Handshaking, client.State())
	require.Empty(t, client.frames)
	require.Equal(t, []uint32{0, 1}, client.acked)

	server = connectedServer(t, Config{})
	server.send(protocol.Reliable, request(1))
	server.send(protocol.ReliableOrdered, incoming())
	server.send(protocol.ReliableOrdered, acceptance(10))
	require.Equal(t, Connected, server.State())
	require.Empty(t, server.frames)
	require.Empty(t, server.messages)
	require.Empty(t, server.events)
	require.Len(t, server.acked, 3)
}

func TestRefusals(t *testing.T) {
	r := newRig(t, Config{Side: Client})
	r.send(protocol.Reliable, []byte{0x11})
	require.ErrorIs(t, r.closedWith(), ErrRefused)
	r = newRig(t, Config{Side: Client})
	r.send(protocol.Reliable, []byte{0x18, 0x80})
	require.ErrorIs(t, r.closedWith(), ErrInvalidPassword)
	r = newRig(t, Config{Side: Client})
	r.send(protocol.ReliableOrdered, []byte{0x15})
	require.ErrorIs(t, r.closedWith(), ErrDisconnected)

	// Once connected, 0x11 is a message like any other, and 0x18 means nothing.
	r = connectedClient(t, Config{})
	r.send(protocol.ReliableOrdered, []byte{0x11})
	r.send(protocol.ReliableOrdered, []byte{0x18})
	require.Equal(t, []string{"\x11"}, r.messages)
	r = newRig(t, Config{Side: Server})
	r.send(protocol.ReliableOrdered, []byte{0x18})
	require.Equal(t, Handshaking, r.State())
}
