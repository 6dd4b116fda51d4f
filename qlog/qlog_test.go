package qlog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/qlog"
)

// paper is what a trace is written on.
type paper struct {
	bytes.Buffer
	closed int
	full   error // what Write returns; nil: it writes
	writes int
}

func (p *paper) Write(b []byte) (int, error) {
	p.writes++
	if p.full != nil {
		return 0, p.full
	}
	return p.Buffer.Write(b)
}

func (p *paper) Close() error {
	p.closed++
	return nil
}

// archive has a paper for every connection.
type archive struct {
	mu     sync.Mutex
	papers map[*raknet.Conn]*paper
}

func (a *archive) open(c *raknet.Conn) (io.WriteCloser, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.papers == nil {
		a.papers = map[*raknet.Conn]*paper{}
	}
	a.papers[c] = &paper{}
	return a.papers[c], nil
}

// text is one JSON text of a trace, with what the tests look at.
type text struct {
	// Of the header.
	Version string `json:"qlog_version"`
	Format  string `json:"qlog_format"`
	Trace   struct {
		Vantage struct{ Type string } `json:"vantage_point"`
		Common  struct {
			Reference float64 `json:"reference_time"`
		} `json:"common_fields"`
	}
	// Of an event.
	Time float64
	Name string
	Data struct {
		Header struct {
			Type   string `json:"packet_type"`
			Number *int64 `json:"packet_number"`
		}
		Raw           struct{ Length uint64 }
		Numbers       []int64 `json:"packet_numbers"`
		Resent        uint64  `json:"frames_resent"`
		Repeated      uint64  `json:"frames_repeated"`
		Trigger       string
		Count         int
		Owner, Reason string
		Window        *int     `json:"congestion_window"`
		InFlight      *int     `json:"bytes_in_flight"`
		SRTT          *float64 `json:"smoothed_rtt"`
	}
}

// read parses a whole trace.
func read(t *testing.T, b []byte) (list []text) {
	t.Helper()
	require.NotEmpty(t, b)
	require.EqualValues(t, 0x1e, b[0], "every text has a record separator before it")
	for _, record := range bytes.Split(b[1:], []byte{0x1e}) {
		require.True(t, bytes.HasSuffix(record, []byte("}\n")), "and a line feed behind it: %q", record)
		var x text
		require.NoError(t, json.Unmarshal(record, &x), "%s", record)
		list = append(list, x)
	}
	return list
}

// story runs a conversation over a link in virtual time: a client that sends total bytes, with
// small messages in between that are answered.
func story(t *testing.T, link netsim.Link, total int, server, client *raknet.Tracer, tell func(client, server *raknet.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := netsim.New(1)
		network.SetDefault(link)
		l, err := raknet.ListenConfig{UpstreamPacketListener: network, Tracer: server}.Listen("10.0.0.1:19132")
		require.NoError(t, err)
		defer func() {
			require.NoError(t, l.Close())
			time.Sleep(time.Minute)
			require.NoError(t, network.Close())
		}()
		c, err := raknet.Dialer{UpstreamDialer: network, Tracer: client}.Dial("10.0.0.1:19132")
		require.NoError(t, err)
		s, err := l.AcceptContext(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.SetDeadline(time.Now().Add(5*time.Minute)))
		go func() {
			for {
				b, err := s.ReadPacket()
				if err != nil {
					return
				}
				_, _ = s.Write(b)
			}
		}()
		for sent := 0; sent < total; sent += 50_000 {
			for _, size := range []int{40_000, 5000, 4000, 500, 500} {
				_, err := c.Write(append([]byte{0xfe}, make([]byte, size-1)...))
				require.NoError(t, err)
			}
			for range 5 {
				_, err := c.ReadPacket()
				require.NoError(t, err)
			}
		}
		require.NoError(t, c.Close())
		time.Sleep(time.Minute)
		synctest.Wait()
		tell(c, s)
	})
}

// known are all events that a trace may have.
var known = []string{
	"connectivity:connection_started", "connectivity:connection_closed", "transport:packet_sent", "transport:packet_received",
	"transport:packet_dropped", "transport:packets_acked", "recovery:packet_lost", "recovery:metrics_updated",
	"recovery:congestion_state_updated", "recovery:loss_timer_updated", "raknet:spurious_loss", "raknet:reordering_tolerance_updated",
	"raknet:datagrams_abandoned", "raknet:events_dropped",
}

// check reads a trace of a whole connection and compares its sums with the statistics.
func check(t *testing.T, b []byte, side string, began time.Time, s raknet.ConnStats) {
	t.Helper()
	list := read(t, b)
	head, list := list[0], list[1:]
	require.Equal(t, "0.3", head.Version)
	require.Equal(t, "JSON-SEQ", head.Format)
	require.Equal(t, side, head.Trace.Vantage.Type)
	require.InDelta(t, float64(began.UnixMicro())/1e3, head.Trace.Common.Reference, 10_000)
	require.Equal(t, "connectivity:connection_started", list[0].Name)
	require.Equal(t, "connectivity:connection_closed", list[len(list)-1].Name)
	require.NotEmpty(t, list[len(list)-1].Data.Reason)

	var sum raknet.ConnStats
	sent, lost := map[int64]bool{}, map[int64]bool{} // by number; true: acknowledged
	abandoned, triggers := 0, map[string]int{}
	last := 0.0
	for _, e := range list {
		require.Contains(t, known, e.Name)
		require.GreaterOrEqual(t, e.Time, last)
		last = e.Time
		d := &e.Data
		switch e.Name {
		case "transport:packet_sent":
			sum.DatagramsSent++
			sum.BytesSent += d.Raw.Length
			sum.FramesResent += d.Resent
			sum.FramesRepeated += d.Repeated
			if n := d.Header.Number; d.Header.Type == "data" {
				require.EqualValues(t, len(sent), *n, "numbers have no gaps")
				sent[*n] = false
			} else {
				require.Nil(t, n)
			}
		case "transport:packet_received":
			sum.DatagramsReceived++
			sum.BytesReceived += d.Raw.Length
		case "transport:packets_acked":
			for _, n := range d.Numbers {
				require.Contains(t, sent, n)
				require.False(t, sent[n], "%d is acknowledged twice", n)
				require.NotContains(t, lost, n)
				sent[n] = true
			}
		case "recovery:packet_lost":
			n := *d.Header.Number
			require.Contains(t, sent, n)
			require.False(t, sent[n])
			require.NotContains(t, lost, n)
			lost[n] = false
			sum.DatagramsLost++
			triggers[d.Trigger]++
		case "raknet:spurious_loss":
			for _, n := range d.Numbers {
				require.Contains(t, lost, n)
				require.False(t, lost[n])
				lost[n] = true
				sum.SpuriousLosses++
			}
		case "raknet:datagrams_abandoned":
			abandoned += d.Count
		case "recovery:metrics_updated":
			if d.Window != nil {
				sum.CongestionWindow = *d.Window
			}
			if d.InFlight != nil {
				sum.BytesInFlight = *d.InFlight
			}
			if d.SRTT != nil {
				sum.RTT = time.Duration(*d.SRTT * float64(time.Millisecond))
			}
		}
	}
	acked := 0
	for _, yes := range sent {
		if yes {
			acked++
		}
	}
	require.Equal(t, len(sent), acked+len(lost)+abandoned, "every datagram comes to one end")
	require.Greater(t, acked, 100)
	require.Greater(t, s.DatagramsLost, uint64(5))
	require.NotContains(t, triggers, "unknown")
	require.InDelta(t, s.RTT, sum.RTT, float64(2*time.Microsecond))
	sum.RTT, sum.RTTVar, sum.MinRTT = s.RTT, s.RTTVar, s.MinRTT
	sum.MessagesSent, sum.MessagesReceived, sum.DuplicatesReceived = s.MessagesSent, s.MessagesReceived, s.DuplicatesReceived
	require.Equal(t, s, sum)
}

var lossy = netsim.Link{Delay: 25 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.05, Duplicate: 0.02, Reorder: 0.03, ReorderBy: 20 * time.Millisecond}

func TestATraceOfARealTransferAddsUp(t *testing.T) {
	var here, there archive
	story(t, lossy, 1_500_000, qlog.NewTracer(there.open), qlog.NewTracer(here.open), func(client, server *raknet.Conn) {
		for _, end := range []struct {
			a    *archive
			c    *raknet.Conn
			side string
		}{{&here, client, "client"}, {&there, server, "server"}} {
			require.Len(t, end.a.papers, 1)
			p := end.a.papers[end.c]
			require.Equal(t, 1, p.closed)
			check(t, p.Bytes(), end.side, netsimStart, end.c.Stats())
		}
	})
}

// netsimStart is when bubbles begin.
var netsimStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestADirectoryGetsAFileForEachConnection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "traces")
	story(t, lossy, 500_000, qlog.Dir(dir), qlog.Dir(dir), func(client, server *raknet.Conn) {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.Len(t, files, 2)
		require.Regexp(t, `^20000101-0000\d\d\.\d{3}-client-10\.0\.0\.1-19132\.sqlog$`, filepath.Base(files[0]))
		peer := netip.MustParseAddrPort(server.RemoteAddr().String())
		require.Regexp(t, `^20000101-0000\d\d\.\d{3}-server-`+peer.Addr().String()+`-\d+\.sqlog$`, filepath.Base(files[1]))
		for i, c := range []*raknet.Conn{client, server} {
			b, err := os.ReadFile(files[i])
			require.NoError(t, err)
			check(t, b, []string{"client", "server"}[i], netsimStart, c.Stats())
		}
	})
}

func TestErrorsEndATraceAndNothingElse(t *testing.T) {
	full := &paper{full: errors.New("disk is full")}
	refusals := 0
	for name, open := range map[string]func(*raknet.Conn) (io.WriteCloser, error){
		"opening": func(*raknet.Conn) (io.WriteCloser, error) { refusals++; return nil, errors.New("no paper") },
		"writing": func(*raknet.Conn) (io.WriteCloser, error) { return full, nil },
		"leaving": func(*raknet.Conn) (io.WriteCloser, error) { return nil, nil },
	} {
		var log bytes.Buffer
		conf := qlog.Config{Open: open, ErrorLog: slog.New(slog.NewTextHandler(&log, nil))}
		story(t, lossy, 100_000, nil, conf.Tracer(), func(*raknet.Conn, *raknet.Conn) {})
		lines := bytes.Count(log.Bytes(), []byte("\n"))
		switch name {
		case "opening":
			require.Equal(t, 1, refusals, "it is not tried again")
			require.Equal(t, 1, lines, log.String())
			require.Contains(t, log.String(), "no paper")
		case "writing":
			require.Equal(t, 1, full.writes)
			require.Equal(t, 1, full.closed)
			require.Equal(t, 1, lines, log.String())
			require.Contains(t, log.String(), "disk is full")
		case "leaving":
			require.Zero(t, lines)
		}
		story(t, lossy, 50_000, nil, qlog.NewTracer(open), func(*raknet.Conn, *raknet.Conn) {}) // without a log
	}
}
