package main

import (
	"bytes"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

// The whole demo, in virtual time.
func TestTheDemoKeepsEveryPromise(t *testing.T) {
	for _, args := range [][]string{nil, {"-loss", "0.2", "-clients", "2"}, {"-duration", "100ms", "-loss", "0", "-reorder", "0"}} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			start := time.Now()
			require.NoError(t, run(t.Context(), args, &out, false), out.String())
			require.Less(t, time.Since(start), 35*time.Second)
			require.Equal(t, modes, bytes.Count(out.Bytes(), []byte("kept\n")), out.String())
		})
	}
}

var ansi = regexp.MustCompile(`\x1b\[[0-9]*[A-Z]`)

func TestATerminalIsRedrawnInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), []string{"-duration", "1s"}, &out, true))
		require.Greater(t, bytes.Count(out.Bytes(), []byte("\x1b[")), 100)
		for line := range bytes.Lines(out.Bytes()) {
			require.Less(t, len(ansi.ReplaceAll(line, nil)), 80+len("\n"), "%q", line)
		}
	})
}

func TestTheTallyNoticesBrokenPromises(t *testing.T) {
	arrive := func(mode raknet.Reliability, sent int, order ...uint32) string {
		tl := newTally(mode, 1)
		for range sent {
			tl.sent()
		}
		for _, n := range order {
			tl.arrived(0, n, time.Millisecond)
		}
		tl.end(sent)
		return tl.snapshot().broken
	}
	require.Empty(t, arrive(raknet.Unreliable, 4, 3, 0))
	require.NotEmpty(t, arrive(raknet.Unreliable, 4, 0, 0))
	require.Empty(t, arrive(raknet.UnreliableSequenced, 4, 0, 2))
	require.NotEmpty(t, arrive(raknet.UnreliableSequenced, 4, 2, 1))
	require.Empty(t, arrive(raknet.Reliable, 3, 1, 2, 0))
	require.NotEmpty(t, arrive(raknet.Reliable, 3, 1, 2))
	require.Empty(t, arrive(raknet.ReliableOrdered, 3, 0, 1, 2))
	require.NotEmpty(t, arrive(raknet.ReliableOrdered, 3, 0, 2, 1))
	require.Empty(t, arrive(raknet.ReliableSequenced, 3, 0, 2))
	require.NotEmpty(t, arrive(raknet.ReliableSequenced, 3, 0, 1))

	tl := newTally(raknet.UnreliableWithReceipt, 1)
	tl.sent()
	tl.receipt(0, 0, true)
	tl.end(1)
	require.Equal(t, "a message was acknowledged and never arrived", tl.snapshot().broken)
}

func TestFlagsOutOfRangeAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-clients", "0"}, {"-rate", "5000"}, {"-loss", "0.9"}, {"-nonsense"}} {
		require.Error(t, run(t.Context(), args, &bytes.Buffer{}, false))
	}
}
