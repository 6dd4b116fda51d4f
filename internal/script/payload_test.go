package script

import (
	"bytes"
	"testing"
)

func TestPayloadsAreWrittenAsTheyAreRead(t *testing.T) {
	for _, s := range []string{
		`"hi"`, `<fe00>`, `A*3000`, `Z[16:40]`, `B[1432:2864]`, `C[1433:1500]`, `{ping time=5}`, `{pong ping=5 time=-7}`, `{detect}`,
		`{request guid=-1 time=9}`, `{accepted client=192.0.2.1:50000 addresses=10 request=1 time=2}`,
		`{incoming server=[2001:db8::1]:19132 addresses=0 accepted=3 time=4}`, `{disconnect}`, `{invalid-password}`,
	} {
		b, err := readPayload(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
		} else if got := showPayload(b, s[1] != '['); got != s {
			t.Errorf("%s is shown as %s", s, got)
		}
	}
	for _, s := range []string{"", "hi", `"`, "<0>", "A*", "A[5:3]", "{nonsense}", "{ping tim=5}", "A*-1"} {
		if b, err := readPayload(s); err == nil {
			t.Errorf("%q is read as % x", s, b)
		}
	}
}

// A message that was put together wrongly must not look like one that is whole.
func TestAPatternThatIsOutOfOrderIsSeen(t *testing.T) {
	a, b := pattern('A', 0, 1432), pattern('A', 1432, 2864)
	if s := showPayload(append(bytes.Clone(a), b...), true); s != "A*2864" {
		t.Error(s)
	}
	if s := showPayload(append(bytes.Clone(b), a...), true); s[0] == 'A' {
		t.Error(s)
	}
	// Nor may a control message that has more bytes than its fields.
	if s := showPayload([]byte{0x15, 0}, true); s != "<1500>" {
		t.Error(s)
	}
}
