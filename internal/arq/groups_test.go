package arq

import "testing"

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
	// The dearest messages for their size are those of two fragments, one of them small.
	worst := group{count: 2}
	if need := splitsInFlight*worst.need(partCharge(1464)) + l.SendBuffer*11/10; need > l.ReassemblyBytes {
		t.Errorf("%d bytes for unfinished messages, a sender's may need %d", l.ReassemblyBytes, need)
	}
}
