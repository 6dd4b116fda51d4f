package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
)

// RTT returns the smoothed round trip; see Stats.RTT.
func (e *Engine) RTT() time.Duration { return e.rtt.srtt }

// ReceiveBuffer returns Limits.ReceiveBuffer as it applies, with its default.
func (e *Engine) ReceiveBuffer() int { return e.limits.ReceiveBuffer }

// ReceiptsReady reports whether NextReceipt has something to give.
func (e *Engine) ReceiptsReady() bool {
	return e.receipts != nil && e.receipts.head < len(e.receipts.list)
}

// OldestUnacked returns the reliable index of the oldest frame that was sent and not
// acknowledged; ok is false when there is none. A peer that acknowledges other
// datagrams while this stays the same for long will never acknowledge it.
func (e *Engine) OldestUnacked() (index int64, ok bool) {
	if e.oldest == nil {
		return 0, false
	}
	return e.oldest.firstReliable, true
}

// Size returns the length of the message in bytes.
func (m *Message) Size() int {
	if m.Fragments != nil {
		return m.Fragments.size
	}
	return len(m.Payload)
}

// First returns the first byte of the message, its identifier, or 0 if it is empty.
func (m *Message) First() byte {
	b := m.Payload
	if f := m.Fragments; f != nil {
		if len(f.bufs) == 0 {
			return 0
		}
		b = f.bufs[0].B[wire.DatagramHeaderSize+wire.FrameHeaderSize(f.mode, true):]
	}
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// Loses reports whether the path is seen to lose datagrams, or was until lately.
func (e *Engine) Loses() bool { return e.repeats.loss > repeatLevels[0] }

// Full reports whether the application was behind by Limits.ReceiveBuffer when it was last told of.
func (e *Engine) Full() bool { return e.unread >= e.limits.ReceiveBuffer }

// Settle moves the message out of a receive buffer that is much larger than it, for
// holders that keep it longer than the datagrams around it: a peer must not pin
// many times the memory that it is charged for.
func (d *Delivery) Settle() { d.settle() }

// Loose returns the receive buffer that Settle would move the message out of, or nil. A run, which nobody
// settles, lies in one as long as it has messages, if that is made for many datagrams.
func (d *Delivery) Loose() *pool.Buffer {
	if d.run > 0 {
		if len(d.ref.Buf.B) > pool.ClassRead {
			return d.ref.Buf
		}
		return nil
	}
	if isLoose(d.ref) {
		return d.ref.Buf
	}
	return nil
}
