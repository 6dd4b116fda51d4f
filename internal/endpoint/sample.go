package endpoint

import (
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
)

// samples are the moments from which on the next datagram that is dropped for a reason is worth
// a line. The reader's.
type samples [offline.DropReasons]monotime.Time

// drop counts a datagram that has no effect. Whoever can send any can send millions, so
// that of each kind only one in sampleEvery is logged.
func (e *Endpoint) drop(now monotime.Time, reason offline.DropReason, client netip.AddrPort, data []byte) {
	e.counters.drop(reason)
	if e.log.to == nil || now < e.samples[reason] {
		return
	}
	e.samples[reason] = now.Add(sampleEvery)
	// The line is written later, by another goroutine, so that nothing in it may be borrowed.
	e.log.log(slog.LevelDebug, "datagram dropped", "reason", reason.String(), "client", client.String(),
		"bytes", len(data), "begins", fmt.Sprintf("%x", data[:min(len(data), sampleBytes)]), "dropped", e.counters.dropped[reason].Load())
}
