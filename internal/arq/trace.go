package arq

import (
	"fmt"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// TraceKind says what a TraceRecord tells.
type TraceKind uint8

// The kinds, with the fields that are set beside At.
const (
	// TraceSent: a datagram left. Class, Bytes; and of a frame set Number, InFlight with
	// it, Resent, Repeated, Probe.
	TraceSent TraceKind = iota + 1
	// TraceReceived: a datagram came. Class, Bytes, and of a frame set Number. What it
	// brought about follows.
	TraceReceived
	// TraceDiscarded: the datagram received last had no effect, or a part of it only.
	// Class, Bytes, Number as there; Verdict.
	TraceDiscarded
	// TraceAcked: datagrams in flight were acknowledged. Number, Count, Bytes, InFlight.
	TraceAcked
	// TraceNacked: the peer says that datagrams in flight are missing. Number, Count.
	TraceNacked
	// TraceLost: a datagram was given up. Number, Bytes, Reason, InFlight.
	TraceLost
	// TraceSpurious: datagrams that had been given up were acknowledged. Number, Count, Bytes.
	TraceSpurious
	// TraceTimeout: nothing was acknowledged for a retransmission timeout. Count is how
	// many came in a row.
	TraceTimeout
	// TraceTolerance: the tolerance for reordering changed. Count is the new one, in
	// quarters of the least round trip.
	TraceTolerance
	// TracePhase: the controller went over to another phase. Phase.
	TracePhase
	// TraceMetrics: some of the gauges have changed. All of InFlight, Window, Rate, RTT,
	// SRTT, RTTVar, MinRTT.
	TraceMetrics
	// TraceAbandoned: the connection is over, and what is in flight was forgotten. Count, Bytes.
	TraceAbandoned
	// TraceGap: records are missing at this place. Count.
	TraceGap
)

var traceKinds = [...]string{"unknown event", "sent", "received", "discarded", "acknowledged", "reported missing", "lost", "lost by mistake",
	"timeout", "tolerance", "phase", "metrics", "abandoned", "gap"}

// String names the kind.
func (k TraceKind) String() string { return nameOf(traceKinds[:], k) }

// DatagramClass says what a datagram is.
type DatagramClass uint8

// The classes. Of a frame set received nobody knows whether it is a first transmission.
const (
	DatagramOther  DatagramClass = iota // nothing that belongs into a connection
	DatagramFrames                      // a frame set; when sent, one that leaves for the first time
	DatagramResent                      // a frame set with frames that left before
	DatagramACK
	DatagramNACK
)

var datagramClasses = [...]string{"unknown", "frame set", "resent frame set", "ACK", "NACK"}

// String names the class.
func (c DatagramClass) String() string { return nameOf(datagramClasses[:], c) }

// LossReason says what a datagram was given up for.
type LossReason uint8

// The reasons.
const (
	// LossThreshold: enough later datagrams were acknowledged, on a path that was never
	// seen to reorder.
	LossThreshold LossReason = iota + 1
	// LossTolerance: a later datagram was acknowledged, or a NACK named it, and the
	// time by which this path reorders ran out.
	LossTolerance
	// LossNack: a NACK named it, and nothing speaks for reordering.
	LossNack
	// LossTimeout: nothing was acknowledged for two timeouts in a row.
	LossTimeout
)

var lossReasons = [...]string{"unknown reason", "packet threshold", "reordering tolerance", "NACK", "timeout"}

// String names the reason.
func (r LossReason) String() string { return nameOf(lossReasons[:], r) }

var verdicts = [...]string{"accepted", "duplicate", "nothing new", "late", "refused", "out of range", "malformed", "never sent"}

// String names the verdict.
func (v Verdict) String() string { return nameOf(verdicts[:], v) }

func nameOf[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("number %d", v)
}

// TraceRecord is one thing that happened in an engine. Its kind says which fields mean
// something.
type TraceRecord struct {
	At       monotime.Time
	Number   int64 // datagram number, or the lowest of Count consecutive ones; -1: it has none
	Rate     int64 // at which new datagrams may leave, bytes a second; 0: no limit
	RTT      time.Duration
	SRTT     time.Duration
	RTTVar   time.Duration
	MinRTT   time.Duration
	Count    int32
	Bytes    int32
	InFlight int32
	Window   int32
	Resent   int32 // reliable frames in it that left before
	Repeated int32 // frames that ride along once more without having been given up
	Kind     TraceKind
	Class    DatagramClass
	Reason   LossReason
	Verdict  Verdict
	Phase    Phase
	Probe    bool // it left, whatever the window says, because nothing was heard
}

// String puts the record in words.
func (r *TraceRecord) String() string {
	switch r.Kind {
	case TraceSent:
		s := fmt.Sprintf("%v %v, %d bytes", r.Kind, r.Class, r.Bytes)
		if r.Number < 0 {
			return s
		}
		return fmt.Sprintf("%s, number %d, %d in flight, %d frames resent, %d repeated, probe %v", s, r.Number, r.InFlight, r.Resent, r.Repeated, r.Probe)
	case TraceReceived, TraceDiscarded:
		s := fmt.Sprintf("%v %v, %d bytes", r.Kind, r.Class, r.Bytes)
		if r.Number >= 0 {
			s += fmt.Sprintf(", number %d", r.Number)
		}
		if r.Kind == TraceDiscarded {
			s += ", " + r.Verdict.String()
		}
		return s
	case TraceAcked, TraceNacked, TraceSpurious:
		return fmt.Sprintf("%v %d to %d, %d bytes", r.Kind, r.Number, r.Number+int64(r.Count)-1, r.Bytes)
	case TraceLost:
		return fmt.Sprintf("%v %d by %v, %d bytes, %d in flight", r.Kind, r.Number, r.Reason, r.Bytes, r.InFlight)
	case TracePhase:
		return fmt.Sprintf("%v %v", r.Kind, r.Phase)
	case TraceMetrics:
		return fmt.Sprintf("%v: %d of %d in flight, %d bytes/s, round trip %v, smoothed %v ± %v, least %v",
			r.Kind, r.InFlight, r.Window, r.Rate, r.RTT, r.SRTT, r.RTTVar, r.MinRTT)
	}
	return fmt.Sprintf("%v %d", r.Kind, r.Count)
}

// TraceRing holds the latest records of an engine, up to a bound: then the oldest gives
// way. It grows on demand, doubling, and does not allocate for a record otherwise. It
// is not safe for concurrent use.
type TraceRing struct {
	slots       []TraceRecord // a power of two
	head, n     int
	limit       int
	overwritten uint64
	slack       slack // of slots
}

const (
	// leastTrace is how many records a ring has room for as soon as it has one.
	leastTrace = 64
	// maxTrace bounds what NewTraceRing can be asked for.
	maxTrace = 1 << 20
)

// NewTraceRing makes a ring for at least the given number of records: it is
// rounded up to a power of two.
func NewTraceRing(records int) *TraceRing {
	r := &TraceRing{limit: leastTrace}
	for r.limit < records && r.limit < maxTrace {
		r.limit *= 2
	}
	return r
}

// push returns the place of a new record, which the caller fills.
func (r *TraceRing) push() *TraceRecord {
	if r.n == len(r.slots) {
		if r.n < r.limit {
			r.grow()
		} else {
			r.head = (r.head + 1) & (len(r.slots) - 1)
			r.n--
			r.overwritten++
		}
	}
	at := (r.head + r.n) & (len(r.slots) - 1)
	r.n++
	return &r.slots[at]
}

func (r *TraceRing) grow() {
	slots := make([]TraceRecord, max(2*len(r.slots), leastTrace))
	older, newer := r.Records()
	copy(slots[copy(slots, older):], newer)
	r.slots, r.head = slots, 0
}

// last returns the newest record, or nil.
func (r *TraceRing) last() *TraceRecord {
	if r.n == 0 {
		return nil
	}
	return &r.slots[(r.head+r.n-1)&(len(r.slots)-1)]
}

// Len returns how many records there are.
func (r *TraceRing) Len() int { return r.n }

// Overwritten returns how many records gave way to newer ones since the ring was empty last.
func (r *TraceRing) Overwritten() uint64 { return r.overwritten }

// Records returns what the ring holds, in order: first older, then newer. Both are
// valid until something is recorded.
func (r *TraceRing) Records() (older, newer []TraceRecord) {
	if end := r.head + r.n; end > len(r.slots) {
		return r.slots[r.head:], r.slots[:end-len(r.slots)]
	}
	return r.slots[r.head : r.head+r.n], nil
}

// MoveTo makes r empty and gives what it held to o, which is emptied first. They
// exchange their storage, so that nothing is copied.
func (r *TraceRing) MoveTo(o *TraceRing) {
	o.Clear()
	o.slots, r.slots = r.slots, o.slots
	o.slack, r.slack = r.slack, o.slack
	o.head, o.n, o.overwritten = r.head, r.n, r.overwritten
	r.head, r.n, r.overwritten = 0, 0, 0
}

// Clear drops all records, and in time the storage that a burst left behind.
func (r *TraceRing) Clear() {
	r.slack.used(r.n)
	if r.slack.emptied(len(r.slots), leastTrace) {
		r.slots = nil
	}
	r.head, r.n, r.overwritten = 0, 0, 0
}
