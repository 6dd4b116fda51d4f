package raknet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
)

// The public names are the engine's numbers.
func TestTraceEventsNameWhatTheEngineMeans(t *testing.T) {
	for public, internal := range map[TraceKind]arq.TraceKind{
		TraceSent: arq.TraceSent, TraceReceived: arq.TraceReceived, TraceDiscarded: arq.TraceDiscarded, TraceAcked: arq.TraceAcked,
		TraceNacked: arq.TraceNacked, TraceLost: arq.TraceLost, TraceSpurious: arq.TraceSpurious, TraceTimeout: arq.TraceTimeout,
		TraceTolerance: arq.TraceTolerance, TracePhase: arq.TracePhase, TraceMetrics: arq.TraceMetrics,
		TraceAbandoned: arq.TraceAbandoned, TraceGap: arq.TraceGap,
	} {
		require.EqualValues(t, internal, public)
		require.Equal(t, internal.String(), public.String())
	}
	for public, internal := range map[DatagramClass]arq.DatagramClass{
		DatagramOther: arq.DatagramOther, DatagramFrames: arq.DatagramFrames, DatagramResent: arq.DatagramResent,
		DatagramACK: arq.DatagramACK, DatagramNACK: arq.DatagramNACK,
	} {
		require.EqualValues(t, internal, public)
		require.Equal(t, internal.String(), public.String())
	}
	for public, internal := range map[LossReason]arq.LossReason{
		LossThreshold: arq.LossThreshold, LossTolerance: arq.LossTolerance, LossNack: arq.LossNack, LossTimeout: arq.LossTimeout,
	} {
		require.EqualValues(t, internal, public)
		require.Equal(t, internal.String(), public.String())
	}
	for public, internal := range map[DiscardReason]arq.Verdict{
		0: arq.VerdictAccepted, DiscardDuplicate: arq.VerdictDuplicate, DiscardNothingNew: arq.VerdictIgnored, DiscardLate: arq.VerdictLate,
		DiscardRefused: arq.VerdictRefused, DiscardOutOfRange: arq.VerdictTooFar, DiscardMalformed: arq.VerdictMalformed,
		DiscardNeverSent: arq.VerdictUnsent,
	} {
		require.EqualValues(t, internal, public)
		require.Equal(t, internal.String(), public.String())
	}
	for public, internal := range map[CongestionPhase]arq.Phase{
		PhaseNone: arq.PhaseNone, PhaseStartup: arq.PhaseStartup, PhaseDrain: arq.PhaseDrain, PhaseSteady: arq.PhaseSteady, PhaseCalm: arq.PhaseCalm,
		PhaseCollapsed: arq.PhaseCollapsed,
	} {
		require.EqualValues(t, internal, public)
		require.Equal(t, internal.String(), public.String())
	}
	require.Equal(t, "number 200", TraceKind(200).String())
}
