package qlog

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNoAddressLeadsOutOfTheDirectory(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("elsewhere", 3600))
	for peer, want := range map[string]string{
		"192.0.2.7:19132":        "192.0.2.7-19132",
		"[2001:db8::1]:19132":    "2001-db8--1-19132",
		"[fe80::1%eth0]:1":       "fe80--1-eth0-1",
		"../../etc/passwd":       "etc-passwd",
		`..\..\boot.ini`:         "boot.ini",
		"a b\x00c/é":             "a-b-c",
		strings.Repeat("x", 200): strings.Repeat("x", 64),
		"":                       "",
	} {
		name := fileName(at, "server", peer)
		require.Equal(t, "20260102-020405.006-server-"+want, name)
		require.True(t, filepath.IsLocal(name))
		require.Equal(t, name, filepath.Base(name))
	}
}
