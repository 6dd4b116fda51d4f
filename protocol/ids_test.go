package protocol

import "testing"

func TestIDsNameThemselves(t *testing.T) {
	for id, want := range map[ID]string{
		0x00: "connected ping",
		0x05: "open connection request 1",
		0x10: "connection request accepted",
		0x1c: "unconnected pong",
		0x0e: "message 0x0e", // a local notice of the original engine, never on the wire
		0xfe: "message 0xfe", // Bedrock's game packets
	} {
		if got := id.String(); got != want {
			t.Errorf("%#x is %q, want %q", byte(id), got, want)
		}
	}
}

func TestEveryNameIsUsedOnce(t *testing.T) {
	seen := map[string]ID{}
	for id, name := range idNames {
		if other, ok := seen[name]; ok {
			t.Errorf("%#x and %#x are both %q", byte(id), byte(other), name)
		}
		seen[name] = id
	}
}

func TestControlIDsAreThoseOfTheConnectionItself(t *testing.T) {
	control := map[ID]bool{0x00: true, 0x03: true, 0x04: true, 0x09: true, 0x10: true, 0x13: true, 0x15: true, 0x18: true}
	for i := range 256 {
		if id := ID(i); id.IsControl() != control[id] {
			t.Errorf("%v: control is %v", id, id.IsControl())
		}
	}
}
