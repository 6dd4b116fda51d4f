package netsim

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADialledConnHearsOnlyItsPeer(t *testing.T) {
	n, server, stranger := pair(t, Link{})
	c, err := n.DialContext(context.Background(), "udp", server.LocalAddr().String())
	require.NoError(t, err)
	require.Equal(t, server.LocalAddr(), c.RemoteAddr())
	_, err = c.Write([]byte("hello"))
	require.NoError(t, err)
	got, from := receive(t, server)
	require.Equal(t, "hello", got)
	require.Equal(t, c.LocalAddr(), from)

	_, err = stranger.WriteTo([]byte("psst"), from)
	require.NoError(t, err)
	_, err = server.WriteTo([]byte("welcome"), from)
	require.NoError(t, err)
	p := make([]byte, 100)
	k, err := c.Read(p)
	require.NoError(t, err)
	require.Equal(t, "welcome", string(p[:k]))
}

func TestDialNeedsAHostAndTime(t *testing.T) {
	n := New(1)
	defer n.Close()
	_, err := n.DialContext(context.Background(), "udp", "nobody")
	require.ErrorIs(t, err, errNoHost)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = n.DialContext(gone, "udp", "10.0.0.1:1")
	require.ErrorIs(t, err, context.Canceled)
}
