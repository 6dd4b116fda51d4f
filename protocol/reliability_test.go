package protocol

import "testing"

// The table spells out every question that can be asked of every mode.
func TestReliabilityFacts(t *testing.T) {
	for _, want := range []struct {
		mode, wire, split                              Reliability
		name                                           string
		receipt, reliable, sequenced, ordered, channel bool
	}{
		{mode: Unreliable, wire: 0, split: Reliable, name: "unreliable"},
		{mode: UnreliableSequenced, wire: 1, split: ReliableSequenced, name: "unreliable sequenced", sequenced: true, channel: true},
		{mode: Reliable, wire: 2, split: Reliable, name: "reliable", reliable: true},
		{mode: ReliableOrdered, wire: 3, split: ReliableOrdered, name: "reliable ordered", reliable: true, ordered: true, channel: true},
		{mode: ReliableSequenced, wire: 4, split: ReliableSequenced, name: "reliable sequenced", reliable: true, sequenced: true, channel: true},
		{mode: UnreliableWithReceipt, wire: 0, split: ReliableWithReceipt, name: "unreliable with receipt", receipt: true},
		{mode: ReliableWithReceipt, wire: 2, split: ReliableWithReceipt, name: "reliable with receipt", receipt: true, reliable: true},
		{mode: ReliableOrderedWithReceipt, wire: 3, split: ReliableOrderedWithReceipt, name: "reliable ordered with receipt", receipt: true, reliable: true, ordered: true, channel: true},
	} {
		got := want
		got.wire, got.split, got.name = want.mode.Wire(), want.mode.Split(), want.mode.String()
		got.receipt, got.reliable = want.mode.WithReceipt(), want.mode.IsReliable()
		got.sequenced, got.ordered, got.channel = want.mode.IsSequenced(), want.mode.IsOrdered(), want.mode.HasChannel()
		if got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if !want.mode.Valid() {
			t.Errorf("%v is not valid", want.mode)
		}
		if want.mode.Split().Wire().IsReliable() != true {
			t.Errorf("fragments of %v may be lost", want.mode)
		}
	}
}

func TestThereAreEightModes(t *testing.T) {
	for r := Reliability(8); r != 0; r++ {
		if r.Valid() || r.WithReceipt() || r.IsReliable() || r.HasChannel() {
			t.Fatalf("%v passes for a mode", r)
		}
	}
	if got := Reliability(9).String(); got != "reliability 9" {
		t.Fatalf("9 is %q", got)
	}
}
