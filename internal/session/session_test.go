package session

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

func TestSendRefusesWhatTheWireOrThePeerCannotTake(t *testing.T) {
	r := connectedServer(t, Config{ARQ: arq.Config{Limits: arq.Limits{SendBuffer: 1 << 20, MessageFragments: 16}}})
	big := make([]byte, 17*arq.MaxFrame(r.MTU()))
	big[0] = 0xfe
	for _, c := range []struct {
		m    arq.Message
		want error
	}{
		{arq.Message{}, ErrEmpty},
		{arq.Message{Payload: []byte{0xfe}, Reliability: 8}, ErrReliability},
		{arq.Message{Payload: []byte{0xfe}, Channel: 32}, ErrChannel},
		{arq.Message{Payload: []byte{0xfe}, Priority: 4}, ErrPriority},
		{arq.Message{Payload: big}, ErrMessageTooLarge},
		{arq.Message{Payload: []byte{0x00, 1, 2}}, ErrControlID},
		{arq.Message{Payload: []byte{0x15}, Reliability: protocol.ReliableOrdered}, ErrControlID},
		{arq.Message{Payload: []byte{0x11}}, nil},
		{arq.Message{Payload: []byte{0x1b, 1}, Reliability: protocol.ReliableWithReceipt, Channel: 31, Priority: protocol.PriorityLow}, nil},
	} {
		require.Equal(t, c.want, r.Send(r.now, &c.m), "%v", c.m)
	}
	for id := range 256 {
		err := r.Send(r.now, &arq.Message{Payload: []byte{byte(id)}})
		require.Equal(t, protocol.ID(id).IsControl(), err == ErrControlID, "%#x", id)
	}
	cut := arq.Cut(append([]byte{0x13}, big[:5000]...), r.MTU(), protocol.Reliable)
	require.Equal(t, ErrControlID, r.Send(r.now, &arq.Message{Fragments: cut, Reliability: protocol.Reliable}))
	cut.Release()
	cut = arq.Cut(big[:5000], r.MTU(), protocol.Reliable)
	require.NoError(t, r.Send(r.now, &arq.Message{Fragments: cut, Reliability: protocol.Reliable}))

	r.autoAck = false
	half := big[:arq.MaxFrame(r.MTU())*15]
	var err error
	for err == nil {
		err = r.Send(r.now, &arq.Message{Payload: half, Reliability: protocol.Reliable})
	}
	require.Equal(t, ErrSendBufferFull, err)
	require.Less(t, r.SendSpace(), len(half))
	require.Equal(t, Connected, r.State())
}

func TestSendNeedsAConnection(t *testing.T) {
	m := arq.Message{Payload: []byte{0xfe}, Reliability: protocol.Reliable}
	r := newRig(t, Config{Side: Client})
	require.Equal(t, ErrNotConnected, r.Send(r.now, &m))
	r.send(protocol.Reliable, acceptance(20))
	require.NoError(t, r.Send(r.now, &m))
	r.Abort(r.now, nil)
	require.Equal(t, ErrClosed, r.Send(r.now, &m))
}

func TestReceiptsComeBetweenConnectedAndClosed(t *testing.T) {
	p := newPair(t, nil)
	p.until("client is connected", time.Second, func() bool { return p.client.State() == Connected })
	for id := uint64(1); id <= 3; id++ {
		m := arq.Message{Payload: []byte(parcel(int(id), 2000*int(id))), Reliability: protocol.ReliableOrderedWithReceipt, ReceiptID: id}
		require.NoError(t, p.client.Send(p.now, &m))
	}
	p.client.close()
	p.until("client is done", 3*time.Second, func() bool { return p.client.closed != nil })
	require.Equal(t, map[uint64]bool{1: true, 2: true, 3: true}, p.client.receipts)
	require.Equal(t, []string{"connected", "receipt", "receipt", "receipt", "closed"}, p.client.log)
	p.run(0)
	require.Len(t, p.server.messages, 3)
}

func TestTimeThatGoesBackStandsStill(t *testing.T) {
	p := connectedPair(t, nil)
	p.run(time.Second)
	c := &p.client
	c.Advance(p.now)
	c.Advance(1)
	c.Receive(1, nil, ack(0))
	require.NoError(t, c.Send(1, &arq.Message{Payload: []byte{0xfe}, Reliability: protocol.Reliable}))
	b := c.Transmit(1)
	require.NotNil(t, b)
	b.Release()
	require.Greater(t, c.Deadline(), p.now)
}

func TestAccessors(t *testing.T) {
	r := newRig(t, Config{Side: Server, MTU: 1200, Version: 10, PeerGUID: -9})
	require.Equal(t, 1200, r.MTU())
	require.EqualValues(t, 10, r.Version())
	require.EqualValues(t, -9, r.PeerGUID())
	require.Equal(t, Server, r.Side())
	require.Equal(t, start, r.LastHeard())
	require.Zero(t, r.RTT())
	require.NoError(t, r.Err())
	require.Equal(t, "server client", Server.String()+" "+Client.String())
	for s, want := range map[State]string{Handshaking: "handshaking", Connected: "connected", Closing: "closing", Closed: "closed", Dead: "dead", 9: "unknown"} {
		require.Equal(t, want, s.String())
	}
}

// Every scenario of the protocol has counters that wrap: start each just below.
func TestATransferAcrossTheWrapOfEveryCounter(t *testing.T) {
	for _, before := range []int64{1, 2, 3, 5, 50} {
		p := connectedPair(t, func(c, s *Config) {
			for _, cfg := range []*Config{c, s} {
				cfg.ARQ.FirstDatagram, cfg.ARQ.FirstReliable, cfg.ARQ.FirstOrder = 1<<24-before, 1<<24-before, 1<<24-before
				cfg.ARQ.FirstSplit = uint16(1<<16 - before)
			}
		})
		r := dice(t, uint64(before))
		p.path = func(Side, int, []byte) fate {
			return fate{drop: r.Float64() < 0.1, copies: r.IntN(2), late: time.Duration(r.IntN(20)) * time.Millisecond}
		}
		var want []string
		for i := range 200 {
			m := parcel(i, 10+r.IntN(4000))
			want = append(want, m)
			p.client.say(m, protocol.ReliableOrdered, 3)
			p.server.say(m, protocol.ReliableOrdered, 0)
		}
		p.client.close()
		p.until("everything arrived", 30*time.Second, func() bool { return p.server.closed != nil })
		p.server.wantMessages(want...)
		require.ErrorIs(t, p.server.closed, ErrDisconnected)
	}
}

func TestAConnectionThatIsNotCompleteIsSmall(t *testing.T) {
	size := reflect.TypeFor[Conn]().Size()
	t.Logf("a Conn has %d bytes, %d of them the engine's", size, reflect.TypeFor[arq.Engine]().Size())
	if own := size - reflect.TypeFor[arq.Engine]().Size(); own > 320 {
		t.Errorf("%d bytes besides the engine", own)
	}
}

func TestAdvanceIsIdempotent(t *testing.T) {
	p := connectedPair(t, nil)
	for range 1000 {
		p.step(monotime.Never - 1)
		before := p.client.Deadline()
		if before <= p.now {
			continue // it falls due at the moment of what was just done
		}
		p.client.Advance(p.now)
		p.client.settle()
		require.Equal(t, before, p.client.Deadline())
	}
}
