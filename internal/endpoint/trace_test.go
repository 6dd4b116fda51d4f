package endpoint

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/session"
)

// traceLog is what a tracer was told of the connections of one endpoint.
type traceLog struct {
	mu      sync.Mutex
	conns   map[*Conn]*connTrace
	stories []string // who was opened and who has ended, in order
	before  func()   // called first with every batch of records
}

type connTrace struct {
	records []arq.TraceRecord
	inside  bool
	over    bool
	wrong   string
}

func (l *traceLog) config(cfg *Config) {
	l.conns = make(map[*Conn]*connTrace)
	cfg.Wrap = func(c *Conn) any {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conns[c] = &connTrace{}
		l.stories = append(l.stories, "open")
		return nil
	}
	cfg.Trace = func(c *Conn, records []arq.TraceRecord) {
		l.mu.Lock()
		t := l.conns[c]
		switch {
		case t == nil:
			t = &connTrace{wrong: "told before it was open"}
			l.conns[c] = t
		case t.inside:
			t.wrong = "two calls at once"
		case t.over:
			t.wrong = "told after the end"
		case len(records) == 0:
			t.wrong = "told nothing"
		}
		t.inside = true
		before := l.before
		l.mu.Unlock()
		if before != nil {
			before()
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		t.inside = false
		t.records = append(t.records, records...)
	}
	cfg.TraceEnd = func(c *Conn) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.conns[c].over {
			l.conns[c].wrong = "ended twice"
		}
		l.conns[c].over = true
		l.stories = append(l.stories, "end")
	}
}

// of returns the trace of a connection and checks that it was told as promised.
func (l *traceLog) of(t *testing.T, c *Conn) *connTrace {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	tr := l.conns[c]
	require.NotNil(t, tr)
	require.Empty(t, tr.wrong)
	return tr
}

func (tr *connTrace) count(k arq.TraceKind) (records, count int) {
	for i := range tr.records {
		if r := &tr.records[i]; r.Kind == k {
			records++
			count += int(r.Count)
		}
	}
	return records, count
}

func TestATraceTellsAConnectionsWholeLife(t *testing.T) {
	var at, from traceLog
	bubble(t, func(r *rig) {
		r.net.SetDefault(netsim.Link{Delay: oneWay, Loss: 0.05})
		client, server := r.pair(from.config)
		for range 20 {
			r.write(client, string(message(20_000, 0xfe)))
			r.write(server, "answer")
			r.read(client)
			r.read(server)
		}
		require.False(t, from.of(t, client).over)
		require.NoError(t, client.Close())
		time.Sleep(time.Minute)
		synctest.Wait()
		for log, c := range map[*traceLog]*Conn{&from: client, &at: server} {
			tr, s := log.of(t, c), c.Stats()
			require.True(t, tr.over)
			require.Equal(t, []string{"open", "end"}, log.stories)
			n, _ := tr.count(arq.TraceSent)
			require.EqualValues(t, s.DatagramsSent, n, "from the first datagram of the handshake to the last ACK")
			n, _ = tr.count(arq.TraceReceived)
			require.EqualValues(t, s.DatagramsReceived, n)
			n, _ = tr.count(arq.TraceLost)
			require.EqualValues(t, s.DatagramsLost, n)
			n, _ = tr.count(arq.TraceGap)
			require.Zero(t, n)
			last := tr.records[0].At
			for _, rec := range tr.records {
				require.GreaterOrEqual(t, rec.At, last)
				last = rec.At
			}
			require.WithinDuration(t, time.Now(), c.Wall(last), time.Minute+10*time.Second)
		}
	}, at.config)
}

func TestASlowTracerKeepsOnlyItselfWaiting(t *testing.T) {
	var log traceLog
	bubble(t, func(r *rig) {
		word := make(chan struct{})
		answer := sync.OnceFunc(func() { close(word) })
		defer answer()
		log.before = func() { <-word }
		client, server := r.pair(log.config)
		start := time.Now()
		for range 200 {
			r.write(client, string(message(50_000, 0xfe)))
			r.read(server)
		}
		require.Less(t, time.Since(start), 30*time.Second)
		require.Empty(t, log.of(t, client).records, "it is still told the beginning")

		t.Log("# what was recorded last is there when it has time again, and how much is missing")
		answer()
		synctest.Wait()
		tr, s := log.of(t, client), client.Stats()
		gaps, missing := tr.count(arq.TraceGap)
		require.Equal(t, 1, gaps)
		require.Greater(t, missing, 1000)
		require.LessOrEqual(t, len(tr.records), 2*traceRecords+1)
		require.Less(t, tr.records[0].At, tr.records[len(tr.records)-1].At)
		sent, _ := tr.count(arq.TraceSent)
		require.Less(t, sent, int(s.DatagramsSent))
		require.EqualValues(t, s.BytesInFlight, tr.records[len(tr.records)-1].InFlight)
		require.NoError(t, client.Close())
		time.Sleep(time.Minute)
	})
	require.Equal(t, []string{"open", "end"}, log.stories)
}

func TestATracerThatPanicsIsToldNoMore(t *testing.T) {
	var log traceLog
	var lines bytes.Buffer
	calls := 0
	log.before = func() { calls++; panic("no more paper") }
	bubble(t, func(r *rig) {
		client, server := r.pair(log.config, func(cfg *Config) { cfg.Log = slog.New(slog.NewTextHandler(&lines, nil)) })
		for range 10 {
			r.write(client, "hello")
			require.Equal(t, "hello", r.read(server))
		}
		require.NoError(t, client.Close())
		time.Sleep(time.Minute)
		synctest.Wait()
	})
	require.Equal(t, 1, calls)
	require.Equal(t, 1, bytes.Count(lines.Bytes(), []byte("panic in tracer")))
	require.Contains(t, lines.String(), "no more paper")
	require.Equal(t, []string{"open", "end"}, log.stories, "who wants to clean up can")
}

func TestThePanicAtTheEndIsCaughtToo(t *testing.T) {
	var lines bytes.Buffer
	bubble(t, func(r *rig) {
		client, _ := r.pair(func(cfg *Config) {
			cfg.Log = slog.New(slog.NewTextHandler(&lines, nil))
			cfg.Trace = func(*Conn, []arq.TraceRecord) {}
			cfg.TraceEnd = func(*Conn) { panic("the end") }
		})
		client.Abort(nil)
		time.Sleep(time.Minute)
	})
	require.Contains(t, lines.String(), "the end")
}

func TestAConnectionThatNeverOpensIsNotTraced(t *testing.T) {
	var log traceLog
	bubble(t, func(r *rig) {
		t.Log("# the server's replies to the offline requests come, and nothing after them")
		r.net.SetFilter(func(_, _ netip.AddrPort, data []byte) bool { return data[0]&0x80 != 0 })
		e := r.client("10.0.0.2:5000", log.config)
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_, err := e.Dial(ctx, r.at, DialConfig{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Minute)
	})
	require.Empty(t, log.conns)
	require.Empty(t, log.stories)
}

func TestTheEndIsToldWhenTheEndpointEnds(t *testing.T) {
	var log traceLog
	bubble(t, func(r *rig) {
		for _, from := range []string{"10.0.0.2:1", "10.0.0.2:2", "10.0.0.2:3"} {
			r.dial(from)
		}
		require.NoError(t, r.server.Close())
		synctest.Wait()
		log.mu.Lock()
		defer log.mu.Unlock()
		require.Equal(t, []string{"open", "open", "open", "end", "end", "end"}, log.stories)
	}, log.config)
}

func TestAnUntracedConnectionHasNothingForIt(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		require.Nil(t, client.seldom().tracing)
		require.Nil(t, server.seldom().tracing)
	})
}

// A connection may die while it is being told to the world: its end is told after that.
func TestTheEndIsToldAlthoughTheOpeningWasLate(t *testing.T) {
	var log traceLog
	bubble(t, func(r *rig) {
		e := r.client("10.0.0.2:5000", log.config, func(cfg *Config) {
			wrap := cfg.Wrap
			cfg.Wrap = func(c *Conn) any {
				c.kill(context.Canceled)
				return wrap(c)
			}
		})
		c := newConn(e, e.clock.Now(), r.at, &way{}, &session.Config{Side: session.Server, MTU: 1492})
		c.open()
		synctest.Wait()
		require.Equal(t, []string{"open", "end"}, log.stories)
		require.NotEmpty(t, log.of(t, c).records)
	})
}
