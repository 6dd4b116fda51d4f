package netsim

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

const ms = time.Millisecond

// pour sends count datagrams of size bytes, one every gap, and returns what arrives. The
// first four bytes are the datagram's number.
func pour(p *Pipe, count, size int, gap time.Duration) []Arrival {
	var got []Arrival
	for i := range count {
		data := bytes.Repeat([]byte{0xaa}, size)
		copy(data, fmt.Sprintf("%04d", i))
		got = p.Send(monotime.Time(1).Add(time.Duration(i)*gap), data, got)
	}
	return got
}

func TestAPerfectLinkChangesNothing(t *testing.T) {
	p := NewPipe(1, 1, Link{})
	data := []byte("hello")
	got := p.Send(7, data, nil)
	if len(got) != 1 || got[0].At != 7 || &got[0].Data[0] != &data[0] {
		t.Fatalf("got %+v", got)
	}
}

func TestTheSameSeedGivesTheSameFate(t *testing.T) {
	l := Link{Delay: 20 * ms, Jitter: 10 * ms, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, ReorderBy: 3 * ms, Corrupt: 0.1,
		Truncate: 0.1, Bandwidth: 1 << 20, Burst: &GilbertElliott{0.01, 0.2, 0, 0.9}}
	transcript := func(seed uint64) string { return fmt.Sprint(pour(NewPipe(seed, 5, l), 500, 100, 50*time.Microsecond)) }
	if first, again := transcript(1), transcript(1); first != again {
		t.Error("one seed gave two transcripts")
	}
	if transcript(1) == transcript(2) {
		t.Error("two seeds gave one transcript")
	}
}

func TestOneSettingDoesNotMoveTheChancesOfAnother(t *testing.T) {
	lost := func(l Link) map[string]bool {
		l.Loss = 0.2
		missing := map[string]bool{}
		for i := range 500 {
			missing[fmt.Sprintf("%04d", i)] = true
		}
		for _, a := range pour(NewPipe(9, 9, l), 500, 50, ms) {
			delete(missing, string(a.Data[:4]))
		}
		return missing
	}
	plain, rich := lost(Link{}), lost(Link{Delay: ms, Jitter: 9 * ms, Duplicate: 0.3, Reorder: 0.3, Bandwidth: 1 << 20})
	if fmt.Sprint(plain) != fmt.Sprint(rich) {
		t.Errorf("lost %v and %v", plain, rich)
	}
}

func TestRatesAreWhatWasAskedFor(t *testing.T) {
	const n = 20000
	within := func(what string, got uint64, rate float64) {
		t.Helper()
		if sigma := math.Sqrt(n * rate * (1 - rate)); math.Abs(float64(got)-n*rate) > 4*sigma {
			t.Errorf("%s: %d of %d, want %.0f%%", what, got, n, 100*rate)
		}
	}
	p := NewPipe(3, 4, Link{Loss: 0.05})
	pour(p, n, 10, ms)
	within("lost", p.Count.Lost, 0.05)
	p = NewPipe(3, 4, Link{Duplicate: 0.2, Reorder: 0.1, Corrupt: 0.02})
	arrived := len(pour(p, n, 10, ms))
	within("duplicated", p.Count.Duplicated, 0.2)
	within("reordered", p.Count.Reordered, 0.1)
	within("damaged", p.Count.Damaged, 0.02)
	if arrived != n+int(p.Count.Duplicated) || p.Count.Delivered != uint64(arrived) {
		t.Errorf("%d arrived, %d counted, %d of them twice", arrived, p.Count.Delivered, p.Count.Duplicated)
	}
}

func TestBurstsLoseNeighbours(t *testing.T) {
	// Half the time bad on average, in runs of 50: far fewer runs than single losses make.
	p := NewPipe(1, 2, Link{Burst: &GilbertElliott{ToBad: 0.02, ToGood: 0.02, LossBad: 1}})
	got := pour(p, 10000, 10, ms)
	runs := 0
	for i := 1; i < len(got); i++ {
		if got[i].At.Sub(got[i-1].At) > ms {
			runs++
		}
	}
	if p.Count.Lost < 3500 || p.Count.Lost > 6500 || runs < 50 || runs > 200 {
		t.Errorf("%d lost in %d runs", p.Count.Lost, runs)
	}
}

func TestJitterKeepsOrderAndReorderDoesNot(t *testing.T) {
	got := pour(NewPipe(1, 1, Link{Delay: 10 * ms, Jitter: 5 * ms}), 1000, 10, ms)
	for i, a := range got {
		late := a.At.Sub(monotime.Time(1).Add(time.Duration(i) * ms))
		if late < 10*ms || late > 15*ms {
			t.Fatalf("%d under way for %v", i, late)
		}
		if i > 0 && a.At < got[i-1].At {
			t.Fatalf("%d overtook its predecessor", i)
		}
	}
	held := 0
	for i, a := range pour(NewPipe(1, 1, Link{Delay: 10 * ms, Reorder: 0.1, ReorderBy: 5 * ms}), 1000, 10, ms) {
		switch a.At.Sub(monotime.Time(1).Add(time.Duration(i) * ms)) {
		case 10 * ms:
		case 15 * ms:
			held++
		default:
			t.Fatalf("%d arrives at %d", i, a.At)
		}
	}
	if held < 70 || held > 130 {
		t.Errorf("%d of 1000 held back", held)
	}
}

func TestBandwidthSpacesDatagramsAndItsQueueOverflows(t *testing.T) {
	// 100 + 28 bytes at 128,000 a second: one a millisecond. Ten fit the queue.
	p := NewPipe(1, 1, Link{Delay: 5 * ms, Bandwidth: 128000, Queue: 1280})
	got := pour(p, 30, 100, 0)
	if len(got) != 10 || p.Count.QueueFull != 20 {
		t.Fatalf("%d arrived, %d dropped", len(got), p.Count.QueueFull)
	}
	for i, a := range got {
		if want := monotime.Time(1).Add(time.Duration(i+1)*ms + 5*ms); a.At != want {
			t.Errorf("%d at %d, want %d", i, a.At, want)
		}
	}
	// Half a queue later there is room for half a queue.
	for range 30 {
		got = p.Send(monotime.Time(1).Add(5*ms), make([]byte, 100), got)
	}
	if len(got) != 15 {
		t.Errorf("%d arrived in all, want 15", len(got))
	}
}

func TestTheMTUIsAHole(t *testing.T) {
	p := NewPipe(1, 1, Link{MTU: 1492})
	if got := p.Send(1, make([]byte, 1464), nil); len(got) != 1 {
		t.Error("the largest datagram did not pass")
	}
	if got := p.Send(1, make([]byte, 1465), nil); len(got) != 0 || p.Count.TooLarge != 1 {
		t.Error("a larger one did")
	}
}

func TestABlackoutEnds(t *testing.T) {
	p := NewPipe(1, 1, Link{Blackout: func(at monotime.Time) bool { return at >= 10 && at < 20 }})
	for at, want := range map[monotime.Time]int{9: 1, 10: 0, 19: 0, 20: 1} {
		if got := p.Send(at, []byte("x"), nil); len(got) != want {
			t.Errorf("at %d: %d arrivals", at, len(got))
		}
	}
}

func TestDamageIsDoneToACopy(t *testing.T) {
	data := bytes.Repeat([]byte{0}, 64)
	got := NewPipe(1, 1, Link{Corrupt: 1}).Send(1, data, nil)
	flipped := 0
	for _, b := range got[0].Data {
		flipped += bits.OnesCount8(b)
	}
	if len(got[0].Data) != 64 || flipped != 1 {
		t.Errorf("%d bits of %d bytes flipped", flipped, len(got[0].Data))
	}
	p := NewPipe(1, 1, Link{Truncate: 1})
	for range 100 {
		got = p.Send(1, data, got)
		if n := len(got[len(got)-1].Data); n >= 64 {
			t.Errorf("truncated to %d of 64 bytes", n)
		}
	}
	if got := p.Send(1, nil, nil); len(got) != 1 || len(got[0].Data) != 0 {
		t.Error("an empty datagram has nothing to lose")
	}
	if bytes.Count(data, []byte{0}) != 64 {
		t.Error("the sender's bytes changed")
	}
}

func BenchmarkPipe(b *testing.B) {
	b.ReportAllocs()
	p := NewPipe(1, 1, Link{Delay: ms, Loss: 0.01, Bandwidth: 1 << 30})
	data, dst := make([]byte, 1400), []Arrival(nil)
	for i := range b.N {
		dst = p.Send(monotime.Time(i*2000), data, dst[:0])
	}
}

func TestBacklogIsWhatADatagramWouldWait(t *testing.T) {
	p := NewPipe(1, 2, Link{Bandwidth: 1_000_000})
	data := make([]byte, 1000-headers)
	if got := p.Backlog(5); got != 0 {
		t.Errorf("an empty queue takes %v", got)
	}
	for range 3 {
		p.Send(5, data, nil)
	}
	if got := p.Backlog(5); got != 3*time.Millisecond {
		t.Errorf("three datagrams take %v", got)
	}
	if got := p.Backlog(monotime.Time(10 * time.Millisecond)); got != 0 {
		t.Errorf("a queue that is empty again takes %v", got)
	}
}
