package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// ranges reads all records of an ACK or NACK.
func ranges(b []byte) (all []Range, err error) {
	it, err := ParseRanges(b)
	if err != nil {
		return nil, err
	}
	for r, ok := it.Next(); ok; r, ok = it.Next() {
		all = append(all, r)
	}
	return all, nil
}

func TestRangesGoldenVectors(t *testing.T) {
	for _, test := range []struct {
		name, bytes string
		want        []Range
	}{
		{"ACK of 7", "c0 0001 01 070000", []Range{{7, 7}}},
		{"ACK of 2 and 3", "c0 0001 00 020000 030000", []Range{{2, 3}}},
		{"NACK of 4, and of 6 to 300", "a0 0002 01 040000 00 060000 2c0100", []Range{{4, 4}, {6, 300}}},
		{"across the wrap in two", "c0 0002 00 000000 010000 00 feffff ffffff", []Range{{0, 1}, {0xfffffe, 0xffffff}}},
		{"every number there is", "a0 0001 00 000000 ffffff", []Range{{0, 0xffffff}}},
	} {
		b := unhex(t, test.bytes)
		got, err := ranges(b)
		require.NoError(t, err, test.name)
		require.Equal(t, test.want, got, test.name)

		a := StartRanges([]byte("before"), b[0], len(b))
		for _, r := range test.want {
			require.True(t, a.Add(r.First, r.Last), test.name)
		}
		require.Equal(t, append([]byte("before"), b...), a.Finish(), test.name)

		got, err = ranges(append(b, 0xde, 0xad))
		require.NoError(t, err, test.name)
		require.Equal(t, test.want, got, "%s, with trailing bytes", test.name)

		for n := range b {
			_, err := ParseRanges(b[:n])
			require.ErrorIs(t, err, ErrTruncated, "%s, first %d bytes", test.name, n)
		}
	}
}

func TestRangesOfOtherPeers(t *testing.T) {
	// An AS value before the records; a range of one number; a range that crosses the wrap.
	got, err := ranges(unhex(t, "e0 3f800000 0003 01 070000 00 090000 090000 00 feffff 010000"))
	require.NoError(t, err)
	require.Equal(t, []Range{{7, 7}, {9, 9}, {0xfffffe, 1}}, got)
	require.Equal(t, []int{1, 1, 4}, []int{got[0].Len(), got[1].Len(), got[2].Len()})
	require.Equal(t, 1<<24, Range{0, Mask24}.Len())

	got, err = ranges(unhex(t, "c0 0000"))
	require.NoError(t, err)
	require.Empty(t, got)

	// The low bits of the identifier mean nothing, but 0x20 of an ACK does.
	_, err = ranges(unhex(t, "df 0001 01 070000"))
	require.NoError(t, err)
	_, err = ranges(unhex(t, "bf 0001 01 070000"))
	require.NoError(t, err)
}

func TestOneBadRecordRefusesAll(t *testing.T) {
	for _, test := range []struct {
		name, bytes string
		want        error
	}{
		{"tag 2", "c0 0001 02 020000", ErrRecord},
		{"tag 2 after a good one", "c0 0002 01 020000 02 030000", ErrRecord},
		{"count without records", "c0 ffff", ErrTruncated},
		{"count of more than there is", "c0 ffff 01 020000", ErrTruncated},
		{"count of one more", "c0 0002 01 020000", ErrTruncated},
		{"record cut", "c0 0001 00 020000 0300", ErrTruncated},
		{"record cut after a range", "c0 0002 00 020000 030000 00", ErrTruncated},
		{"no record after a range", "c0 0002 00 020000 030000", ErrTruncated},
		{"reversed", "a0 0001 00 090000 020000", ErrRange},
		{"reversed after a good one", "a0 0002 01 010000 00 090000 080000", ErrRange},
		{"half of all numbers across the wrap", "c0 0001 00 ffffff ffff7f", ErrRange},
		{"AS cut", "e0 3f800000 00", ErrTruncated},
	} {
		it, err := ParseRanges(unhex(t, test.bytes))
		require.ErrorIs(t, err, test.want, test.name)
		_, ok := it.Next()
		require.False(t, ok, test.name)
	}
	for _, id := range []byte{0x00, 0x7f, 0x80, 0x84, 0x9f} {
		_, err := ParseRanges([]byte{id, 0, 0})
		require.ErrorIs(t, err, ErrDatagram, "%#x", id)
	}
}

func TestRangeAppenderStaysWithinItsSize(t *testing.T) {
	for size := range 40 {
		a := StartRanges(nil, ACKID, size)
		var want []Range
		for _, r := range []Range{{7, 7}, {20, 30}, {0xfffffe, 1}, {40, 40}, {50, 60}} {
			if a.Add(r.First, r.Last) {
				want = append(want, r)
			}
		}
		b := a.Finish()
		require.LessOrEqual(t, len(b), size)
		if len(want) == 0 {
			require.Empty(t, b, "nothing added leaves nothing behind")
			continue
		}
		got, err := ranges(b)
		require.NoError(t, err)
		var numbers, wantNumbers int
		for _, r := range got {
			numbers += r.Len()
		}
		for _, r := range want {
			wantNumbers += r.Len()
		}
		require.Equal(t, wantNumbers, numbers, "size %d: a range goes in whole or not at all", size)
	}
}

func TestRangeAppenderAtTheWrap(t *testing.T) {
	const wrap = 1 << 24
	a := StartRanges(nil, NACKID, 100)
	require.True(t, a.Add(wrap-1, wrap), "numbers are taken modulo 2^24")
	require.Equal(t, 2, a.Count())
	got, err := ranges(a.Finish())
	require.NoError(t, err)
	require.Equal(t, []Range{{0, 0}, {Mask24, Mask24}}, got)

	// Room for one of the two parts is no room.
	a = StartRanges(nil, NACKID, 3+4)
	require.False(t, a.Add(wrap-1, wrap))
	require.True(t, a.Add(wrap-1, wrap-1))
	require.Equal(t, unhex(t, "a0 0001 01 ffffff"), a.Finish())
}

func TestRangeAppenderCountsNoFurtherThanItsField(t *testing.T) {
	a := StartRanges(nil, ACKID, 1<<20)
	for n := range uint32(maxRecords) {
		require.True(t, a.Add(2*n, 2*n))
	}
	require.False(t, a.Add(1<<23, 1<<23))
	it, err := ParseRanges(a.Finish())
	require.NoError(t, err)
	require.Equal(t, maxRecords, it.Count())
}
