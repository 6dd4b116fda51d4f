package udp

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var seedFlag = flag.Uint64("seed", 0, "play this seed instead of one of the moment")

// TestWhateverIsSentArrivesInOrderAndWhole sends random batches to several peers on every
// path, with faults of the kernel where a test can make them, and compares every byte.
func TestWhateverIsSentArrivesInOrderAndWhole(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for name, listen := range carriers {
		for _, address := range append(loopbacks(t), ":0") {
			for _, faults := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s faults=%v", name, address, faults), func(t *testing.T) {
					t.Logf("again with -seed=%d", seed)
					r := rand.New(rand.NewPCG(seed, 1))
					sender := listen(t, address)
					if faults && !injectFaults(sender, r) {
						t.Skip("nothing to break here")
					}
					peers := []Socket{listen(t, address), listen(t, address), listen(t, address)}
					for number, round := uint32(0), 0; round < 60; round++ {
						out, to := randomBatch(r, peers, &number)
						want := make([][]string, len(peers))
						for done := 0; done < len(out); {
							n, err := sender.WriteBatch(out[done:])
							for i := done; i < done+n; i++ {
								want[to[i]] = append(want[to[i]], string(out[i].Data))
							}
							if done += n; done < len(out) {
								require.True(t, IsTransient(err), "%v", err)
								done++ // lost
							} else {
								require.NoError(t, err)
							}
						}
						for i, p := range peers {
							for k, in := range read(t, p, len(want[i])) {
								if want[i][k] != string(in.Bytes()) {
									t.Fatalf("round %d, peer %d: datagram %d of %d bytes is not the one of %d bytes",
										round, i, k, in.N, len(want[i][k]))
								}
							}
						}
					}
				})
			}
		}
	}
}

// randomBatch makes datagrams that are often alike in a row, each with a number of its own,
// and says to which of the peers each goes.
func randomBatch(r *rand.Rand, peers []Socket, number *uint32) (out []Outbound, to []int) {
	most, longest := 60, 1472
	if recv, _ := peers[0].Buffers(); recv > 1<<20 && r.IntN(4) == 0 {
		most, longest = 600, 60
	}
	size, peer := 0, 0
	for range 1 + r.IntN(most) {
		if r.IntN(8) == 0 {
			size = r.IntN(longest)
		}
		if r.IntN(10) == 0 {
			peer = r.IntN(len(peers))
		}
		n := size
		if r.IntN(10) == 0 {
			n = r.IntN(size + 1)
		}
		data := make([]byte, n)
		var mark [4]byte
		binary.BigEndian.PutUint32(mark[:], *number)
		for i := range data {
			data[i] = mark[i%4]
		}
		*number++
		out = append(out, Outbound{Data: data, To: at(peers[peer]), Probe: r.IntN(30) == 0})
		to = append(to, peer)
	}
	return out, to
}
