package hostile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryVectorIsReadable(t *testing.T) {
	all, err := Load()
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, v := range all {
		require.NotEmpty(t, v.ID)
		require.False(t, ids[v.ID], "two vectors are called %s", v.ID)
		ids[v.ID] = true
		require.NotEmpty(t, v.Expect, v.ID)
		require.NotEmpty(t, v.Datagrams, v.ID)
	}
	parts := 0
	for _, context := range []string{ServerOffline, ClientOffline, ServerConnected, ClientConnected} {
		some, err := Load(context)
		require.NoError(t, err)
		parts += len(some)
		for _, v := range some {
			require.Equal(t, context, v.Context, v.ID)
		}
	}
	require.Equal(t, len(all), parts)
	_, err = Load("nowhere")
	require.Error(t, err)
}

func TestPaddingIsInTheDatagram(t *testing.T) {
	all, err := Load(ServerOffline)
	require.NoError(t, err)
	for _, v := range all {
		if v.ID == "SO-r1-1492" {
			require.Len(t, v.Datagrams[0], 1464)
			return
		}
	}
	t.Fatal("the vector is gone")
}
