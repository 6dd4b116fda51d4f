package arq

import (
	"time"
)

// Stats are an engine's counters and gauges. Counters only grow.
type Stats struct {
	// RTT is the smoothed round trip, RTTVar its variation, MinRTT the least seen
	// lately; they include the time that the peer holds back its ACKs. Zero before
	// the first sample.
	RTT, RTTVar, MinRTT time.Duration
	// CongestionWindow, BytesInFlight and SendQueueBytes are in bytes of datagrams
	// (the first two) and frames (the last, which counts what waits to be sent).
	CongestionWindow, BytesInFlight, SendQueueBytes int
	// ReassemblyBytes is what unfinished split messages may come to hold, HeldMessages
	// and HeldBytes what waits for a missing ordered message: the gauges of the bounds
	// of the same names in Limits.
	ReassemblyBytes, HeldMessages, HeldBytes int
	Counters
}

// Counters are what an engine counts.
type Counters struct {
	Traffic
	Troubles
}

// Traffic is what happens on every path.
type Traffic struct {
	// DatagramsSent and DatagramsReceived count every datagram, ACKs and NACKs included.
	DatagramsSent, DatagramsReceived uint64
	// BytesSent and BytesReceived count UDP payload.
	BytesSent, BytesReceived uint64
	// AcksSent and AcksReceived count datagrams.
	AcksSent, AcksReceived uint64
	// MessagesSent counts messages taken by Send, MessagesReceived those delivered.
	MessagesSent, MessagesReceived uint64
}

// Troubles are what many a connection never sees.
type Troubles struct {
	// DatagramsLost counts those given up by ACK gap, NACK or timer;
	// SpuriousLosses those of them whose ACK came after all.
	DatagramsLost, SpuriousLosses uint64
	// FramesResent counts reliable frames sent again, Probes the datagrams sent
	// because nothing was heard for a retransmission timeout.
	FramesResent, Probes uint64
	// FramesRepeated counts frames that rode along again in a later datagram without
	// having been given up.
	FramesRepeated uint64
	// NacksSent and NacksReceived count datagrams.
	NacksSent, NacksReceived uint64
	// MessagesExpired counts unreliable messages dropped unsent because they grew old.
	MessagesExpired uint64
	// DuplicatesReceived counts datagrams and reliable frames that had arrived before.
	DuplicatesReceived uint64
	// Stale counts ordered or sequenced messages that arrived after a newer one.
	Stale uint64
	// DatagramsRefused counts datagrams dropped unacknowledged because a bound of
	// this side was reached, or because they lay outside the window.
	DatagramsRefused uint64
	// FramesDropped counts unreliable frames dropped because the application does not read.
	FramesDropped uint64
	// Violations counts datagrams that no correct peer sends.
	Violations uint64
}

// counters are those of an engine.
type counters struct {
	Traffic
	*Troubles // noTroubles, until trouble makes some
}

// noTroubles are those of an engine that had none. Nobody writes there.
var noTroubles Troubles

func (c *counters) all() Counters { return Counters{Traffic: c.Traffic, Troubles: *c.Troubles} }

// trouble returns what counts troubles.
func (e *Engine) trouble() *Troubles {
	if e.stats.Troubles == &noTroubles {
		e.stats.Troubles = new(Troubles)
	}
	return e.stats.Troubles
}
