package raknet

import (
	"time"

	"github.com/raknet-go/raknet/internal/endpoint"
)

// ConnStats are the counters and gauges of one connection at one moment. Counters
// only grow. Sizes are in bytes.
type ConnStats struct {
	// RTT is the smoothed round trip time, RTTVar how much it varies, MinRTT the
	// shortest of late. They include the time for which the peer holds back its
	// acknowledgements. Zero before the first measurement.
	RTT, RTTVar, MinRTT time.Duration

	// CongestionWindow is how much may be in flight, BytesInFlight how much is.
	CongestionWindow, BytesInFlight int
	// SendQueueBytes is what waits to be sent for the first time.
	SendQueueBytes int
	// ReceiveQueueBytes and ReceiveQueueMessages are what has arrived and was not read
	// yet. Each message counts for the memory that it takes, as in
	// Limits.ReceiveBuffer.
	ReceiveQueueBytes, ReceiveQueueMessages int

	// DatagramsSent and DatagramsReceived count every datagram of the connection,
	// acknowledgements included; BytesSent and BytesReceived are their UDP payload.
	DatagramsSent, DatagramsReceived uint64
	BytesSent, BytesReceived         uint64

	// DatagramsLost counts the datagrams sent that were given up as lost, and
	// SpuriousLosses those of them that turned out to have arrived.
	DatagramsLost, SpuriousLosses uint64
	// FramesResent counts the reliable frames that were sent again.
	FramesResent uint64
	// FramesRepeated counts the frames that rode along once more in a later datagram,
	// without having been given up; see Dialer.NoRepeats.
	FramesRepeated uint64

	// MessagesSent counts the messages that were taken for sending,
	// MessagesReceived those that arrived for the application.
	MessagesSent, MessagesReceived uint64
	// MessagesExpired counts the unreliable messages that were dropped unsent because
	// the connection had no room for them in time.
	MessagesExpired uint64

	// DuplicatesReceived counts the datagrams and reliable frames that arrived again.
	DuplicatesReceived uint64
	// OutdatedReceived counts the sequenced messages that were dropped because a newer
	// one had been delivered.
	OutdatedReceived uint64
	// DatagramsRefused counts the datagrams left unacknowledged because a limit of
	// this side was reached; the peer sends their content again.
	DatagramsRefused uint64
	// UnreliableDropped counts the unreliable messages received that were dropped
	// because the application does not read.
	UnreliableDropped uint64
	// Violations counts the datagrams that no correct peer sends.
	Violations uint64
}

func connStats(s endpoint.ConnStats) ConnStats {
	return ConnStats{
		RTT:                  s.RTT,
		RTTVar:               s.RTTVar,
		MinRTT:               s.MinRTT,
		CongestionWindow:     s.CongestionWindow,
		BytesInFlight:        s.BytesInFlight,
		SendQueueBytes:       s.SendQueueBytes,
		ReceiveQueueBytes:    s.ReceiveQueueBytes,
		ReceiveQueueMessages: s.UnreadMessages,
		DatagramsSent:        s.DatagramsSent,
		DatagramsReceived:    s.DatagramsReceived,
		BytesSent:            s.BytesSent,
		BytesReceived:        s.BytesReceived,
		DatagramsLost:        s.DatagramsLost,
		SpuriousLosses:       s.SpuriousLosses,
		FramesResent:         s.FramesResent,
		FramesRepeated:       s.FramesRepeated,
		MessagesSent:         s.MessagesSent,
		MessagesReceived:     s.MessagesReceived,
		MessagesExpired:      s.MessagesExpired + s.UnreliableDropped,
		DuplicatesReceived:   s.DuplicatesReceived,
		OutdatedReceived:     s.Stale,
		DatagramsRefused:     s.DatagramsRefused,
		UnreliableDropped:    s.FramesDropped,
		Violations:           s.Violations,
	}
}

// ListenerStats are the counters and gauges of a listener at one moment. Counters
// only grow.
type ListenerStats struct {
	// Connections is the number of complete connections, HalfOpen of those in their
	// handshake, AcceptQueue of complete ones that wait for Accept.
	Connections, HalfOpen, AcceptQueue int

	// Pings counts the server list pings that arrived, PongsSuppressed those left
	// unanswered because of the budget that keeps forged pings from flooding others.
	Pings, PongsSuppressed uint64
	// RawAnswers counts the datagrams of other protocols that RawHandler answered.
	RawAnswers uint64
	// Request1 and Request2 count the two requests of the handshake, the second only
	// with a valid cookie; BadCookies those with a wrong one, which prove nothing about
	// their sender.
	Request1, Request2, BadCookies uint64
	// Accepted counts the handshakes that were completed, Rejected the requests that
	// were refused, Evicted the handshakes that gave way to newer ones.
	Accepted, Rejected, Evicted uint64
	// DroppedOffline counts, by reason, datagrams of strangers that were dropped
	// without an answer. The map belongs to the caller.
	DroppedOffline map[string]uint64

	// DatagramsReceived and BytesReceived count everything that reached the socket,
	// DatagramsSent and BytesSent everything that left it; bytes are UDP payload.
	DatagramsReceived, DatagramsSent uint64
	BytesReceived, BytesSent         uint64
	// ReceiveErrors and SendErrors count passing errors of the socket.
	ReceiveErrors, SendErrors uint64
	// ReceiveOverflows counts the datagrams that the system dropped because its receive
	// buffer was full: this program was too slow, not the network lossy. They are
	// counted when the next one gets through. Zero where the system does not tell; Linux does.
	ReceiveOverflows uint64
}

func listenerStats(s endpoint.Stats) ListenerStats {
	return ListenerStats{
		Connections:       s.Connections,
		HalfOpen:          s.HalfOpen,
		AcceptQueue:       s.AcceptQueue,
		Pings:             s.Pings,
		PongsSuppressed:   s.PongsSuppressed,
		RawAnswers:        s.RawAnswers,
		Request1:          s.Request1,
		Request2:          s.Request2,
		BadCookies:        s.BadCookies,
		Accepted:          s.Accepted,
		Rejected:          s.Rejected,
		Evicted:           s.Evicted,
		DroppedOffline:    s.Dropped,
		DatagramsReceived: s.DatagramsReceived,
		DatagramsSent:     s.DatagramsSent,
		BytesReceived:     s.BytesReceived,
		BytesSent:         s.BytesSent,
		ReceiveErrors:     s.ReceiveErrors,
		ReceiveOverflows:  s.ReceiveOverflows,
		SendErrors:        s.SendErrors,
	}
}
