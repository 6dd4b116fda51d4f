package raknet_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
)

// diary is a tracer that remembers what it was told, connection by connection.
type diary struct {
	raknet.Tracer
	mu     sync.Mutex
	events map[*raknet.Conn][]raknet.TraceEvent
	words  map[*raknet.Conn][]string // opened, events, closed
	causes map[*raknet.Conn]error
}

func newDiary() *diary {
	d := &diary{events: map[*raknet.Conn][]raknet.TraceEvent{}, words: map[*raknet.Conn][]string{}, causes: map[*raknet.Conn]error{}}
	d.ConnOpened = func(c *raknet.Conn) { d.write(c, "opened") }
	d.ConnEvents = func(c *raknet.Conn, events []raknet.TraceEvent) {
		d.write(c, "events")
		d.mu.Lock()
		defer d.mu.Unlock()
		d.events[c] = append(d.events[c], events...)
	}
	d.ConnClosed = func(c *raknet.Conn, err error) {
		d.write(c, "closed")
		d.mu.Lock()
		defer d.mu.Unlock()
		d.causes[c] = err
	}
	return d
}

func (d *diary) write(c *raknet.Conn, word string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.words[c]; word != "events" || w == nil || w[len(w)-1] != word {
		d.words[c] = append(w, word)
	}
}

// about returns what was said about a connection so far.
func (d *diary) about(c *raknet.Conn) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.words[c])
}

func TestAConnectionsEventsComeBetweenItsOpeningAndItsEnd(t *testing.T) {
	dialed, accepted := newDiary(), newDiary()
	story(t, bad, raknet.ListenConfig{Tracer: &accepted.Tracer}, func(w *world) {
		client, server := w.dial(raknet.Dialer{Tracer: &dialed.Tracer})
		require.True(w, client.Dialed())
		require.False(w, server.Dialed())
		require.NoError(w, pour(client, server, 2_000_000, 20_000))
		require.NoError(w, client.Close())

		<-client.Context().Done()
		synctest.Wait()
		require.Equal(w, []string{"opened", "events"}, dialed.about(client), "its end is not all yet: the peer has to be told")
		w.pass(time.Minute)
		for d, c := range map[*diary]*raknet.Conn{dialed: client, accepted: server} {
			require.Equal(w, []string{"opened", "events", "closed"}, d.about(c))
			require.Equal(w, context.Cause(c.Context()), d.causes[c])
			require.Len(w, d.words, 1)
		}

		t.Log("# the events add up to the statistics")
		s := client.Stats()
		var sum raknet.ConnStats
		frames, settled, first := 0, 0, dialed.events[client][0].Time
		reasons := map[raknet.LossReason]int{}
		for _, e := range dialed.events[client] {
			require.False(w, e.Time.Before(first))
			switch e.Kind {
			case raknet.TraceSent:
				sum.DatagramsSent++
				sum.BytesSent += uint64(e.Bytes)
				sum.FramesResent += uint64(e.FramesResent)
				sum.FramesRepeated += uint64(e.FramesRepeated)
				if e.Number >= 0 {
					require.EqualValues(w, frames, e.Number)
					frames++
				}
			case raknet.TraceReceived:
				sum.DatagramsReceived++
				sum.BytesReceived += uint64(e.Bytes)
			case raknet.TraceAcked, raknet.TraceAbandoned:
				settled += e.Count
			case raknet.TraceLost:
				settled++
				sum.DatagramsLost++
				reasons[e.Loss]++
			case raknet.TraceSpurious:
				sum.SpuriousLosses += uint64(e.Count)
			case raknet.TraceMetrics:
				sum.RTT, sum.RTTVar, sum.MinRTT = e.RTT, e.RTTVar, e.MinRTT
				sum.BytesInFlight, sum.CongestionWindow = e.BytesInFlight, e.CongestionWindow
			}
		}
		require.Equal(w, frames, settled, "every datagram comes to one end")
		require.Greater(w, s.DatagramsLost, uint64(10))
		require.Greater(w, len(reasons), 1)
		sum.MessagesSent, sum.DuplicatesReceived = s.MessagesSent, s.DuplicatesReceived
		sum.MessagesReceived, sum.DatagramsRefused = s.MessagesReceived, s.DatagramsRefused
		require.Equal(w, sum, s)
	})
}

func TestATracedConnectionMayBeLeftOpen(t *testing.T) {
	d := newDiary()
	story(t, good, raknet.ListenConfig{Tracer: &d.Tracer}, func(w *world) {
		_, server := w.dial(raknet.Dialer{})
		require.NoError(w, w.listener.Close())
		w.pass(time.Second)
		require.Equal(w, []string{"opened", "events", "closed"}, d.about(server))
	})
}

func TestATracerWithoutEventsHearsOfTheEndAtOnce(t *testing.T) {
	d := newDiary()
	d.ConnEvents = nil
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, _ := w.dial(raknet.Dialer{Tracer: &d.Tracer})
		require.NoError(w, client.Close())
		synctest.Wait()
		require.Equal(w, []string{"opened", "closed"}, d.about(client))
	})
}

// The panic of a tracer is its author's affair.
func TestATracerMayPanic(t *testing.T) {
	var lines bytes.Buffer
	var calls atomic.Int32
	oops := func() { calls.Add(1); panic("oops") }
	log := slog.New(slog.NewTextHandler(&lines, nil))
	tracer := &raknet.Tracer{
		DialAttempt: func(net.Addr) { oops() },
		ConnOpened:  func(*raknet.Conn) { oops() },
		ConnEvents:  func(*raknet.Conn, []raknet.TraceEvent) { oops() },
		ConnClosed:  func(*raknet.Conn, error) { oops() },
	}
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{Tracer: tracer, ErrorLog: log})
		require.NoError(w, pour(client, server, 100_000, 1000))
		require.NoError(w, client.Close())
		w.pass(time.Minute)
		require.EqualValues(w, 4, calls.Load(), "one of each")
		require.Equal(w, 4, bytes.Count(lines.Bytes(), []byte("panic in tracer")), lines.String())

		t.Log("# nor does it need a log")
		client, server = w.dial(raknet.Dialer{Tracer: tracer})
		require.NoError(w, pour(client, server, 1000, 1000))
	})
}

func TestASlowTracerLosesEventsAndNothingElse(t *testing.T) {
	d := newDiary()
	story(t, netsim.Link{Delay: 5 * time.Millisecond}, raknet.ListenConfig{}, func(w *world) {
		word := make(chan struct{})
		answer := sync.OnceFunc(func() { close(word) })
		defer answer()
		write := d.ConnEvents
		d.ConnEvents = func(c *raknet.Conn, events []raknet.TraceEvent) {
			<-word
			write(c, events)
		}
		client, server := w.dial(raknet.Dialer{Tracer: &d.Tracer})
		require.NoError(w, pour(client, server, 20_000_000, 100_000))
		require.NoError(w, client.Close())
		w.pass(time.Minute)
		require.NotContains(w, d.about(client), "closed")
		answer()
		synctest.Wait()
		require.Equal(w, []string{"opened", "events", "closed"}, d.about(client))
		missing := 0
		for _, e := range d.events[client] {
			if e.Kind == raknet.TraceGap {
				missing += e.Count
			}
		}
		require.Greater(w, missing, 1000)
		require.ErrorIs(w, d.causes[client], net.ErrClosed)
		require.False(w, errors.Is(d.causes[client], context.Canceled))
	})
}
