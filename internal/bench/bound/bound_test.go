package bound

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Messages of every kind of size go one after the other and come as they were sent.
func TestMessagesArriveInOrderOnEveryWay(t *testing.T) {
	sizes := []int{8, 100, payload - datagramHeader - frameHeader, payload, chunk, 2 * chunk, 10 << 10, 100 << 10, 1 << 20}
	for _, way := range []Way{Offload, Batch, Single, Plain} {
		t.Run(fmt.Sprint(way), func(t *testing.T) {
			r, err := Listen(way, false)
			require.NoError(t, err)
			defer r.Close()
			s, err := Dial(way, r.Address(), false)
			require.NoError(t, err)
			defer s.Close()
			const count = 100
			sent := make(chan error, 1)
			go func() {
				for i := range count {
					if err := s.Send(message(i, sizes)); err != nil {
						sent <- err
						return
					}
				}
				sent <- s.Flush()
			}()
			for i := range count {
				m, err := r.Receive()
				require.NoError(t, err)
				require.Equal(t, message(i, sizes), m, "message %d", i)
			}
			require.NoError(t, <-sent)
		})
	}
}

func message(i int, sizes []int) []byte {
	b := make([]byte, sizes[i%len(sizes)])
	for j := range b {
		b[j] = byte(i + j*7)
	}
	binary.BigEndian.PutUint32(b, uint32(i))
	return b
}

// Numbers of 24 bits are read as those near to what is expected, on both sides of a wrap.
func TestNumbersWrap(t *testing.T) {
	for _, at := range []uint32{0, 5, 1<<24 - 1, 1 << 24, 1<<32 - 3} {
		for _, d := range []int32{-1000, -1, 0, 1, 1000} {
			want := at + uint32(d)
			require.Equal(t, want, near(at, want&mask24), "%d near %d", want, at)
		}
	}
}

// What came before is known as such, also long after and where the record begins anew.
func TestDuplicatesAreKnown(t *testing.T) {
	r := &Receiver{}
	for n := range uint32(200_000) {
		require.False(t, r.duplicate(n))
		require.True(t, r.duplicate(n))
		if n > 100 {
			require.True(t, r.duplicate(n-100))
		}
	}
}
