package script

import (
	"testing"
	"time"
)

func TestTheFirstRuleThatFitsDecides(t *testing.T) {
	p := path{delay: 10 * time.Millisecond}
	p.rules[client] = []rule{{action: "drop", count: 1, what: "nack"}, {action: "delay", count: -1, what: "#5", by: time.Second}}
	frame := []byte{0x84, 5, 0, 0, 0, 0, 8, 0xfe}
	for i, want := range []string{" -- 1s late", " -- 1s late"} {
		if got := p.send(start, client, 1, frame); got != want {
			t.Errorf("%d: %q", i, got)
		}
	}
	nack := []byte{0xa0, 0, 1, 1, 0, 0, 0}
	if got := p.send(start, client, 1, nack); got != " -- lost" {
		t.Error(got)
	}
	if got := p.send(start, client, 1, nack); got != "" {
		t.Error(got, "though the rule was for one")
	}
	if got := p.send(start, server, 1, frame); got != "" {
		t.Error(got, "though the rule is for the other side")
	}
	if n := len(p.take(start.Add(time.Second), server)); n != 1 {
		t.Errorf("%d datagrams came after a second", n)
	}
}

func TestARuleMayMeanAMessage(t *testing.T) {
	frames := []byte{0x84, 5, 0, 0, 0, 0, 8, 0xfe, 0, 0, 8, 0x13}
	for what, want := range map[string]bool{"": true, "data": true, "ack": false, "#5": true, "#6": false, "13": true, "fe": true, "15": false} {
		if checkWhat(what) != nil || fits(what, frames) != want {
			t.Errorf("%q: %v", what, !want)
		}
	}
	if !fits("05", []byte{5, 0, 0}) || fits("05", []byte{0x84, 5, 0, 0}) {
		t.Error("an identifier means a packet or a message")
	}
	for _, what := range []string{"#", "nacks", "5"} {
		if checkWhat(what) == nil {
			t.Errorf("%q could never fit", what)
		}
	}
}

func TestHeldDatagramsComeBackInAnyOrder(t *testing.T) {
	var p path
	p.rules[client] = []rule{{action: "hold", count: 3}}
	for i := range byte(3) {
		p.send(start, client, 1, []byte{0x84, i, 0, 0})
	}
	got, err := p.release(client, []string{"3", "1"})
	if err != nil || len(got) != 2 || got[0].data[1] != 2 || got[1].data[1] != 0 {
		t.Fatal(got, err)
	}
	if _, err := p.release(client, []string{"1"}); err == nil {
		t.Error("one came back twice")
	}
	if got, err := p.release(client, nil); err != nil || len(got) != 1 || got[0].data[1] != 1 {
		t.Error(got, err)
	}
}
