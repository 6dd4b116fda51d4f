package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

func TestPingPrintsWhatAServerShows(t *testing.T) {
	l, err := raknet.ListenConfig{GUID: 4711}.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	l.PongData([]byte("MCPE;A server;766;1.21.50;3;20;"))

	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{l.Addr().String()}, &out))
	require.Contains(t, out.String(), "4711")
	require.Regexp(t, `name +"A server"`, out.String())
	require.Regexp(t, `players +"3"`, out.String())
}

func TestPingSaysWhenNobodyAnswers(t *testing.T) {
	l, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())

	var out bytes.Buffer
	require.Error(t, run(t.Context(), []string{"-timeout", "200ms", address}, &out))
	require.Error(t, run(t.Context(), nil, &out))
}
