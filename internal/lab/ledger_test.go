package lab

import (
	"testing"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// datagram is a frame set with reliable frames of the given indexes.
func datagram(number uint32, indexes ...uint32) []byte {
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, number)
	for _, i := range indexes {
		f := wire.Frame{Reliability: protocol.Reliable, Reliable: i}
		b = append(wire.AppendFrameHeader(b, &f, 4), 1, 2, 3, 4)
	}
	return b
}

func TestTheLedgerTellsNeededFromNeedlessResends(t *testing.T) {
	var l ledger
	check := func(what string, data, resent, needless uint64) {
		t.Helper()
		if l.data != data || l.resent != resent || l.needless != needless {
			t.Errorf("%s: %d with data, %d resent, %d needless; want %d, %d, %d", what, l.data, l.resent, l.needless, data, resent, needless)
		}
	}
	l.note(datagram(0, 0, 1), passed, 0, true)
	check("new", 1, 0, 0)
	l.note(datagram(1, 2), lostOnPath, 0, true)
	check("lost", 2, 0, 0)
	l.note(datagram(2, 2, 3), passed, 0, true)
	check("a copy that rides with something new is no resend", 3, 0, 0)
	l.note(datagram(3, 4), lostQueue, 0, true)
	l.note(datagram(4, 4), lostOnPath, 0, true)
	check("needed, lost again", 5, 1, 0)
	l.note(datagram(5, 4), passed, 0, true)
	check("needed", 6, 2, 0)
	l.note(datagram(6, 4, 0), passed, 0, true)
	check("needless", 7, 3, 1)
	l.note([]byte{wire.ACKID, 0, 0}, passed, 0, true)
	check("an ACK", 7, 3, 1)
	if l.dropped != 1 || l.datagrams != 8 || len(l.waits) != 7 {
		t.Errorf("%d dropped of %d, %d waited", l.dropped, l.datagrams, len(l.waits))
	}
}
