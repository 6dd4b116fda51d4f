package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/protocol/bedrock"
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
	require.Regexp(t, `players +3`, out.String())
	require.NotContains(t, out.String(), "game mode")

	l.PongData([]byte("of another game"))
	out.Reset()
	require.NoError(t, run(t.Context(), []string{l.Addr().String()}, &out))
	require.Regexp(t, `data +"of another game"`, out.String())
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

func TestPingLooksThroughAServer(t *testing.T) {
	l, err := raknet.ListenConfig{GUID: -4711, MaxMTU: 1300, ProtocolVersions: []byte{9, 11}}.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	l.PongData(bedrock.MOTD{Name: "A server", Protocol: 766, MaxPlayers: 20, World: "w", PortV4: 19132}.Append(nil))

	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-x", l.Addr().String()}, &out))
	for _, want := range []string{
		`GUID +-4711`, `pong +\d+ bytes, data behind its length, the ping's time`, `name +"A server"`, `IPv4 port +19132`,
		`versions +11, 9\n`, `asked in 10: speaks 11\n`, `asked in 6: speaks 11\n`,
		`MTU 1492 +grants 1300, security with cookie [0-9a-f]{8}, 32 bytes, GUID -4711`, `MTU 1200 +grants 1200`, `MTU 576 +grants 576`,
		`round trip +[0-9.]+`, `datagrams +\d+ sent, \d+ received\n`,
	} {
		require.Regexp(t, want, out.String())
	}
}
