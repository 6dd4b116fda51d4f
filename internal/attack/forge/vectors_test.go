package forge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/wire"
)

// On a connection with the numbers that the file assumes, the attack is what the file says.
func TestVectorsAreThoseOfTheFile(t *testing.T) {
	all, err := hostile.Load(hostile.ServerConnected)
	require.NoError(t, err)
	attacks, err := Vectors()
	require.NoError(t, err)
	require.Len(t, attacks, len(all))
	for n, v := range all {
		base := vectorBase(v.State)
		l := &Link{MTU: 1400, Number: base, Reliable: base, Order: base}
		require.Equal(t, v.State == "handshaking", attacks[n].Half)
		for i, d := range v.Datagrams {
			require.Equal(t, len(d), len(attacks[n].Make(&Link{Number: base, Reliable: base, Order: base}, uint64(i), nil)))
			require.Equal(t, string(d), string(attacks[n].Make(l, uint64(i), nil)), v.ID)
		}
	}
}

// The next time it has the numbers that are next, and nothing else has changed.
func TestVectorsGoOn(t *testing.T) {
	all, err := hostile.Load(hostile.ServerConnected)
	require.NoError(t, err)
	for _, v := range all {
		if wire.Classify(v.Datagrams[0]) != wire.KindFrameSet || len(v.Datagrams[0]) < 8 {
			continue
		}
		base, n := vectorBase(v.State), uint32(len(v.Datagrams))
		l := &Link{Number: base, Reliable: base, Order: base}
		play := player(&v)
		for i := range n {
			play(l, uint64(i), nil)
		}
		require.Equal(t, (base+n)&wire.Mask24, l.Number, v.ID)
		again := play(l, uint64(n), nil)
		require.Equal(t, (wire.Uint24(v.Datagrams[0][1:])+n)&wire.Mask24, wire.Uint24(again[1:]), v.ID)
		require.Len(t, again, len(v.Datagrams[0]))
	}
}

func TestEveryFrameOfAVectorGetsNewNumbers(t *testing.T) {
	l := &Link{MTU: 1400, Number: 2, Reliable: 2, Order: 2}
	d := l.header(nil)
	for range 2 {
		f := wire.Frame{Reliability: 3, Reliable: l.reliable(), Order: l.order()}
		d = append(wire.AppendFrameHeader(d, &f, 1), 0xfe)
	}
	v := &hostile.Vector{Datagrams: [][]byte{d}}
	_, all := frames(t, player(v)(&Link{Number: 102, Reliable: 202, Order: 302}, 0, nil))
	require.Len(t, all, 2)
	require.EqualValues(t, 203, all[1].Reliable)
	require.EqualValues(t, 303, all[1].Order)
}
