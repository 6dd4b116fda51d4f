package hostile

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func everything() *Scope { return &Scope{Exhaustive: true, of: 1} }

// damaged returns what a scope does to a datagram, in order.
func damaged(s *Scope, d []byte, k int) (all []string) {
	before := string(d)
	s.Damage(d, k, func(b []byte) { all = append(all, string(b)) })
	if string(d) != before {
		panic("the datagram itself was changed")
	}
	return all
}

func sorted(all []string) []string {
	slices.Sort(all)
	return all
}

func TestDamageIsEveryPrefixAndEveryOtherValueOfEveryByte(t *testing.T) {
	d := []byte{0x84, 0, 0xff, 7}
	var want []string
	for i := range d {
		want = append(want, string(d[:i]))
		for x := range 256 {
			if byte(x) != d[i] {
				b := append([]byte(nil), d...)
				b[i] = byte(x)
				want = append(want, string(b))
			}
		}
	}
	require.Equal(t, sorted(want), sorted(damaged(everything(), d, 0)))
	require.Len(t, damaged(everything(), d, 99), 256*len(d), "whichever datagram of a vector it is")
	require.Empty(t, damaged(everything(), nil, 0), "there is nothing to damage in an empty one")
}

func TestPartsShareTheDamageOut(t *testing.T) {
	d := make([]byte, 200)
	whole := damaged(everything(), d, 0)
	var parts []string
	for i := range 3 {
		part := damaged(&Scope{Exhaustive: true, part: uint32(i), of: 3}, d, 0)
		require.InDelta(t, len(whole)/3, len(part), float64(len(whole)/10))
		parts = append(parts, part...)
	}
	require.True(t, slices.Equal(sorted(whole), sorted(parts)), "something is done twice, or not at all")
}

func TestASampleIsSmallAndOfTheSameKind(t *testing.T) {
	d := make([]byte, 500)
	whole := map[string]bool{}
	for _, b := range damaged(everything(), d, 0) {
		whole[b] = true
	}
	sample := damaged(&Scope{of: 1}, d, 0)
	require.Less(t, len(sample), 330)
	if !raceEnabled {
		require.Greater(t, len(sample), 200)
	}
	for _, b := range sample {
		if !whole[b] {
			t.Errorf("%x is no damage", b)
		}
	}
	require.Empty(t, damaged(&Scope{of: 1}, d, sampledDatagrams))
}
