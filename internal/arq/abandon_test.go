package arq

import "testing"

func TestNothingNewIsAcknowledgedOnceAbandoned(t *testing.T) {
	l := newLossTest(t, Config{MTU: 1492})
	const before = "84000000" + "600010" + "000000" + "000000" + "00" + "fe00"
	if v := l.receive(before); v != VerdictAccepted {
		t.Fatal(v)
	}
	l.e.Abandon()
	for what, tc := range map[string]struct {
		datagram string
		want     Verdict
	}{
		"the datagram again":                   {before, VerdictDuplicate},
		"its frame again":                      {"84010000" + "600010" + "000000" + "000000" + "00" + "fe00", VerdictAccepted},
		"a new message":                        {"84020000" + "600010" + "010000" + "010000" + "00" + "fe01", VerdictRefused},
		"the old frame with a new one":         {"84030000" + "600010" + "000000" + "000000" + "00" + "fe00" + "400008" + "020000" + "fe", VerdictRefused},
		"a disconnect notification":            {"84040000" + "600008" + "030000" + "020000" + "00" + "15", VerdictAccepted},
		"an unreliable message, for no answer": {"84050000" + "000010" + "fe00", VerdictAccepted},
	} {
		if v := l.receive(tc.datagram); v != tc.want {
			t.Errorf("%s: %v, want %v", what, v, tc.want)
		}
	}
}
