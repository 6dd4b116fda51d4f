package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusalGoldenVectors(t *testing.T) {
	for _, id := range []string{"12", "14", "17", "1a"} {
		g := golden{
			name:   id,
			packet: &Refusal{ID: unhex(t, id)[0], GUID: -0x7fffffffffffffff},
			bytes:  id + "M 8000000000000001",
		}
		g.check(t)
		g.checkMagic(t, 1)
		g.checkTrailing(t)
	}
	for _, g := range []golden{
		{name: "public key required", packet: &Refusal{ID: 0x0a, Type: 1}, bytes: "0a 01"},
		{name: "security required", packet: &Refusal{ID: 0x0b, GUID: 9}, bytes: "0b 04ffffffff0000 0000000000000009"},
	} {
		g.check(t)
		g.checkTrailing(t)
	}
	var p Refusal
	require.ErrorIs(t, p.Parse(unhex(t, "0b 05ffffffff0000 0000000000000009")), ErrAddressFamily)
	require.NoError(t, p.Parse(unhex(t, "0b 06000000010000000020010db800000000000000000000000100000000 0000000000000009")))
	require.Equal(t, Refusal{ID: 0x0b, GUID: 9}, p)
}

func TestOtherPacketsAreNoRefusals(t *testing.T) {
	refusals := map[byte]bool{0x0a: true, 0x0b: true, 0x12: true, 0x14: true, 0x17: true, 0x1a: true}
	for id := range 256 {
		var p Refusal
		b := append([]byte{byte(id)}, unhex(t, "M 8000000000000001")...)
		if err := p.Parse(b); !refusals[byte(id)] {
			require.ErrorIs(t, err, ErrID, "%#x", id)
		}
	}
}

func TestIncompatibleVersionInBothOrders(t *testing.T) {
	g := golden{
		name:   "version first",
		packet: &IncompatibleVersion{Version: 10, GUID: -0x7fffffffffffffff},
		bytes:  "19 0a M 8000000000000001",
	}
	g.check(t)
	g.checkMagic(t, 2)
	g.checkTrailing(t)

	swapped := unhex(t, "19 M 0a 8000000000000001")
	var p IncompatibleVersion
	require.NoError(t, p.Parse(swapped))
	require.Equal(t, IncompatibleVersion{Version: 10, GUID: -0x7fffffffffffffff}, p)
	for n := range swapped {
		require.ErrorIs(t, p.Parse(swapped[:n]), ErrTruncated)
	}

	// Version 0 looks like the marker's first byte; the marker still decides.
	require.NoError(t, p.Parse(unhex(t, "19 00 M 0000000000000001")))
	require.Equal(t, IncompatibleVersion{Version: 0, GUID: 1}, p)
}
