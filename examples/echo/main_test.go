package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

// syncBuffer is an output that the server's goroutines share.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func TestTheClientGetsItsMessagesBack(t *testing.T) {
	l, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, l, &syncBuffer{}) }()

	var out bytes.Buffer
	traces := t.TempDir()
	require.NoError(t, run(t.Context(), []string{"client", "-addr", l.Addr().String(), "-count", "3", "-size", "5000", "-qlog", traces}, &out))
	require.Equal(t, 3, strings.Count(out.String(), "5000 bytes came back"), out.String())
	require.Eventually(t, func() bool { // another goroutine writes it
		files, _ := filepath.Glob(filepath.Join(traces, "*-client-127.0.0.1-*.sqlog"))
		return len(files) == 1
	}, 20*time.Second, time.Millisecond)

	cancel()
	require.NoError(t, <-served)
}

func TestTheModeHasToBeSaid(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), nil, &syncBuffer{}), "echo server")
}
