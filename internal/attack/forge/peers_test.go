package forge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// connected is a link whose handshake is over, to a server that has sent some datagrams.
func connected() *Link {
	l := NewLink(1)
	l.Hello(nil)
	l.Incoming(nil)
	l.Heard = 5000
	return l
}

// Every datagram of a peer's is no longer than was agreed on, and a datagram of a connection.
func TestPeersKeepToTheMTU(t *testing.T) {
	for _, p := range append(Peers(), NeverAcks(), NeverRead()) {
		l := connected()
		for i := range uint64(enough) {
			d := p.Make(l, i, []byte("before"))[6:]
			require.LessOrEqual(t, len(d), l.MTU-protocol.UDPOverhead, p.Name)
			require.Contains(t, []wire.DatagramKind{wire.KindFrameSet, wire.KindACK, wire.KindNACK}, wire.Classify(d), p.Name)
		}
	}
}

func TestSplitBombsBeginMessagesThatAreNeverFinished(t *testing.T) {
	l, ids := connected(), map[uint16]bool{}
	for i := range uint64(enough) {
		_, all := frames(t, SplitBomb(l, i, nil))
		if i < bombsThatFit {
			require.Len(t, all, 1)
		} else {
			require.Greater(t, len(all), 60)
		}
		for _, f := range all {
			require.True(t, f.Split)
			require.EqualValues(t, manyParts, f.SplitCount)
			require.Zero(t, f.SplitIndex)
			ids[f.SplitID] = true
		}
	}
	require.Greater(t, len(ids), 60_000)
}

func TestUnfinishedMessagesMissTheirFirstFragment(t *testing.T) {
	for _, make := range []func(*Link, uint64, []byte) []byte{Unfinished, LooseUnfinished} {
		l, ids := connected(), map[uint16]bool{}
		for i := range uint64(10 * enough) {
			_, all := frames(t, make(l, i, nil))
			require.Len(t, all, 1)
			require.NotZero(t, all[0].SplitIndex)
			require.Less(t, all[0].SplitIndex, all[0].SplitCount)
			ids[all[0].SplitID] = true
		}
		require.Len(t, ids, unfinished)
	}
	require.Len(t, Unfinished(connected(), 0, nil), mostBytes)
}

// What is said to fill a bound of the victim's does so, or its memory would be judged by nothing.
func TestWhatFillsABoundFillsIt(t *testing.T) {
	for _, p := range Peers() {
		if p.Fills == Nothing {
			continue
		}
		var e arq.Engine
		e.Init(1, &arq.Config{MTU: mtu})
		l, now := NewLink(1), monotime.Time(1)
		take := func(d []byte) {
			b := pool.Get(pool.ClassRead)
			b.N = copy(b.B, d)
			e.Receive(now, b, b.Bytes())
			b.Release()
			now = now.Add(10 * time.Microsecond)
			for a := e.Transmit(now); a != nil; a = e.Transmit(now) {
				a.Release()
			}
			for m := (arq.Delivery{}); e.NextDelivery(&m); {
				m.Release()
			}
		}
		take(l.Hello(nil))
		take(l.Incoming(nil))
		for i := range uint64(30_000) {
			take(p.Make(l, i, nil))
		}
		var s arq.Stats
		e.Stats(&s)
		full := float64(s.ReassemblyBytes) / (12 << 20)
		if p.Fills == Held {
			full = max(float64(s.HeldBytes)/(28<<20), float64(s.HeldMessages)/20480)
		}
		require.Greater(t, full, 0.75, p.Name)
		require.Less(t, full, 1.01, p.Name)
		e.Close()
	}
}

func TestHeldMessagesWaitForOneThatNeverComes(t *testing.T) {
	l := connected()
	missing := l.Order
	orders := map[uint32]bool{}
	for i := range uint64(enough) {
		d := HeldBack(l, i, nil)
		_, all := frames(t, d)
		require.Len(t, d, l.MTU-protocol.UDPOverhead)
		orders[all[0].Order] = true
	}
	require.False(t, orders[missing])
	require.True(t, orders[missing+1])
	require.Len(t, orders, enough)

	l = connected()
	missing = l.Order
	for i := range uint64(enough) {
		_, all := frames(t, LooseHeld(l, i, nil))
		require.Equal(t, missing+1+uint32(i), all[0].Order)
		require.Len(t, all[0].Payload, loose)
	}

	l = connected()
	channels := map[uint8]bool{}
	for i := range uint64(enough) {
		_, all := frames(t, SmallHeld(l, i, nil))
		require.Greater(t, len(all), 100)
		for _, f := range all {
			require.GreaterOrEqual(t, f.Order, uint32(100))
			require.Len(t, f.Payload, 1)
			channels[f.Channel] = true
		}
	}
	require.Len(t, channels, protocol.OrderingChannels)
}

func TestJumpsAreFourThousandApart(t *testing.T) {
	l := connected()
	before, _ := frames(t, Jump(l, 0, nil))
	for i := range uint64(10 * enough) { // around the wrap
		number, _ := frames(t, Jump(l, i, nil))
		require.EqualValues(t, 4000, (number-before)&wire.Mask24)
		before = number
	}
}

func TestBombsNameEverythingManyTimes(t *testing.T) {
	l := connected()
	for name, d := range map[string][]byte{"ACK": AckBomb(l, 0, nil), "NACK": NackBomb(l, 0, nil)} {
		it, err := wire.ParseRanges(d)
		require.NoError(t, err)
		n := 0
		for {
			r, more := it.Next()
			if !more {
				break
			}
			n++
			covers := func(number uint32) bool { return (number-r.First)&wire.Mask24 < uint32(r.Len()) }
			if r.First > r.Last || !covers(l.Heard-1) { // what crosses zero is written in two
				require.True(t, covers(0) || covers(wire.Mask24), name)
			}
		}
		require.Greater(t, n, 150, name)
	}
	it, err := wire.ParseRanges(NackStorm(l, 0, nil))
	require.NoError(t, err)
	r, _ := it.Next()
	require.Equal(t, wire.Range{First: l.Heard - 1000, Last: l.Heard - 1}, r)
}

func TestPingsFillTheirDatagram(t *testing.T) {
	_, all := frames(t, Pings(connected(), 0, nil))
	require.Greater(t, len(all), 100)
	for _, f := range all {
		require.Equal(t, byte(protocol.IDConnectedPing), f.Payload[0])
	}
}

func TestEchoesAndFullMessagesAreHonest(t *testing.T) {
	l := connected()
	for i := range uint64(enough) {
		number, all := frames(t, Echo(l, i, nil))
		require.EqualValues(t, 2+i, number)
		require.EqualValues(t, 2+i, all[0].Order)
		require.Equal(t, SayEcho, string(all[0].Payload[:len(SayEcho)]))
		require.Len(t, all[0].Payload, 100)
	}
	require.Len(t, Full(l, 1, nil), l.MTU-protocol.UDPOverhead)
}

func TestRandomNumbersAreAllOver(t *testing.T) {
	seen := map[uint32]bool{}
	for i := range uint64(enough) {
		number, all := frames(t, RandomNumbers(connected(), i, nil))
		seen[number>>20] = true
		require.NotEqual(t, number, all[0].Reliable)
	}
	require.Len(t, seen, 16)
}
