package udp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKernelVersionsAreRead(t *testing.T) {
	for text, want := range map[string]version{
		"6.18.44":                {6, 18, 44},
		"5.15.0-1051-azure":      {5, 15, 0},
		"4.4-rc1":                {4, 4, 0},
		"6.1.0+":                 {6, 1, 0},
		"6":                      {6, 0, 0},
		"":                       {},
		"nonsense":               {},
		"5.x":                    {5, 0, 0},
		"99999999999999999999.1": {},
	} {
		require.Equal(t, want, parseVersion([]byte(text)), text)
	}
	require.NotZero(t, kernel().major)
}

func TestOldAndBrokenKernelsAreLeftAlone(t *testing.T) {
	s := carriers["listen"](t, "127.0.0.1:0").(*batch)
	needsSegments(t, s)
	require.NoError(t, s.rc.Control(func(fd uintptr) {
		for v, can := range map[version]bool{
			{}: false, {4, 20, 17}: false, {5, 0, 0}: true, {6, 18, 44}: true, {6, 99, 99}: true,
			{7, 0, 0}: false, {7, 1, 4}: false, {7, 1, 5}: true, {8, 0, 0}: true,
		} {
			require.Equal(t, can, canSegment(int(fd), v), "%v", v)
		}
		for v, can := range map[version]bool{{}: false, {5, 11, 99}: false, {5, 12, 0}: true, {7, 0, 0}: true} {
			require.Equal(t, can, joinReceived(int(fd), v), "%v", v)
		}
		require.False(t, canSegment(-1, version{6, 0, 0}))
	}))
}

func TestTheEnvironmentSwitchesOff(t *testing.T) {
	open := func(o Options) (segment, join bool) {
		s, err := Listen("127.0.0.1:0", o)
		require.NoError(t, err)
		defer s.Close()
		b := s.(*batch)
		return b.w.segment, b.r.joined
	}
	for _, name := range []string{"RAKNET_SOCKET", "RAKNET_DISABLE_GSO", "RAKNET_DISABLE_GRO"} {
		t.Setenv(name, "")
	}
	canSend, canReceive := open(Options{})
	t.Run("sending", func(t *testing.T) {
		t.Setenv("RAKNET_DISABLE_GSO", "1")
		send, receive := open(Options{})
		require.False(t, send)
		require.Equal(t, canReceive, receive)
	})
	t.Run("receiving", func(t *testing.T) {
		t.Setenv("RAKNET_DISABLE_GRO", "true")
		send, receive := open(Options{Path: Offload})
		require.Equal(t, canSend, send)
		require.False(t, receive)
	})
	t.Run("nothing", func(t *testing.T) {
		t.Setenv("RAKNET_DISABLE_GSO", "0")
		t.Setenv("RAKNET_DISABLE_GRO", "false")
		send, receive := open(Options{})
		require.Equal(t, canSend, send)
		require.Equal(t, canReceive, receive)
	})
	t.Run("both by the path", func(t *testing.T) {
		t.Setenv("RAKNET_SOCKET", "batch")
		send, receive := open(Options{})
		require.False(t, send || receive)
		send, receive = open(Options{Path: Offload})
		require.Equal(t, canSend, send, "the program has said what it wants")
		require.Equal(t, canReceive, receive)
	})
}
