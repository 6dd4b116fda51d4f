package main

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

// A server behind a proxy behind a client: nobody notices the one in the middle.
func TestTheProxyKeepsModeAndChannel(t *testing.T) {
	server, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	server.PongData([]byte("the real server"))

	l, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	p := &proxy{listener: l, server: server.Addr().String(), refresh: 20 * time.Millisecond, out: io.Discard}
	go func() { served <- p.serve(ctx) }()

	client, err := raknet.Dial(l.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	inner, err := server.AcceptContext(t.Context())
	require.NoError(t, err)

	sent := raknet.SendOptions{Reliability: raknet.ReliableOrdered, Channel: 7}
	_, err = client.Send(t.Context(), []byte("\xfeup"), sent)
	require.NoError(t, err)
	m, err := inner.Receive(t.Context())
	require.NoError(t, err)
	require.Equal(t, raknet.Message{Data: []byte("\xfeup"), Reliability: raknet.ReliableOrdered, Channel: 7}, m)

	_, err = inner.Send(t.Context(), []byte("\xfedown"), raknet.SendOptions{Reliability: raknet.Reliable})
	require.NoError(t, err)
	m, err = client.Receive(t.Context())
	require.NoError(t, err)
	require.Equal(t, raknet.Message{Data: []byte("\xfedown"), Reliability: raknet.Reliable}, m)

	require.Eventually(t, func() bool {
		data, err := raknet.PingTimeout(l.Addr().String(), time.Second)
		return err == nil && string(data) == "the real server"
	}, 10*time.Second, 20*time.Millisecond, "pings are answered with what the server says")

	// The last words of the server arrive before its good-bye does.
	_, err = inner.Write([]byte("\xfekicked"))
	require.NoError(t, err)
	require.NoError(t, inner.Close())
	last, err := client.ReadPacket()
	require.NoError(t, err)
	require.Equal(t, "\xfekicked", string(last))
	_, err = client.ReadPacket()
	require.True(t, errors.Is(err, io.EOF), err)

	cancel()
	require.NoError(t, <-served)
}
