package raknet

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCongestionSelections(t *testing.T) {
	require.Nil(t, Congestion{}.controller(), "the engine's default")
	require.NotNil(t, SlidingWindow().controller())
	require.Equal(t, 10*1400, FixedWindow(10).controller()(1400).Window())
	require.Equal(t, FixedWindow(1), FixedWindow(-5))
	require.Equal(t, FixedWindow(4096), FixedWindow(1<<30))
	require.Equal(t, "default", Congestion{}.String())
	require.Equal(t, "sliding window", SlidingWindow().String())
	require.Equal(t, "fixed window of 7 datagrams", FixedWindow(7).String())
}

func TestEveryControllerHasItsName(t *testing.T) {
	for want, c := range map[string]Congestion{
		"default": {}, "CUBIC": Cubic(), "model-based": ModelBased(), "sliding window": SlidingWindow(),
		"fixed window of 7 datagrams": FixedWindow(7),
	} {
		require.Equal(t, want, c.String())
		if want != "default" {
			require.NotNil(t, c.controller()(1492))
		}
	}
	require.True(t, engineConfig(Limits{}, Congestion{}, true).NoRepeats)
}
