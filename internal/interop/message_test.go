package interop

import (
	"encoding/hex"
	"testing"
)

// The same bytes as peers/protocol.js makes.
func TestFill(t *testing.T) {
	for _, c := range []struct {
		seed uint32
		size int
		want string
	}{
		{7, 1, "fe"},
		{7, 4, "fe98b0a7"},
		{0, 8, "fe00000000d01ab2"},
		{0x07000001, 12, "fe07000001a510604fc70dbb"},
	} {
		if got := hex.EncodeToString(Fill(c.seed, c.size)); got != c.want {
			t.Errorf("Fill(%#x, %d) = %s, want %s", c.seed, c.size, got, c.want)
		}
	}
}

func TestEventNamesItsMessage(t *testing.T) {
	if e := MessageEvent(Fill(0x0102, 5)); e.Kind != Message || e.Size != 5 || e.Seed != 0x0102 || e.Hash != Hash(Fill(0x0102, 5)) {
		t.Errorf("got %+v", e)
	}
	if e := MessageEvent(Fill(0x0102, 4)); e.Seed != 0 {
		t.Errorf("a message without room for a seed is called %#x", e.Seed)
	}
}
