package arq

import "github.com/raknet-go/raknet/internal/monotime"

// Refuse counts a datagram that the caller drops itself, since its number is none that the
// peer would use now.
func (e *Engine) Refuse(now monotime.Time, data []byte) Verdict {
	e.stats.DatagramsReceived++
	e.stats.BytesReceived += uint64(len(data))
	e.trouble().DatagramsRefused++
	e.traceReceived(now, data)
	e.traceVerdict(now, data, VerdictTooFar)
	return VerdictTooFar
}
