package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Peers of this library know each other, and nobody else, by an address that says nothing to others.
func TestKinKnowEachOther(t *testing.T) {
	for _, k := range []Kin{{1, false}, {100, true}, {600, false}, {KinForever, true}} {
		for _, n := range []int{1, 10, 20} {
			accept := ConnectionRequestAccepted{Client: addrPort("127.0.0.1:40000"), Internal: n, Kin: k, RequestTime: 3, Time: 4}
			b := accept.Append(nil)
			require.Len(t, b, len((&ConnectionRequestAccepted{Client: accept.Client, Internal: n}).Append(nil)), "no byte more")
			var gotAccept ConnectionRequestAccepted
			require.NoError(t, gotAccept.Parse(b))
			require.Equal(t, accept, gotAccept)
			done := NewIncomingConnection{Server: addrPort("127.0.0.1:40000"), Internal: n, Kin: k, HasTimes: true, AcceptedTime: 5, Time: 6}
			b = done.Append(nil)
			var gotDone NewIncomingConnection
			require.NoError(t, gotDone.Parse(b))
			require.Equal(t, done, gotDone)
		}
	}
	t.Log("# where there is no address there is nothing to know")
	var got ConnectionRequestAccepted
	require.NoError(t, got.Parse((&ConnectionRequestAccepted{Client: addrPort("127.0.0.1:1"), Kin: Kin{7, true}}).Append(nil)))
	require.Zero(t, got.Kin)
	t.Log("# a peer that copies the server's addresses is none")
	copied := append(AppendAddr([]byte{0x13}, addrPort("127.0.0.1:1")), appendInternal(nil, 20, kinServer, Kin{Patience: 7})...)
	var done NewIncomingConnection
	require.NoError(t, done.Parse(append(copied, make([]byte, handshakeTimes)...)))
	require.Equal(t, 20, done.Internal)
	require.Zero(t, done.Kin)
	t.Log("# nor is anybody else")
	require.NoError(t, done.Parse((&NewIncomingConnection{Server: addrPort("127.0.0.1:1"), Internal: 20}).Append(nil)))
	require.Zero(t, done.Kin)
	for n := range 20 {
		require.NoError(t, done.Parse(append([]byte{0x13}, make([]byte, n)...)))
		require.Zero(t, done.Kin)
	}
}
