package dialect

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/captures"
	"github.com/raknet-go/raknet/internal/wire"
)

// The order in which the recorded client's fragments left is that in which the played one's do.
func TestHeapOrderIsTheRecordedOne(t *testing.T) {
	c, err := captures.Load("cloudburst-client")
	require.NoError(t, err)
	var order []int
	for _, d := range c.Datagrams {
		if !d.FromClient || wire.Classify(d.Data) != wire.KindFrameSet {
			continue
		}
		it := wire.Frames(d.Data[wire.DatagramHeaderSize:])
		for f := (wire.Frame{}); it.Next(&f); {
			if f.SplitCount == 75 {
				order = append(order, int(f.SplitIndex))
			}
		}
	}
	require.Greater(t, len(order), 20)
	require.Equal(t, order, HeapOrder(75)[:len(order)])
	for n := range 100 {
		all := HeapOrder(n)
		slices.Sort(all)
		for i := range n {
			require.Equal(t, i, all[i])
		}
	}
}

func TestPeersHaveNamesAndVersions(t *testing.T) {
	seen := map[string]bool{}
	versions := map[byte]bool{}
	for _, h := range Peers() {
		require.NotEmpty(t, h.Name)
		require.False(t, seen[h.Name], h.Name)
		seen[h.Name] = true
		versions[h.Version] = true
	}
	for v := byte(6); v <= 11; v++ {
		require.True(t, versions[v], "nobody speaks version %d", v)
	}
}
