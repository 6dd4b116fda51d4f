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
	const one, header = 1440, 23
	for n := 1; n <= 100_000; n += 1 + n/2000 {
		var d Delivery
		parts := [][]byte{make([]byte, n)}
		if n <= one {
			d = newDelivery(protocol.ReliableOrdered, 0, received(pool.ClassRead, parts[0]))
		} else {
			for last := n; last > one; last -= one {
				parts[len(parts)-1] = parts[len(parts)-1][:one]
				parts = append(parts, make([]byte, last-one))
			}
			d = inParts(pool.ClassRead, parts...)
		}
		d.tighten()
		if need := min(wideInFlight/len(parts), sendBufferMost/(n+header*len(parts))) * d.Charge(); need > l.HeldBytes {
			t.Fatalf("%d bytes for what waits, the flight of a sender of messages of %d may need %d", l.HeldBytes, n, need)
		}
		d.Release()
	}
}
