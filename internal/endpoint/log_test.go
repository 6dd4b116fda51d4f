package endpoint

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// slowWriter waits for a word before every write.
type slowWriter struct {
	bytes.Buffer
	word chan struct{}
}

func (w *slowWriter) Write(p []byte) (int, error) {
	<-w.word
	return w.Buffer.Write(p)
}

func TestALoggerThatBlocksHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{word: make(chan struct{})}
		l := logger{to: slog.New(slog.NewTextHandler(w, nil))}
		for range 10 * logLines {
			l.log(slog.LevelWarn, "something", "n", 1)
		}
		close(w.word)
		synctest.Wait()
		lines := bytes.Count(w.Bytes(), []byte("\n"))
		require.Less(t, lines, 3*logLines)
		require.Contains(t, w.String(), "log lines dropped")

		t.Log("# and its goroutine comes back when there is something again")
		w.Reset()
		l.log(slog.LevelWarn, "more")
		synctest.Wait()
		require.Contains(t, w.String(), "more")

		(&logger{}).log(slog.LevelError, "to nobody")
	})
}
