package qlog

import (
	"errors"
	"io"
	"net/netip"
	"strconv"
	"time"

	"github.com/raknet-go/raknet"
)

// trace is the trace of one connection. It puts events into a buffer, which grows to what
// the largest batch of them needs and is used again.
type trace struct {
	out   io.WriteCloser // nil: nothing is written
	start time.Time
	b     []byte

	metrics raknet.TraceEvent // as written last
	phase   raknet.CongestionPhase

	// An ACK or NACK that was received, until it is known what it told that is new.
	pending bool
	report  raknet.TraceEvent
	news    []span
}

// span is a range of datagrams that an ACK or NACK named.
type span struct {
	kind        raknet.TraceKind
	first, last int64
}

// connection is what is known of a connection from the start.
type connection struct {
	side, local, remote string
	mtu                 int
	version             byte
	guid                int64
}

// header is the first text of the sequence.
type header struct {
	Version string      `json:"qlog_version"`
	Format  string      `json:"qlog_format"`
	Title   string      `json:"title"`
	Trace   headerTrace `json:"trace"`
}

type headerTrace struct {
	Vantage struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"vantage_point"`
	Common struct {
		Protocol  []string `json:"protocol_type"`
		Format    string   `json:"time_format"`
		Reference float64  `json:"reference_time"` // milliseconds since 1970
	} `json:"common_fields"`
}

// started is the data of connection_started.
type started struct {
	SrcIP   string `json:"src_ip"`
	SrcPort uint16 `json:"src_port,omitempty"`
	DstIP   string `json:"dst_ip"`
	DstPort uint16 `json:"dst_port,omitempty"`
	MTU     int    `json:"mtu"`
	Version byte   `json:"raknet_version"`
	GUID    int64  `json:"peer_guid"`
}

// closed is the data of connection_closed.
type closed struct {
	Owner  string `json:"owner"`
	Reason string `json:"reason"`
}

// begin writes the header.
func (t *trace) begin(c *connection) {
	h := header{Version: "0.3", Format: "JSON-SEQ", Title: "raknet"}
	h.Trace.Vantage.Name, h.Trace.Vantage.Type = "raknet", c.side
	h.Trace.Common.Protocol, h.Trace.Common.Format = []string{"RAKNET"}, "relative"
	h.Trace.Common.Reference = float64(t.start.UnixMicro()) / 1e3
	t.b = append(t.b, '\x1e')
	t.b = appendJSON(t.b, &h)
	t.b = append(t.b, '\n')

	s := started{MTU: c.mtu, Version: c.version, GUID: c.guid}
	s.SrcIP, s.SrcPort = splitAddress(c.local)
	s.DstIP, s.DstPort = splitAddress(c.remote)
	t.whole(t.start, "connectivity:connection_started", &s)
}

// end writes why the connection has ended.
func (t *trace) end(at time.Time, cause error) {
	t.settle()
	c := closed{Owner: "local"}
	if errors.Is(cause, io.EOF) {
		c.Owner = "remote"
	}
	if cause != nil {
		c.Reason = cause.Error()
	}
	t.whole(at, "connectivity:connection_closed", &c)
}

func splitAddress(s string) (ip string, port uint16) {
	if a, err := netip.ParseAddrPort(s); err == nil {
		return a.Addr().String(), a.Port()
	}
	return s, 0
}

// flush hands the buffer over.
func (t *trace) flush() error {
	if len(t.b) == 0 {
		return nil
	}
	_, err := t.out.Write(t.b)
	t.b = t.b[:0]
	return err
}

// add writes events.
func (t *trace) add(events []raknet.TraceEvent) {
	for i := range events {
		t.event(&events[i])
	}
}

func (t *trace) event(e *raknet.TraceEvent) {
	if t.pending {
		switch e.Kind {
		case raknet.TraceAcked, raknet.TraceSpurious, raknet.TraceNacked:
			t.news = append(t.news, spanOf(e))
			return
		}
		t.settle()
	}
	switch e.Kind {
	case raknet.TraceSent:
		t.sent(e)
	case raknet.TraceReceived:
		if e.Datagram == raknet.DatagramACK || e.Datagram == raknet.DatagramNACK {
			t.pending, t.report, t.news = true, *e, t.news[:0]
			return
		}
		t.open(e.Time, "transport:packet_received")
		t.packet(e)
		t.close()
	case raknet.TraceDiscarded:
		t.open(e.Time, "transport:packet_dropped")
		t.packet(e)
		t.text("trigger", discardName(e.Discard))
		t.close()
	case raknet.TraceAcked, raknet.TraceSpurious, raknet.TraceNacked: // their ACK or NACK was dropped
		t.news = append(t.news[:0], spanOf(e))
		t.told(e.Time)
	case raknet.TraceLost:
		t.open(e.Time, "recovery:packet_lost")
		t.packet(e)
		t.text("trigger", lossName(e.Loss))
		t.close()
	case raknet.TraceTimeout:
		t.open(e.Time, "recovery:loss_timer_updated")
		t.text("event_type", "expired")
		t.text("timer_type", "pto")
		t.number("pto_count", int64(e.Count))
		t.close()
	case raknet.TraceTolerance:
		t.open(e.Time, "raknet:reordering_tolerance_updated")
		t.key("min_rtts")
		t.b = strconv.AppendFloat(t.b, e.Tolerance, 'f', -1, 64)
		t.close()
	case raknet.TracePhase:
		t.open(e.Time, "recovery:congestion_state_updated")
		if t.phase != raknet.PhaseNone {
			t.text("old", phaseName(t.phase))
		}
		t.text("new", phaseName(e.Phase))
		t.close()
		t.phase = e.Phase
	case raknet.TraceMetrics:
		t.measured(e)
	case raknet.TraceAbandoned:
		t.open(e.Time, "raknet:datagrams_abandoned")
		t.number("count", int64(e.Count))
		t.number("length", int64(e.Bytes))
		t.close()
	case raknet.TraceGap:
		t.open(e.Time, "raknet:events_dropped")
		t.number("count", int64(e.Count))
		t.close()
	}
}

func spanOf(e *raknet.TraceEvent) span {
	return span{e.Kind, e.Number, e.Number + int64(e.Count) - 1}
}

func (t *trace) sent(e *raknet.TraceEvent) {
	t.open(e.Time, "transport:packet_sent")
	t.packet(e)
	if e.FramesResent > 0 {
		t.number("frames_resent", int64(e.FramesResent))
	}
	if e.FramesRepeated > 0 {
		t.number("frames_repeated", int64(e.FramesRepeated))
	}
	if e.Probe {
		t.text("trigger", "pto_probe")
	}
	t.close()
}

// settle writes the ACK or NACK that was received last, now that what it told is known.
func (t *trace) settle() {
	if !t.pending {
		return
	}
	t.pending = false
	t.open(t.report.Time, "transport:packet_received")
	t.packet(&t.report)
	if len(t.news) > 0 {
		t.key("frames")
		if t.report.Datagram == raknet.DatagramACK {
			t.b = append(t.b, `[{"frame_type":"ack","acked_ranges":[`...)
		} else {
			t.b = append(t.b, `[{"frame_type":"nack","nacked_ranges":[`...)
		}
		for i, s := range t.news {
			if i > 0 {
				t.b = append(t.b, ',')
			}
			t.b = append(t.b, '[')
			t.b = strconv.AppendInt(t.b, s.first, 10)
			t.b = append(t.b, ',')
			t.b = strconv.AppendInt(t.b, s.last, 10)
			t.b = append(t.b, ']')
		}
		t.b = append(t.b, "]}]"...)
	}
	t.close()
	t.told(t.report.Time)
}

// told writes what an ACK told that is new. NACKs prove nothing and have no event of
// their own.
func (t *trace) told(at time.Time) {
	t.numbers(at, raknet.TraceAcked, "transport:packets_acked")
	t.numbers(at, raknet.TraceSpurious, "raknet:spurious_loss")
}

// numbers writes one event with all the numbers in the news of a kind, if there are any.
func (t *trace) numbers(at time.Time, k raknet.TraceKind, name string) {
	some := false
	for _, s := range t.news {
		if s.kind != k {
			continue
		}
		for n := s.first; n <= s.last; n++ {
			if some {
				t.b = append(t.b, ',')
			} else {
				t.open(at, name)
				t.key("packet_numbers")
				t.b = append(t.b, '[')
				some = true
			}
			t.b = strconv.AppendInt(t.b, n, 10)
		}
	}
	if some {
		t.b = append(t.b, ']')
		t.close()
	}
}

// measured writes those of the metrics that have changed.
func (t *trace) measured(e *raknet.TraceEvent) {
	t.open(e.Time, "recovery:metrics_updated")
	was := &t.metrics
	t.millis("latest_rtt", was.LatestRTT, e.LatestRTT)
	t.millis("smoothed_rtt", was.RTT, e.RTT)
	t.millis("rtt_variance", was.RTTVar, e.RTTVar)
	t.millis("min_rtt", was.MinRTT, e.MinRTT)
	t.changed("congestion_window", int64(was.CongestionWindow), int64(e.CongestionWindow))
	t.changed("bytes_in_flight", int64(was.BytesInFlight), int64(e.BytesInFlight))
	t.changed("pacing_rate", 8*was.PacingRate, 8*e.PacingRate)
	t.close()
	*was = *e
}

func (t *trace) millis(key string, was, is time.Duration) {
	if is != was {
		t.key(key)
		t.b = appendMillis(t.b, is)
	}
}

func (t *trace) changed(key string, was, is int64) {
	if is != was {
		t.number(key, is)
	}
}

// packet writes which datagram it is about.
func (t *trace) packet(e *raknet.TraceEvent) {
	t.key("header")
	t.b = append(t.b, `{"packet_type":"`...)
	t.b = append(t.b, packetType(e)...)
	t.b = append(t.b, '"')
	if e.Number >= 0 {
		t.b = append(t.b, `,"packet_number":`...)
		t.b = strconv.AppendInt(t.b, e.Number, 10)
	}
	t.b = append(t.b, `},"raw":{"length":`...)
	t.b = strconv.AppendInt(t.b, int64(e.Bytes), 10)
	t.b = append(t.b, '}')
}

func packetType(e *raknet.TraceEvent) string {
	switch {
	case e.Datagram == raknet.DatagramACK:
		return "ack"
	case e.Datagram == raknet.DatagramNACK:
		return "nack"
	case e.Number >= 0 || e.Datagram == raknet.DatagramFrames:
		return "data"
	}
	return "unknown"
}

// lossName is the trigger of a packet_lost: QUIC's, where it has one.
func lossName(r raknet.LossReason) string {
	switch r {
	case raknet.LossThreshold:
		return "reordering_threshold"
	case raknet.LossTolerance:
		return "time_threshold"
	case raknet.LossNack:
		return "nack"
	case raknet.LossTimeout:
		return "pto_expired"
	}
	return "unknown"
}

// discardName is the trigger of a packet_dropped.
func discardName(r raknet.DiscardReason) string {
	switch r {
	case raknet.DiscardDuplicate:
		return "duplicate"
	case raknet.DiscardNothingNew:
		return "nothing_new"
	case raknet.DiscardLate:
		return "late"
	case raknet.DiscardRefused:
		return "no_room"
	case raknet.DiscardOutOfRange:
		return "out_of_range"
	case raknet.DiscardMalformed:
		return "malformed"
	case raknet.DiscardNeverSent:
		return "never_sent"
	}
	return "unknown"
}

// phaseName is the state in a congestion_state_updated: QUIC's, where it has one.
func phaseName(p raknet.CongestionPhase) string {
	switch p {
	case raknet.PhaseStartup:
		return "slow_start"
	case raknet.PhaseDrain:
		return "drain"
	case raknet.PhaseSteady:
		return "congestion_avoidance"
	case raknet.PhaseCalm:
		return "probe_rtt"
	case raknet.PhaseCollapsed:
		return "collapsed"
	}
	return "none"
}
