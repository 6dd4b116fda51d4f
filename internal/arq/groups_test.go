package arq

import (
	"testing"

	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

// A sender of this package must never find its own kind without room for a message that
// it began: it would send the beginning again and again.
func TestDefaultRoomForWhatASenderBegins(t *testing.T) {
	l := Limits{}.withDefaults()
	if l.ReassemblyGroups < splitsInFlight {
		t.Errorf("room for %d unfinished messages, a sender begins %d", l.ReassemblyGroups, splitsInFlight)
	}
	if l.HeldMessages < wideInFlight {
		t.Errorf("room for %d messages out of order, a sender has %d frames under way", l.HeldMessages, wideInFlight)
	}
	// The dearest messages for their size are those of two fragments, one of them small. Both lie in buffers of their own.
	worst, full := group{count: 2}, partCharge(received(pool.ClassRead, make([]byte, 1450)))
	if need := splitsInFlight*worst.need(full) + l.SendBuffer*11/10*full/1450; need > l.ReassemblyBytes {
		t.Errorf("%d bytes for unfinished messages, a sender's may need %d", l.ReassemblyBytes, need)
	}
	// What waits for order may be the whole flight of a sender whose buffer has grown, whatever the length of its
	// messages.
	for n := 1; n <= 1450; n++ {
		d := newDelivery(protocol.ReliableOrdered, 0, received(pool.ClassRead, make([]byte, n)))
		d.tighten()
		if need := min(wideInFlight, sendBufferMost/(n+orderedHeader)) * d.Charge(); need > l.HeldBytes {
			t.Fatalf("%d bytes for what waits, the flight of a sender of messages of %d may need %d", l.HeldBytes, n, need)
		}
		d.Release()
	}
}
