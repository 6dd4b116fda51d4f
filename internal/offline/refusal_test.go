package offline

import (
	"testing"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func TestRefusalsAndTheirPackets(t *testing.T) {
	s := newServer(ServerConfig{})
	for _, tt := range []struct {
		reason Refusal
		id     protocol.ID
	}{
		{NoFreeSlots, 0x14}, {Banned, 0x17}, {AlreadyConnected, 0x12}, {RecentlyConnected, 0x1a},
	} {
		if tt.reason.ID() != tt.id || RefusalFromID(tt.id) != tt.reason {
			t.Errorf("%v is %v, and %v is %v", tt.reason, tt.reason.ID(), tt.id, RefusalFromID(tt.id))
		}
		pkt := s.AppendRefusal(nil, tt.id)
		var r wire.Refusal
		if err := r.Parse(pkt); err != nil || r.ID != byte(tt.id) || r.GUID != serverGUID {
			t.Errorf("%v: %+v, %v", tt.reason, r, err)
		}
		if len(pkt) != 25 || len(pkt) >= len(plainRequest2(1492)) {
			t.Errorf("%v has %d bytes, want 25", tt.reason, len(pkt))
		}
	}
	if InvalidPassword.ID() != 0x18 || SecurityRequired.ID() != 0 || Refusal(0).ID() != 0 {
		t.Error("the refusals without an offline packet")
	}
	if RefusalFromID(0x0a) != SecurityRequired || RefusalFromID(0x0b) != SecurityRequired || RefusalFromID(0x13) != 0 {
		t.Error("the packets that are no plain refusals")
	}
}

func TestRefusalsHaveNames(t *testing.T) {
	seen := make(map[string]bool)
	for r := Refusal(0); r <= SecurityRequired+1; r++ {
		if r.String() == "" || seen[r.String()] {
			t.Errorf("refusal %d is %q", r, r)
		}
		seen[r.String()] = true
	}
}
