package arq

import (
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// asker is an engine whose peer plays datagrams, and the moments at which it says NACKs.
type asker struct {
	*lossTest
	c     Config
	start monotime.Time
	asked []time.Duration
	named [][]int64
}

func newAsker(t *testing.T, c Config) *asker {
	l := newLossTest(t, c)
	return &asker{lossTest: l, c: c, start: l.now}
}

// set receives a frame set of one reliable message.
func (a *asker) set(number, reliable int64) {
	f := wire.Frame{Reliability: protocol.Reliable, Reliable: wire24(a.c.FirstReliable + reliable)}
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, wire24(a.c.FirstDatagram+number))
	if v := a.receive(hex.EncodeToString(append(wire.AppendFrameHeader(b, &f, 1), 0xfe))); v != VerdictAccepted {
		a.t.Fatalf("datagram %d: %v", number, v)
	}
	var d Delivery
	for a.e.NextDelivery(&d) {
		d.Release()
	}
	a.transmit()
}

func (a *asker) transmit() {
	for b := a.e.Transmit(a.now); b != nil; b = a.e.Transmit(a.now) {
		if wire.Classify(b.Bytes()) == wire.KindNACK {
			a.asked = append(a.asked, a.now.Sub(a.start))
			it, err := wire.ParseRanges(b.Bytes())
			if err != nil {
				a.t.Fatal(err)
			}
			var list []int64
			for r, ok := it.Next(); ok; r, ok = it.Next() {
				first := expand24(r.First, a.c.FirstDatagram) - a.c.FirstDatagram
				for n := range int64((r.Last-r.First)&0xffffff) + 1 {
					list = append(list, first+n)
				}
			}
			a.named = append(a.named, list)
		}
		b.Release()
	}
}

// pass lets time pass, with everything that is due in it.
func (a *asker) pass(d time.Duration) {
	end := a.now.Add(d)
	for steps := 0; a.e.Deadline() <= end; steps++ {
		if steps > 100 {
			a.t.Fatal("no rest")
		}
		a.now = max(a.now, a.e.Deadline())
		a.e.Advance(a.now)
		a.transmit()
	}
	a.now = end
}

// The peer may be one that sends a frame again only when a NACK names it.
func TestANACKIsSaidAgainWhileAReliableFrameStaysAway(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		a := newAsker(t, c)
		a.set(0, 0)
		a.set(2, 2)
		a.set(5, 5)
		a.pass(10 * time.Minute)
		if want := []time.Duration{0, 0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}; !slices.Equal(a.asked, want) {
			t.Errorf("asked at %v, want %v", a.asked, want)
		}
		for i, want := range [][]int64{{1}, {3, 4}, {1, 3, 4}, {1, 3, 4}} {
			if !slices.Equal(a.named[i], want) {
				t.Errorf("NACK %d names %v, want %v", i, a.named[i], want)
			}
		}
		t.Log("# another loss is another reason, and what came late is not asked for")
		a.asked, a.named, a.start = nil, nil, a.now
		a.set(1, 1)
		a.set(3, 3)
		a.set(7, 7)
		a.pass(1500 * time.Millisecond)
		if want := []time.Duration{0, time.Second}; !slices.Equal(a.asked, want) || !slices.Equal(a.named[1], []int64{4, 6}) {
			t.Errorf("asked at %v for %v", a.asked, a.named)
		}
	})
}

func TestANACKThatHelpedIsNotSaidAgain(t *testing.T) {
	bothStarts(t, 1492, func(t *testing.T, c Config) {
		a := newAsker(t, c)
		a.set(0, 0)
		a.set(2, 2)
		a.pass(900 * time.Millisecond)
		t.Log("# the frame comes in a datagram of its own, as from every peer that sends again")
		a.set(3, 1)
		a.pass(10 * time.Minute)
		if len(a.asked) != 1 {
			t.Errorf("asked at %v", a.asked)
		}
		if a.e.nacks.again.unheard.len() > 0 {
			t.Error("what is not needed any more is remembered")
		}
	})
}

func TestEachMissingFrameGetsItsTime(t *testing.T) {
	a := newAsker(t, Config{})
	a.set(0, 0)
	a.set(2, 2)
	a.pass(900 * time.Millisecond)
	a.set(4, 4)
	a.set(5, 1) // now 3 is missing
	a.asked, a.start = nil, a.now
	a.pass(1050 * time.Millisecond)
	if len(a.asked) > 0 {
		t.Errorf("asked after %v for a frame that was not known to be the one", a.asked)
	}
	a.pass(100 * time.Millisecond)
	if len(a.asked) != 1 {
		t.Errorf("asked at %v", a.asked)
	}
}

// Two of this library have timers, and need no more than one NACK.
func TestKinAreNotAskedAgain(t *testing.T) {
	a := newAsker(t, Config{})
	a.e.MeetKin()
	a.set(0, 0)
	a.set(2, 2)
	a.pass(10 * time.Minute)
	if len(a.asked) != 1 {
		t.Errorf("asked at %v", a.asked)
	}
}

func TestUnreliableDatagramsThatAreMissingAreAskedForOnce(t *testing.T) {
	a := newAsker(t, Config{})
	a.set(0, 0)
	a.set(9, 1) // eight that had nothing reliable, or whose frames need not come
	a.pass(10 * time.Minute)
	if len(a.asked) != 1 {
		t.Errorf("asked at %v", a.asked)
	}
}
