package netsim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLinksAreReadAsTheyAreWritten(t *testing.T) {
	for _, l := range []Link{
		{},
		{Delay: 30 * time.Millisecond, Jitter: time.Millisecond, Loss: 0.25, Duplicate: 0.01, Reorder: 0.125,
			ReorderBy: 40 * time.Millisecond, Corrupt: 0.001, Truncate: 0.002, Bandwidth: 100000, Queue: -1, MTU: 576},
		{Burst: &GilbertElliott{ToBad: 0.02, ToGood: 0.3, LossGood: 0.001, LossBad: 0.75}},
	} {
		got, err := ParseLink(l.String())
		require.NoError(t, err)
		require.Equal(t, l, got, l.String())
	}
	for _, text := range []string{"", "loss", "loss=much", "speed=1", "delay=1"} {
		_, err := ParseLink(text)
		require.Error(t, err, text)
	}
}
