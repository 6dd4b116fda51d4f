package qlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)

func after(d time.Duration) time.Time { return began.Add(d) }

type sink struct{ bytes.Buffer }

func (*sink) Close() error { return nil }

// lines adds events to a trace that has begun and returns what is written, a line for each text.
func lines(t *testing.T, events ...raknet.TraceEvent) []string {
	t.Helper()
	s := &sink{}
	tr := &trace{out: s, start: began}
	for i := range events {
		if events[i].Time.IsZero() {
			events[i].Time = after(1500 * time.Microsecond)
		}
	}
	tr.add(events)
	tr.settle()
	require.NoError(t, tr.flush())
	var list []string
	for text := range strings.Lines(s.String()) {
		require.True(t, strings.HasPrefix(text, "\x1e{"), text)
		require.True(t, json.Valid([]byte(text[1:])), text)
		list = append(list, strings.TrimSuffix(text[1:], "\n"))
	}
	return list
}

func TestEveryKindOfEventIsWritten(t *testing.T) {
	head := func(name string) string { return `{"time":1.500,"name":"` + name + `","data":{` }
	for _, c := range []struct {
		what  string
		event raknet.TraceEvent
		want  string
	}{
		{"a datagram", raknet.TraceEvent{Kind: raknet.TraceSent, Datagram: raknet.DatagramFrames, Number: 7, Bytes: 1464, BytesInFlight: 9999},
			head("transport:packet_sent") + `"header":{"packet_type":"data","packet_number":7},"raw":{"length":1464}}}`},
		{"one with old frames", raknet.TraceEvent{Kind: raknet.TraceSent, Datagram: raknet.DatagramResent, Number: 8, Bytes: 100, FramesResent: 2, FramesRepeated: 3, Probe: true},
			head("transport:packet_sent") + `"header":{"packet_type":"data","packet_number":8},"raw":{"length":100},"frames_resent":2,"frames_repeated":3,"trigger":"pto_probe"}}`},
		{"an ACK", raknet.TraceEvent{Kind: raknet.TraceSent, Datagram: raknet.DatagramACK, Number: -1, Bytes: 7},
			head("transport:packet_sent") + `"header":{"packet_type":"ack"},"raw":{"length":7}}}`},
		{"a NACK", raknet.TraceEvent{Kind: raknet.TraceSent, Datagram: raknet.DatagramNACK, Number: -1, Bytes: 10},
			head("transport:packet_sent") + `"header":{"packet_type":"nack"},"raw":{"length":10}}}`},
		{"what came", raknet.TraceEvent{Kind: raknet.TraceReceived, Datagram: raknet.DatagramFrames, Number: 1 << 24, Bytes: 50},
			head("transport:packet_received") + `"header":{"packet_type":"data","packet_number":16777216},"raw":{"length":50}}}`},
		{"who knows what", raknet.TraceEvent{Kind: raknet.TraceReceived, Number: -1, Bytes: 1},
			head("transport:packet_received") + `"header":{"packet_type":"unknown"},"raw":{"length":1}}}`},
		{"twice", raknet.TraceEvent{Kind: raknet.TraceDiscarded, Datagram: raknet.DatagramFrames, Number: 3, Bytes: 50, Discard: raknet.DiscardDuplicate},
			head("transport:packet_dropped") + `"header":{"packet_type":"data","packet_number":3},"raw":{"length":50},"trigger":"duplicate"}}`},
		{"an ACK whose arrival is missing", raknet.TraceEvent{Kind: raknet.TraceAcked, Number: 5, Count: 3, Bytes: 300},
			head("transport:packets_acked") + `"packet_numbers":[5,6,7]}}`},
		{"a spurious loss", raknet.TraceEvent{Kind: raknet.TraceSpurious, Number: 5, Count: 1, Bytes: 100},
			head("raknet:spurious_loss") + `"packet_numbers":[5]}}`},
		{"a loss", raknet.TraceEvent{Kind: raknet.TraceLost, Number: 0, Bytes: 100, Loss: raknet.LossThreshold},
			head("recovery:packet_lost") + `"header":{"packet_type":"data","packet_number":0},"raw":{"length":100},"trigger":"reordering_threshold"}}`},
		{"a timeout", raknet.TraceEvent{Kind: raknet.TraceTimeout, Number: -1, Count: 2},
			head("recovery:loss_timer_updated") + `"event_type":"expired","timer_type":"pto","pto_count":2}}`},
		{"a path that reorders", raknet.TraceEvent{Kind: raknet.TraceTolerance, Number: -1, Tolerance: 0.75},
			head("raknet:reordering_tolerance_updated") + `"min_rtts":0.75}}`},
		{"a phase", raknet.TraceEvent{Kind: raknet.TracePhase, Number: -1, Phase: raknet.PhaseStartup},
			head("recovery:congestion_state_updated") + `"new":"slow_start"}}`},
		{"the end", raknet.TraceEvent{Kind: raknet.TraceAbandoned, Number: -1, Count: 2, Bytes: 300},
			head("raknet:datagrams_abandoned") + `"count":2,"length":300}}`},
		{"a gap", raknet.TraceEvent{Kind: raknet.TraceGap, Number: -1, Count: 12345}, head("raknet:events_dropped") + `"count":12345}}`},
	} {
		require.Equal(t, []string{c.want}, lines(t, c.event), c.what)
	}
	require.Empty(t, lines(t, raknet.TraceEvent{Kind: 99}), "kinds of the future")
}

func TestOnlyMetricsThatChangedAreWritten(t *testing.T) {
	first := raknet.TraceEvent{Kind: raknet.TraceMetrics, Number: -1, BytesInFlight: 1464, CongestionWindow: 14640, PacingRate: 1000,
		LatestRTT: 50 * time.Millisecond, RTT: 51234567 * time.Nanosecond, RTTVar: 70 * time.Microsecond, MinRTT: time.Second}
	second, third := first, first
	second.BytesInFlight, second.PacingRate = 0, 0
	third.Time = after(2 * time.Second)
	require.Equal(t, []string{
		`{"time":1.500,"name":"recovery:metrics_updated","data":{"latest_rtt":50,"smoothed_rtt":51.234,"rtt_variance":0.070,"min_rtt":1000,` +
			`"congestion_window":14640,"bytes_in_flight":1464,"pacing_rate":8000}}`,
		`{"time":1.500,"name":"recovery:metrics_updated","data":{"bytes_in_flight":0,"pacing_rate":0}}`,
		`{"time":2000,"name":"recovery:metrics_updated","data":{"bytes_in_flight":1464,"pacing_rate":8000}}`,
	}, lines(t, first, second, third))
}

func TestAPhaseFollowsAnother(t *testing.T) {
	phase := func(p raknet.CongestionPhase) raknet.TraceEvent {
		return raknet.TraceEvent{Kind: raknet.TracePhase, Number: -1, Phase: p}
	}
	l := lines(t, phase(raknet.PhaseDrain), phase(raknet.PhaseSteady), phase(raknet.PhaseCollapsed))
	require.Contains(t, l[1], `"old":"drain","new":"congestion_avoidance"`)
	require.Contains(t, l[2], `"old":"congestion_avoidance","new":"collapsed"`)
}

// An ACK is written with what it told, which comes in events behind it.
func TestAnAckTellsWhatItBrought(t *testing.T) {
	ack := raknet.TraceEvent{Kind: raknet.TraceReceived, Datagram: raknet.DatagramACK, Number: -1, Bytes: 17}
	acked := func(first int64, n int) raknet.TraceEvent {
		return raknet.TraceEvent{Kind: raknet.TraceAcked, Number: first, Count: n}
	}
	lost := raknet.TraceEvent{Kind: raknet.TraceLost, Number: 3, Loss: raknet.LossNack}
	head := `{"time":1.500,"name":`
	require.Equal(t, []string{
		head + `"transport:packet_received","data":{"header":{"packet_type":"ack"},"raw":{"length":17},"frames":[{"frame_type":"ack","acked_ranges":[[1,2],[4,4],[7,7]]}]}}`,
		head + `"transport:packets_acked","data":{"packet_numbers":[1,2,7]}}`,
		head + `"raknet:spurious_loss","data":{"packet_numbers":[4]}}`,
		head + `"recovery:packet_lost","data":{"header":{"packet_type":"data","packet_number":3},"raw":{"length":0},"trigger":"nack"}}`,
		head + `"transport:packet_received","data":{"header":{"packet_type":"ack"},"raw":{"length":17}}}`,
		head + `"transport:packet_received","data":{"header":{"packet_type":"nack"},"raw":{"length":10},"frames":[{"frame_type":"nack","nacked_ranges":[[8,9]]}]}}`,
	}, lines(t, ack, acked(1, 2), raknet.TraceEvent{Kind: raknet.TraceSpurious, Number: 4, Count: 1}, acked(7, 1), lost, ack,
		raknet.TraceEvent{Kind: raknet.TraceReceived, Datagram: raknet.DatagramNACK, Number: -1, Bytes: 10},
		raknet.TraceEvent{Kind: raknet.TraceNacked, Number: 8, Count: 2}))
}

func TestATraceBeginsAndEnds(t *testing.T) {
	s := &sink{}
	tr := &trace{out: s, start: began}
	tr.begin(&connection{side: "client", local: "192.0.2.1:5000", remote: `a "strange" address`, mtu: 1492, version: 11, guid: -9})
	tr.add([]raknet.TraceEvent{{Kind: raknet.TraceReceived, Datagram: raknet.DatagramACK, Number: -1, Bytes: 7, Time: after(time.Millisecond)}})
	tr.end(after(2*time.Millisecond), fmt.Errorf("gone: %w", io.EOF))
	require.NoError(t, tr.flush())
	require.Equal(t, "\x1e"+`{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"raknet","trace":{"vantage_point":{"name":"raknet","type":"client"},`+
		`"common_fields":{"protocol_type":["RAKNET"],"time_format":"relative","reference_time":1767323045678.9}}}`+"\n"+
		"\x1e"+`{"time":0,"name":"connectivity:connection_started","data":{"src_ip":"192.0.2.1","src_port":5000,"dst_ip":"a \"strange\" address","mtu":1492,"raknet_version":11,"peer_guid":-9}}`+"\n"+
		"\x1e"+`{"time":1,"name":"transport:packet_received","data":{"header":{"packet_type":"ack"},"raw":{"length":7}}}`+"\n"+
		"\x1e"+`{"time":2,"name":"connectivity:connection_closed","data":{"owner":"remote","reason":"gone: EOF"}}`+"\n", s.String())
	for _, cause := range []error{nil, errors.New("x")} {
		s.Reset()
		tr.end(after(0), cause)
		require.NoError(t, tr.flush())
		require.Contains(t, s.String(), `"owner":"local"`)
	}
}

func TestWordsForEveryReason(t *testing.T) {
	seen := map[string]bool{}
	for _, list := range [][]string{
		{lossName(0), lossName(raknet.LossThreshold), lossName(raknet.LossTolerance), lossName(raknet.LossNack), lossName(raknet.LossTimeout)},
		{discardName(raknet.DiscardDuplicate), discardName(raknet.DiscardNothingNew), discardName(raknet.DiscardLate), discardName(raknet.DiscardRefused),
			discardName(raknet.DiscardOutOfRange), discardName(raknet.DiscardMalformed), discardName(raknet.DiscardNeverSent)},
		{phaseName(raknet.PhaseNone), phaseName(raknet.PhaseStartup), phaseName(raknet.PhaseDrain), phaseName(raknet.PhaseSteady), phaseName(raknet.PhaseCalm),
			phaseName(raknet.PhaseCollapsed)},
	} {
		for _, word := range list {
			require.Regexp(t, "^[a-z_]+$", word)
			require.False(t, seen[word], word)
			seen[word] = true
		}
	}
	require.Equal(t, "unknown", discardName(0))
}

func TestMillisecondsAreWrittenToTheMicrosecond(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", time.Nanosecond: "0", time.Microsecond: "0.001", 999 * time.Microsecond: "0.999", time.Millisecond: "1",
		1050 * time.Microsecond: "1.050", time.Hour: "3600000", -1500 * time.Microsecond: "-1.500",
	} {
		require.Equal(t, want, string(appendMillis(nil, d)))
	}
}

// batch is what a round trip of a busy connection brings.
func batch() (events []raknet.TraceEvent) {
	for n := range int64(32) {
		events = append(events, raknet.TraceEvent{Time: began, Kind: raknet.TraceSent, Datagram: raknet.DatagramFrames, Number: n, Bytes: 1464})
	}
	return append(events,
		raknet.TraceEvent{Time: began, Kind: raknet.TraceReceived, Datagram: raknet.DatagramACK, Number: -1, Bytes: 17},
		raknet.TraceEvent{Time: began, Kind: raknet.TraceAcked, Number: 0, Count: 20},
		raknet.TraceEvent{Time: began, Kind: raknet.TraceAcked, Number: 21, Count: 11},
		raknet.TraceEvent{Time: began, Kind: raknet.TraceLost, Number: 20, Loss: raknet.LossThreshold},
		raknet.TraceEvent{Time: began, Kind: raknet.TraceMetrics, RTT: time.Second, CongestionWindow: 1000},
		raknet.TraceEvent{Time: began, Kind: raknet.TraceMetrics, RTT: time.Millisecond, CongestionWindow: 2000},
	)
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

func TestWritingEventsDoesNotAllocate(t *testing.T) {
	tr, events := &trace{out: discard{}, start: began}, batch()
	round := func() {
		tr.add(events)
		_ = tr.flush()
	}
	round()
	require.Zero(t, testing.AllocsPerRun(100, round))
}

func BenchmarkTrace(b *testing.B) {
	tr, events := &trace{out: discard{}, start: began}, batch()
	b.ReportAllocs()
	for b.Loop() {
		tr.add(events)
		_ = tr.flush()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
}
