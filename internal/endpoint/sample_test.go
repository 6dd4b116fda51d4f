package endpoint

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// lines counts the lines of a log that say something.
func lines(log *bytes.Buffer, something string) int {
	return strings.Count(log.String(), something)
}

func TestOfAFloodOneLineASecondIsLogged(t *testing.T) {
	var log bytes.Buffer
	change := func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	bubble(t, func(r *rig) {
		s := r.stray("10.0.0.3:1")
		for range 1000 {
			s.send([]byte("GET / HTTP/1.1"))
			s.send([]byte{0x84, 0, 0, 0})
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(oneWay)
		synctest.Wait()
		require.Equal(t, uint64(1000), r.server.Stats().Dropped["unknown"])
		require.Equal(t, 5, lines(&log, "reason=unknown"))
		require.Equal(t, 5, lines(&log, `reason="no session"`))
		require.Contains(t, log.String(), "client=10.0.0.3:1 bytes=14 begins=474554202f20485454502f312e31 dropped=1")
		t.Log("# a connection is no stranger, and says nothing")
		before := log.Len()
		client, server := r.pair()
		r.write(client, "\xfe")
		r.read(server)
		require.Equal(t, before, log.Len())
	}, change)
}

func TestWhoDoesNotWantToDebugGetsNoLines(t *testing.T) {
	var log bytes.Buffer
	bubble(t, func(r *rig) {
		s := r.stray("10.0.0.3:1")
		for range 100 {
			s.send([]byte("GET / HTTP/1.1"))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Zero(t, log.Len())
		require.Equal(t, uint64(100), r.server.Stats().Dropped["unknown"])
	}, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
}
