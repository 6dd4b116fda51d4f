package forge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// frames returns the frames of a frame set.
func frames(t *testing.T, d []byte) (number uint32, all []wire.Frame) {
	t.Helper()
	number, body, err := wire.ParseDatagramHeader(d)
	require.NoError(t, err)
	it := wire.Frames(body)
	var f wire.Frame
	for it.Next(&f) {
		all = append(all, f)
	}
	require.NoError(t, it.Err())
	return number, all
}

func TestAHandshakeIsAsAnHonestOne(t *testing.T) {
	l := NewLink(7)
	var r1 wire.OpenRequest1
	require.NoError(t, r1.Parse(l.Request1(nil)))
	require.Equal(t, 1400, r1.MTU)
	var r2 wire.OpenRequest2
	require.NoError(t, r2.Parse(l.Request2(nil, &wire.OpenReply1{Security: true, Cookie: 9}), true))
	require.EqualValues(t, 9, r2.Cookie)
	require.EqualValues(t, 7, r2.GUID)

	number, f := frames(t, l.Hello(nil))
	require.Zero(t, number)
	var hello wire.ConnectionRequest
	require.NoError(t, hello.Parse(f[0].Payload))
	number, f = frames(t, l.Incoming(nil))
	require.EqualValues(t, 1, number)
	require.EqualValues(t, 1, f[0].Reliable)
	require.EqualValues(t, 1, f[0].Order)
	var incoming wire.NewIncomingConnection
	require.NoError(t, incoming.Parse(f[0].Payload))
	require.True(t, Says(l.Goodbye(nil), protocol.IDDisconnect))
	require.True(t, Says(l.Ping(nil), protocol.IDConnectedPing))
	require.EqualValues(t, 4, l.Number)
}

func TestNumbersWrap(t *testing.T) {
	l := Link{MTU: 1400, Number: wire.Mask24, Reliable: wire.Mask24, Order: wire.Mask24, Heard: wire.Mask24}
	l.Message(nil, []byte{0xfe})
	require.Equal(t, []uint32{0, 0, 0}, []uint32{l.Number, l.Reliable, l.Order})
	_, numbered := l.Hear(wire.AppendDatagramHeader(nil, wire.FrameSetID, wire.Mask24))
	require.True(t, numbered)
	require.Zero(t, l.Heard)
	_, numbered = l.Hear([]byte{0xc0, 0, 0})
	require.False(t, numbered)
}

func TestAcksNameWhatTheyShould(t *testing.T) {
	it, err := wire.ParseRanges(Ack(nil, []uint32{3, 4, 5, 9}))
	require.NoError(t, err)
	a, _ := it.Next()
	b, _ := it.Next()
	_, more := it.Next()
	require.Equal(t, []wire.Range{{First: 3, Last: 5}, {First: 9, Last: 9}}, []wire.Range{a, b})
	require.False(t, more)
}

func TestADatagramReachesWhereItIsAcknowledged(t *testing.T) {
	d := Ack(nil, []uint32{3, 4, 5, 9, wire.Mask24 - 1})
	for number, want := range map[uint32]bool{2: false, 3: true, 5: true, 6: false, 9: true, wire.Mask24 - 1: true, wire.Mask24: false} {
		require.Equal(t, want, Reached(d, number), number)
	}
	l := connected()
	require.False(t, Reached(l.Ping(nil), l.Number-1), "a frame set")
	require.False(t, Reached(NackBomb(&Link{Heard: 9}, 0, nil), 3), "a NACK")
	require.False(t, Reached(d[:len(d)-1], 3), "half of an ACK")
}

func TestWhatIsNotReadNeedsNothingThatWasLost(t *testing.T) {
	l := connected()
	for i := range uint64(enough) {
		d := NeverRead().Make(l, i, nil)
		_, all := frames(t, d)
		require.Len(t, all, 1)
		require.Equal(t, protocol.Reliable, all[0].Reliability)
		require.Len(t, d, l.MTU-protocol.UDPOverhead)
	}
}
