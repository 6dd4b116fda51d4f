package arq

import (
	"testing"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestTheRecordGrowsAndForgets(t *testing.T) {
	for _, first := range []int64{0, 1<<24 - 5, 1<<32 - 3} {
		r := sentRing{base: first, next: first}
		for i := range int64(1000) {
			r.push().size = int32(i)
		}
		for i := range int64(1000) {
			if r.at(first+i).size != int32(i) || r.at(first+i).state != sentOut {
				t.Fatalf("record %d moved", i)
			}
		}
		if r.out != 1000 {
			t.Fatalf("%d out", r.out)
		}
		for i := range int64(1000) {
			r.at(first + i).state = sentAcked
		}
		r.trim(1)
		if r.base != r.next || len(r.slots) < 1000 {
			t.Errorf("base %d, next %d, %d slots kept for the next burst", r.base, r.next, len(r.slots))
		}
		r.rest()
		if r.slots != nil {
			t.Errorf("%d slots kept at rest", len(r.slots))
		}
	}
}

func TestTheRecordIsBounded(t *testing.T) {
	var r sentRing
	for range datagramsInFlight {
		if r.full() {
			t.Fatal("full too early")
		}
		r.push()
	}
	if !r.full() {
		t.Fatal("not full with datagramsInFlight out")
	}
	r.at(0).state = sentLost
	if r.full() {
		t.Fatal("a settled oldest makes room")
	}
	r.push()
	if len(r.slots) != datagramsInFlight || r.base != 1 {
		t.Errorf("%d slots, base %d", len(r.slots), r.base)
	}
}

func TestLostDatagramsStayForALateAck(t *testing.T) {
	var r sentRing
	now := monotime.Time(1000)
	for range lostHistory + 10 {
		d := r.push()
		d.state, d.sentAt = sentLost, now
		r.out--
	}
	r.trim(now)
	if r.next-r.base != lostHistory {
		t.Errorf("%d kept, want %d", r.next-r.base, lostHistory)
	}
	r.trim(now + 1)
	if r.next != r.base {
		t.Errorf("%d kept though they are old", r.next-r.base)
	}
}
