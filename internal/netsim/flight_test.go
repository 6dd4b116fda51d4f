package netsim

import (
	"testing"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestWhatWasSentFirstAmongEqualsArrivesFirst(t *testing.T) {
	var f flight
	if f.next() != monotime.Never {
		t.Error("nothing under way arrives")
	}
	for i, at := range []monotime.Time{5, 3, 5, 3, 4, 5} {
		f.push(at, packet{data: []byte{byte(i)}})
	}
	for _, want := range []byte{1, 3, 4, 0, 2, 5} {
		if got := f.pop().data[0]; got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	if f.len() != 0 {
		t.Error("not empty")
	}
}
