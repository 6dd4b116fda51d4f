package netsim

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func TestDatagramsAreDescribedInWords(t *testing.T) {
	require.Equal(t, "unconnected ping, 33 bytes", describe(append([]byte{1}, make([]byte, 32)...)))
	a := wire.StartRanges(nil, wire.ACKID, 100)
	a.Add(3, 3)
	a.Add(5, 9)
	require.Equal(t, "ACK 3 5-9", describe(a.Finish()))
	require.Equal(t, "NACK malformed", describe([]byte{0xa0, 0, 1, 7}))
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, 7)
	f := wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: 1, Order: 2, Channel: 3}
	b = append(wire.AppendFrameHeader(b, &f, 2), 0xfe, 0)
	f = wire.Frame{Reliability: protocol.Unreliable}
	b = append(wire.AppendFrameHeader(b, &f, 1), byte(protocol.IDDisconnect))
	require.Equal(t, "datagram 7, 20 bytes: [reliable ordered index 1 order 2 channel 3 2 bytes] [unreliable disconnect 1 bytes]", describe(b))
	require.Equal(t, "0 bytes: ", describe(nil))
}

func TestTraceKeepsTheLastEvents(t *testing.T) {
	tr := newTrace(3)
	require.Empty(t, tr.tail())
	tr.add("a")
	tr.add("b")
	require.Equal(t, []string{"a", "b"}, tr.tail())
	tr.add("c")
	tr.add("d")
	require.Equal(t, []string{"b", "c", "d"}, tr.tail())
	require.Nil(t, (*trace)(nil).tail())
}

// What the engines think of a path stands between the datagrams.
func TestATraceTellsWhatTheEnginesDo(t *testing.T) {
	link := Link{Delay: 20 * time.Millisecond, Loss: 0.2}
	s := Scenario{Seed: 3, Cookies: true, Clients: []ClientPlan{{
		Up: link, Down: link, MTU: 1492,
		ToServer: Workload{Messages: 100, Every: time.Millisecond, Size: 1000, Modes: []protocol.Reliability{protocol.Reliable}},
	}}}
	s.Prepare()
	w := NewWorld(s)
	w.Trace(1 << 14)
	_, err := w.Run()
	require.NoError(t, err)
	tail := strings.Join(w.Tail(), "\n")
	require.Regexp(t, `client end of client 0 \(dial 1\): lost \d+ by `, tail)
	require.Regexp(t, `server end of .*: phase startup`, tail)
	require.NotContains(t, tail, ": sent ", "that is a line of its own already")
}
