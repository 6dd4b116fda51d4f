package wire

import (
	"encoding/hex"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// magicHex is the offline marker, spelled out once for the golden vectors.
const magicHex = "00ffff00fefefefefdfdfdfd12345678"

// unhex reads a golden vector; blanks separate fields, M is the offline marker.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	s = strings.ReplaceAll(strings.ReplaceAll(s, "M", magicHex), " ", "")
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// golden is a packet, the bytes it must be written as, and how many of them are
// needed to read it.
type golden struct {
	name   string
	packet packet
	bytes  string
	needed int // 0: all of them
}

// check holds a packet against its bytes: written and read they agree, each
// truncation below what is needed is refused, and so is another identifier.
func (g golden) check(t *testing.T) {
	t.Helper()
	want := unhex(t, g.bytes)
	require.Equal(t, want, g.packet.Append(nil), "%s, written", g.name)
	require.Equal(t, append([]byte("before"), want...), g.packet.Append([]byte("before")), "%s, appended", g.name)

	read := fresh(g.packet)
	require.NoError(t, read.Parse(want), g.name)
	require.Equal(t, g.packet, read, "%s, read", g.name)

	// A used value forgets what it held before.
	used := fresh(g.packet)
	require.NoError(t, used.Parse(want), g.name)
	require.NoError(t, used.Parse(want), g.name)
	require.Equal(t, g.packet, used, "%s, read twice", g.name)

	needed := g.needed
	if needed == 0 {
		needed = len(want)
	}
	for n := range want {
		err := fresh(g.packet).Parse(want[:n])
		if n < needed {
			require.ErrorIs(t, err, ErrTruncated, "%s, first %d bytes", g.name, n)
		} else {
			require.NoError(t, err, "%s, first %d bytes", g.name, n)
		}
	}

	other := append([]byte{0x7f}, want[1:]...)
	require.ErrorIs(t, fresh(g.packet).Parse(other), ErrID, g.name)
}

// checkMagic damages each byte of the offline marker, which begins at the given place.
func (g golden) checkMagic(t *testing.T, at int) {
	t.Helper()
	for i := range MagicSize {
		b := unhex(t, g.bytes)
		b[at+i] ^= 0x40
		require.ErrorIs(t, fresh(g.packet).Parse(b), ErrMagic, "%s, marker byte %d", g.name, i)
	}
}

// checkTrailing appends bytes that belong to nothing; the packet reads the same.
func (g golden) checkTrailing(t *testing.T) {
	t.Helper()
	read := fresh(g.packet)
	require.NoError(t, read.Parse(append(unhex(t, g.bytes), 0xde, 0xad)), g.name)
	require.Equal(t, g.packet, read, "%s, with trailing bytes", g.name)
}

// fresh returns a new zero value of the packet's type.
func fresh(p packet) packet {
	return reflect.New(reflect.TypeOf(p).Elem()).Interface().(packet)
}

// request2 gives OpenRequest2 the shape of the other packets, in one of its layouts.
type request2 struct{ OpenRequest2 }

func (p *request2) Parse(b []byte) error { return p.OpenRequest2.Parse(b, false) }

type request2Cookie struct{ OpenRequest2 }

func (p *request2Cookie) Parse(b []byte) error { return p.OpenRequest2.Parse(b, true) }
