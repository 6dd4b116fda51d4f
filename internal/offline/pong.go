package offline

import "github.com/raknet-go/raknet/internal/wire"

// PongCap is the most data that a pong carries unless configured otherwise: with
// its two bytes of length it is what the original accepts, "less than 400". It
// bounds what a forged ping of 33 bytes sends to a victim (35 + 397 bytes).
const PongCap = 397

// PongSize is the length of the largest pong with at most PongCap bytes of data.
const PongSize = 1 + 8 + 8 + 16 + 2 + PongCap

// AppendPong appends the pong that answers a ping whose Outcome.Time is time. Data
// over the configured cap is cut off. The answer is larger than the question, so
// the caller spends a token of its pong budget first.
func (s *Server) AppendPong(dst []byte, time int64, data []byte) []byte {
	if len(data) > s.pongCap {
		data = data[:s.pongCap]
	}
	p := wire.UnconnectedPong{Time: time, GUID: s.guid, Data: data}
	return p.Append(dst)
}
