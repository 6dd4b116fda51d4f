package forge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func TestForgedDisconnectsAreOfEveryKind(t *testing.T) {
	bare, modes, numbers := 0, map[protocol.Reliability]int{}, map[uint32]bool{}
	for i := range uint64(enough) {
		d := Disconnect(i, nil)
		if len(d) == 1 {
			require.Equal(t, byte(protocol.IDDisconnect), d[0])
			bare++
			continue
		}
		require.True(t, Says(d, protocol.IDDisconnect))
		number, all := frames(t, d)
		modes[all[0].Reliability]++
		numbers[number>>20] = true
	}
	require.Equal(t, enough/5, bare)
	require.Equal(t, map[protocol.Reliability]int{
		protocol.Unreliable: 2 * enough / 5, protocol.Reliable: enough / 5, protocol.ReliableOrdered: enough / 5,
	}, modes)
	require.Len(t, numbers, 16)
}

func TestForgedRequestsAreOffline(t *testing.T) {
	ids := map[byte]bool{}
	for i := range uint64(enough) {
		d := Reset(i, nil)
		require.Equal(t, wire.KindOffline, wire.Classify(d))
		ids[d[0]] = true
	}
	require.Len(t, ids, 3+len(refusals))
}

func TestForgedGarbageIsOfConnections(t *testing.T) {
	kinds, broken := map[wire.DatagramKind]int{}, 0
	for i := range uint64(enough) {
		d := Scramble(i, nil)
		kinds[wire.Classify(d)]++
		if _, body, err := wire.ParseDatagramHeader(d); err == nil {
			it := wire.Frames(body)
			var f wire.Frame
			for it.Next(&f) {
				continue
			}
			if it.Err() != nil {
				broken++
			}
		}
	}
	require.Equal(t, map[wire.DatagramKind]int{wire.KindFrameSet: enough / 2, wire.KindACK: enough / 4, wire.KindNACK: enough / 4}, kinds)
	require.Greater(t, broken, enough/5)
}
