package endpoint

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAttemptsHearOnlyWhatIsForThem(t *testing.T) {
	var w waits
	here, there := netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("10.0.0.2:1")
	require.False(t, w.offer(here, []byte{0x1c}), "nobody waits")
	dial, err := w.add(here, true)
	require.NoError(t, err)
	ping, err := w.add(here, false)
	require.NoError(t, err)
	_, err = w.add(here, true)
	require.ErrorIs(t, err, ErrInUse)

	require.False(t, w.offer(there, []byte{0x1c}))
	require.False(t, w.offer(here, []byte{0x84, 0, 0, 0}), "a connection's")
	require.False(t, w.offer(here, []byte{0x05}), "a client's")
	require.False(t, w.offer(here, nil))
	data := []byte{0x1c, 7}
	require.True(t, w.offer(here, data))
	data[1] = 8
	require.Equal(t, []byte{0x1c, 7}, <-dial.packets, "a copy")
	require.Equal(t, []byte{0x1c, 7}, <-ping.packets)

	t.Log("# more than it can look at is dropped")
	for range 100 {
		require.True(t, w.offer(here, data))
	}
	require.Len(t, dial.packets, waiterPackets)

	w.remove(here, dial)
	require.Len(t, w.by[here], 1)
	w.remove(here, ping)
	require.Empty(t, w.by)
	require.False(t, w.offer(here, data))
}
