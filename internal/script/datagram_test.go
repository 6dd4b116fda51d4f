package script

import (
	"strings"
	"testing"
)

func TestDatagramsAreWrittenAsTheyAreRead(t *testing.T) {
	for _, s := range []string{
		`84 #5 reliable-ordered r=2 o=1 ch=31 "hi"`,
		`8c #16777215 reliable-sequenced r=1 q=2 o=3 ch=0 split=65535 part=1/2 A[1432:2864]`,
		`80 #0 unreliable bits=9 <fe00>`,
		`84 #7 without frames`,
		`ACK 0-2 5`, `NACK 7`,
		`request1 version=11 mtu=576`, `reply1 guid=7 mtu=1492`, `reply1 guid=-7 cookie=0000002a mtu=0`,
		`request2 server=192.0.2.2:19132 mtu=1492 guid=5`, `request2 cookie=bd524d01 server=[2001:db8::1]:1 mtu=1492 guid=5`,
		`reply2 guid=7 client=192.0.2.1:50000 mtu=65535`,
		`incompatible version=10 guid=7`, `incompatible version=10 guid=7 order=magic-first`,
		`already-connected guid=7`, `no-free-connections guid=7`, `banned guid=7`, `recently-connected guid=7`,
		`unconnected-ping time=5 guid=9`, `unconnected-pong time=5 guid=9 "MCPE"`,
		`hex 8401`, `hex 15`,
	} {
		words, err := split(s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := readDatagram(words)
		if err != nil {
			t.Errorf("%s: %v", s, err)
		} else if got := fieldsOf(b)[0]; got != s {
			t.Errorf("%s is shown as %s", s, got)
		}
	}
}

func TestEveryFrameHasALine(t *testing.T) {
	b, err := readDatagram([]string{"84", "#1", "reliable", "r=1", `"a"`, "+", "unreliable", `"b"`})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(showDatagram(b), "|")
	if got != `84 #1 2 frames  [84 01 00 00 40 00 08 01 00 00 61 00 00 08 62]|reliable r=1 "a"|unreliable "b"` {
		t.Error(got)
	}
}

// What is not entirely a frame set is shown as bytes: fields would hide the rest.
func TestABrokenFrameSetIsShownAsBytes(t *testing.T) {
	if got := showDatagram([]byte{0x84, 0, 0, 0, 0, 0, 8, 'a', 0, 0, 0, 9})[0]; got != "hex 840000000000086100000009" {
		t.Error(got)
	}
}
