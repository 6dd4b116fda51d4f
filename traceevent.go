package raknet

import (
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/endpoint"
)

// TraceEvent is one thing that happened in a connection, or in its view of the path to
// the peer. Its Kind says which fields mean something; the others are zero. Sizes are in
// bytes of UDP payload.
//
// Datagrams with frames have numbers, which count from 0 without gaps in each
// direction; on the wire only their lower 24 bits appear. ACKs and NACKs have none. Each
// datagram with frames that was sent comes to exactly one end: TraceAcked, TraceLost or
// TraceAbandoned. TraceSpurious takes back what TraceLost said.
type TraceEvent struct {
	// Time is when it happened.
	Time time.Time
	// Kind says what.
	Kind TraceKind
	// Datagram says of what kind the datagram is that was sent, received or discarded.
	Datagram DatagramClass
	// Number is the number of the datagram, or the lowest of Count consecutive ones. -1
	// when it has none.
	Number int64
	// Count is a number of datagrams, of timeouts in a row, or of events.
	Count int
	// Bytes is the size of the datagram, or of all of Count.
	Bytes int
	// FramesResent counts the reliable frames in a datagram that was sent which left
	// before and were given up or, in a probe, not acknowledged.
	FramesResent int
	// FramesRepeated counts the frames that ride along once more as a precaution; see
	// Dialer.NoRepeats.
	FramesRepeated int
	// Probe says that a datagram was sent, whatever the window said, because nothing had
	// been acknowledged for a retransmission timeout.
	Probe bool
	// Loss is why a datagram was given up.
	Loss LossReason
	// Discard is why a datagram that came had no effect.
	Discard DiscardReason
	// Phase is what the congestion control is doing from now on.
	Phase CongestionPhase
	// Tolerance is by how much later than expected an acknowledgement may come before its
	// datagram counts as lost, as a multiple of MinRTT. 0 on a path that was never seen to
	// reorder datagrams, where three later ones that arrived are enough.
	Tolerance float64

	// BytesInFlight is what has been sent and not acknowledged, the event included.
	// CongestionWindow is how much that may be.
	BytesInFlight, CongestionWindow int
	// PacingRate is how fast new datagrams may leave, in bytes a second. 0: at once.
	PacingRate int64
	// LatestRTT is the latest measurement of the round trip, the others are as in
	// [ConnStats]. Zero before the first measurement.
	LatestRTT, RTT, RTTVar, MinRTT time.Duration
}

// TraceKind is the kind of a [TraceEvent].
type TraceKind uint8

// The kinds of events, and the fields that each sets beside Time.
const (
	// TraceSent is a datagram that leaves: Datagram, Bytes, and if it has a number
	// Number, FramesResent, FramesRepeated, Probe and BytesInFlight.
	TraceSent TraceKind = iota + 1
	// TraceReceived is a datagram that came, before it takes effect: Datagram, Bytes, Number.
	TraceReceived
	// TraceDiscarded says that the datagram received last had no effect: Datagram, Bytes,
	// Number, Discard.
	TraceDiscarded
	// TraceAcked says that datagrams in flight were acknowledged: Number, Count, Bytes,
	// BytesInFlight.
	TraceAcked
	// TraceNacked says that the peer reports datagrams in flight as missing, which is no
	// proof that they are lost: Number, Count, Bytes.
	TraceNacked
	// TraceLost says that a datagram was given up; the reliable frames in it will be sent
	// again: Number, Bytes, Loss, BytesInFlight.
	TraceLost
	// TraceSpurious says that datagrams which had been given up were acknowledged: Number,
	// Count, Bytes.
	TraceSpurious
	// TraceTimeout says that nothing was acknowledged for a retransmission timeout:
	// Count is how many in a row.
	TraceTimeout
	// TraceTolerance says that the path is thought to reorder more or less than before:
	// Tolerance.
	TraceTolerance
	// TracePhase says that the congestion control does something else from now on: Phase.
	TracePhase
	// TraceMetrics says what has changed: BytesInFlight, CongestionWindow, PacingRate,
	// LatestRTT, RTT, RTTVar, MinRTT, all of them. It comes after what came from the peer,
	// after a timeout, and after the last datagram that could leave.
	TraceMetrics
	// TraceAbandoned says that the connection is over, and what was in flight does not
	// matter any more: Count, Bytes.
	TraceAbandoned
	// TraceGap says that Count events are missing at this place, because those before were
	// not taken in time.
	TraceGap
)

// String names the kind.
func (k TraceKind) String() string { return arq.TraceKind(k).String() }

// DatagramClass says what is in a datagram.
type DatagramClass uint8

// The classes of datagrams. Nobody can see of one that was received whether its frames
// were sent before.
const (
	DatagramOther  DatagramClass = iota // nothing that a connection knows
	DatagramFrames                      // frames; when sent, such as leave for the first time
	DatagramResent                      // frames, some of which left before: FramesResent says how many
	DatagramACK                         // acknowledgements
	DatagramNACK                        // reports of missing datagrams
)

// String names the class.
func (c DatagramClass) String() string { return arq.DatagramClass(c).String() }

// LossReason says what a datagram was given up for.
type LossReason uint8

// The reasons for a loss.
const (
	// LossThreshold: three or more later datagrams were acknowledged, on a path that was
	// never seen to reorder.
	LossThreshold LossReason = iota + 1
	// LossTolerance: a later datagram was acknowledged or the peer reported this one as
	// missing, and the tolerance for reordering ran out.
	LossTolerance
	// LossNack: the peer reported it as missing, and nothing speaks for reordering.
	LossNack
	// LossTimeout: nothing was acknowledged for two retransmission timeouts in a row.
	LossTimeout
)

// String names the reason.
func (r LossReason) String() string { return arq.LossReason(r).String() }

// DiscardReason says why a datagram that was received had no effect.
type DiscardReason uint8

// The reasons to discard a datagram. The first two and DiscardLate are as it should be on
// a path that loses, doubles or delays datagrams; the last two break the protocol.
const (
	// DiscardDuplicate: it had arrived before.
	DiscardDuplicate DiscardReason = iota + 1
	// DiscardNothingNew: an ACK or NACK that names nothing which is still waited for.
	DiscardNothingNew
	// DiscardLate: it comes so late that nobody knows whether it arrived before, and
	// brings nothing reliable that is missing.
	DiscardLate
	// DiscardRefused: there is no room for its content. It was not acknowledged, and the
	// peer will send it again.
	DiscardRefused
	// DiscardOutOfRange: its number, or that of something in it, is too far from what is
	// expected.
	DiscardOutOfRange
	// DiscardMalformed: it cannot be read.
	DiscardMalformed
	// DiscardNeverSent: an ACK or NACK that names what was never sent.
	DiscardNeverSent
)

// String names the reason.
func (r DiscardReason) String() string { return arq.Verdict(r).String() }

// CongestionPhase says what a congestion control is doing. Each has its own ideas of
// that, of which these are what they have in common.
type CongestionPhase uint8

// The phases.
const (
	PhaseNone      CongestionPhase = iota // it has none
	PhaseStartup                          // it doubles its speed with each round trip
	PhaseDrain                            // it lets the queue that it built on the path run empty
	PhaseSteady                           // it keeps its speed, and tries out more now and then
	PhaseCalm                             // it holds back for a moment, to see how short the round trip can be
	PhaseCollapsed                        // it sends next to nothing, since nothing was heard for too long
)

// String names the phase.
func (p CongestionPhase) String() string { return arq.Phase(p).String() }

// traceEvent is a record of the engine as the user gets it.
func traceEvent(c *endpoint.Conn, r *arq.TraceRecord) TraceEvent {
	e := TraceEvent{
		Time: c.Wall(r.At), Kind: TraceKind(r.Kind), Datagram: DatagramClass(r.Class), Number: r.Number,
		Count: int(r.Count), Bytes: int(r.Bytes), FramesResent: int(r.Resent), FramesRepeated: int(r.Repeated), Probe: r.Probe,
		Loss: LossReason(r.Reason), Discard: DiscardReason(r.Verdict), Phase: CongestionPhase(r.Phase),
		BytesInFlight: int(r.InFlight), CongestionWindow: int(r.Window), PacingRate: r.Rate,
		LatestRTT: r.RTT, RTT: r.SRTT, RTTVar: r.RTTVar, MinRTT: r.MinRTT,
	}
	if r.Kind == arq.TraceTolerance {
		e.Count, e.Tolerance = 0, float64(r.Count)/4
	}
	return e
}
