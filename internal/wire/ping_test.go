package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPingAndPongGoldenVectors(t *testing.T) {
	for _, g := range []golden{
		{
			name:   "ping",
			packet: &UnconnectedPing{Time: 1, HasGUID: true, GUID: -0x7fffffffffffffff},
			bytes:  "01 0000000000000001 M 8000000000000001",
			needed: 25, // the GUID may be missing
		},
		{
			name:   "ping while open, largest time",
			packet: &UnconnectedPing{OnlyIfOpen: true, Time: -1, HasGUID: true},
			bytes:  "02 ffffffffffffffff M 0000000000000000",
			needed: 25,
		},
		{
			name:   "ping without GUID",
			packet: &UnconnectedPing{Time: 7},
			bytes:  "01 0000000000000007 M",
		},
	} {
		g.check(t)
		g.checkMagic(t, 9)
	}
	g := golden{
		name:   "pong",
		packet: &UnconnectedPong{Time: 2, GUID: 3, Data: []byte("MCPE")},
		bytes:  "1c 0000000000000002 0000000000000003 M 0004 4d435045",
		needed: 33, // the data may be missing, or lack its length
	}
	g.check(t)
	g.checkMagic(t, 17)
	g.checkTrailing(t)

	g = golden{
		name:   "out of band",
		packet: &OutOfBand{GUID: -2, Data: []byte{0x1d, 1}},
		bytes:  "0d fffffffffffffffe M 1d01",
		needed: 25,
	}
	g.check(t)
	g.checkMagic(t, 9)
}

func TestPingWithHalfAGUIDHasNone(t *testing.T) {
	var p UnconnectedPing
	require.NoError(t, p.Parse(unhex(t, "01 0000000000000007 M 80000000000000")))
	require.Equal(t, UnconnectedPing{Time: 7}, p)
}

func TestPongDataInEveryForm(t *testing.T) {
	for name, test := range map[string]struct{ tail, data string }{
		"with its length":             {"\x00\x04MCPE", "MCPE"},
		"empty":                       {"\x00\x00", ""},
		"missing":                     {"", ""},
		"raw":                         {"rn_echo offline response", "rn_echo offline response"},
		"raw, one byte":               {"x", "x"},
		"longer than there is is raw": {"\x00\x05MCPE", "\x00\x05MCPE"},
		"trailing bytes":              {"\x00\x04MCPE;;", "MCPE"},
	} {
		var p UnconnectedPong
		b := append(unhex(t, "1c 0000000000000002 0000000000000003 M"), test.tail...)
		require.NoError(t, p.Parse(b), name)
		require.Equal(t, test.data, string(p.Data), name)
		require.Equal(t, int64(2), p.Time)
		require.Equal(t, int64(3), p.GUID)
	}
}

func TestPongDataIsCappedByItsLengthField(t *testing.T) {
	b := (&UnconnectedPong{Data: make([]byte, 70_000)}).Append(nil)
	require.Len(t, b, 33+2+65535)
	var p UnconnectedPong
	require.NoError(t, p.Parse(b))
	require.Len(t, p.Data, 65535)
}
