package udp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/pool"
)

func TestWhoWaitsHoldsNoBuffers(t *testing.T) {
	before := pool.InUse()
	s := carriers["listen"](t, "127.0.0.1:0").(*batch)
	s.r.in = make([]Inbound, 8)
	s.r.in[7].Buf = pool.Get(pool.ClassRead) // of a call before
	s.r.places = 4
	require.NoError(t, s.rc.Control(func(fd uintptr) {
		require.False(t, s.r.receive(fd), "nothing is there, so that the runtime waits")
	}))
	require.Equal(t, before, pool.InUse())
	require.Equal(t, 2, s.r.places)
}

func TestWhatTheReceiveBufferDropsIsCounted(t *testing.T) {
	for _, path := range []Path{Offload, Batch} {
		server, client := listener(Options{Path: path})(t, "127.0.0.1:0"), carriers["batch"](t, "127.0.0.1:0")
		recv, _ := server.Buffers()
		sent := 0
		for ; sent*300 < recv; sent += 64 { // each takes more of the buffer than that
			write(t, client, at(server), make([]string, 64)...)
		}
		in, got := make([]Inbound, 64), 0
		receive := func() {
			n, err := server.ReadBatch(in)
			require.NoError(t, err)
			for i := range in[:n] {
				got += datagrams(&in[i])
			}
		}
		defer Release(in)
		for client := carriers["batch"](t, "127.0.0.1:0"); server.Overflows() == 0; {
			receive() // the count comes with what found room after the drops
			write(t, client, at(server), "")
			sent++
		}
		for uint64(got)+server.Overflows() < uint64(sent) {
			receive()
		}
		require.Equal(t, uint64(sent), uint64(got)+server.Overflows())
		require.Greater(t, server.Overflows(), uint64(100))
	}
}

func TestTheCountOfDropsMayWrap(t *testing.T) {
	var r receiver
	for _, drops := range []uint32{5, 1 << 31, 1<<32 - 1, 3} {
		r.overflows.Add(r.moreDrops(drops))
	}
	require.Equal(t, uint64(1<<32+3), r.overflows.Load())
}
