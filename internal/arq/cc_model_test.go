package arq

import (
	"reflect"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// steadyPath feeds a controller the ACKs of a path of one rate and round trip, for a
// number of round trips, and returns the moment after.
func steadyPath(c Controller, now monotime.Time, next *int64, rate int64, rtt time.Duration, rounds int) monotime.Time {
	for range rounds {
		first := *next
		n := max(c.Window()/1464, 1)
		*next += int64(n)
		for i := range n {
			now = now.Add(max(rtt/time.Duration(n), time.Duration(1464*int64(time.Second)/rate)))
			got := min(rate, int64(float64(c.Window())/rtt.Seconds()))
			c.OnAck(now, AckSample{Bytes: 1464, InFlight: (n - i - 1) * 1464, RTT: rtt, SRTT: rtt, MinRTT: rtt,
				WindowLimited: true, Rate: got, Newest: first + int64(i), Next: *next})
		}
	}
	return now
}

func TestTheModelFindsThePath(t *testing.T) {
	for _, p := range []struct {
		rate int64
		rtt  time.Duration
	}{{2_500_000, 50 * time.Millisecond}, {12_500_000, 50 * time.Millisecond}, {2_500_000, 600 * time.Millisecond}} {
		c := NewModel(testMTU)
		next := int64(0)
		steadyPath(c, 1, &next, p.rate, p.rtt, 40)
		content := int(float64(p.rate) * p.rtt.Seconds())
		if w := c.Window(); w < content*3/2 || w > content*3 {
			t.Errorf("%d B/s and %v: window %d, the path holds %d", p.rate, p.rtt, w, content)
		}
		if r := c.PacingRate(); r < p.rate*7/10 || r > p.rate*13/10 {
			t.Errorf("%d B/s and %v: paced at %d", p.rate, p.rtt, r)
		}
	}
}

func TestRandomLossDoesNotShrinkTheModel(t *testing.T) {
	c := NewModel(testMTU)
	next := int64(0)
	now := steadyPath(c, 1, &next, 12_500_000, 50*time.Millisecond, 30)
	before := c.Window()
	for range 20 {
		c.OnLoss(now, LossSample{Bytes: before / 20, InFlight: before, Newest: next - 1, Next: next})
		now = steadyPath(c, now, &next, 12_500_000, 50*time.Millisecond, 1)
	}
	if w := c.Window(); w < before*9/10 {
		t.Errorf("window %d after 5 %% of loss in each of 20 round trips, was %d", w, before)
	}
}

func TestAFullQueueLowersTheCeilingAndCalmRaisesIt(t *testing.T) {
	c := NewModel(testMTU)
	next := int64(0)
	now := steadyPath(c, 1, &next, 12_500_000, 50*time.Millisecond, 30)
	before := c.Window()
	c.OnLoss(now, LossSample{Bytes: before * 3 / 5, InFlight: before * 2 / 5, Newest: next - 1, Next: next})
	low := c.Window()
	if low > before*8/10 {
		t.Fatalf("window %d after half of it was lost, was %d", low, before)
	}
	steadyPath(c, now, &next, 12_500_000, 50*time.Millisecond, 10)
	if w := c.Window(); w <= low {
		t.Errorf("window %d ten calm round trips later, was %d", w, low)
	}
	t.Logf("# a loss that was none is undone")
	d := NewModel(testMTU)
	next = 0
	now = steadyPath(d, 1, &next, 12_500_000, 50*time.Millisecond, 30)
	before = d.Window()
	d.OnLoss(now, LossSample{Bytes: before / 2, InFlight: before / 2, Newest: next - 1, Next: next})
	d.OnSpurious(now)
	steadyPath(d, now, &next, 12_500_000, 50*time.Millisecond, 1)
	if w := d.Window(); w < before*9/10 {
		t.Errorf("window %d after the loss proved false, was %d", w, before)
	}
}

func TestSilenceIsFewDatagramsAndThenForgotten(t *testing.T) {
	c := NewModel(testMTU)
	next := int64(0)
	now := steadyPath(c, 1, &next, 2_500_000, 50*time.Millisecond, 30)
	before := c.Window()
	c.OnLoss(now, LossSample{Bytes: before, Newest: next - 1, Next: next, Timeout: true})
	if w := c.Window(); w != minDatagrams*testMTU {
		t.Fatalf("window %d in silence", w)
	}
	steadyPath(c, now, &next, 2_500_000, 50*time.Millisecond, 1)
	if w := c.Window(); w < before/2 {
		t.Errorf("window %d after the path came back, was %d", w, before)
	}
}

func TestAThriftyApplicationKeepsTheFirstWindow(t *testing.T) {
	c := NewModel(testMTU)
	now := monotime.Time(1)
	for i := range int64(500) {
		now = now.Add(16 * time.Millisecond)
		c.OnAck(now, AckSample{Bytes: 200, RTT: 50 * time.Millisecond, SRTT: 50 * time.Millisecond, MinRTT: 50 * time.Millisecond,
			Rate: 12_000, AppLimited: true, Newest: i, Next: i + 3})
	}
	if w := c.Window(); w < initialDatagrams*testMTU || c.PacingRate() != 0 {
		t.Errorf("window %d, pacing %d", w, c.PacingRate())
	}
}

// queuedPath feeds a controller the ACKs of a path whose queue somebody else keeps full.
func queuedPath(c Controller, now monotime.Time, next *int64, rate int64, rtt, queue time.Duration, rounds int) monotime.Time {
	for range rounds {
		first := *next
		n := max(c.Window()/1464, 1)
		*next += int64(n)
		for i := range n {
			now = now.Add((rtt + queue) / time.Duration(n))
			c.OnAck(now, AckSample{Bytes: 1464, InFlight: (n - i - 1) * 1464, RTT: rtt + queue, SRTT: rtt + queue, MinRTT: rtt,
				WindowLimited: true, Rate: min(rate, int64(float64(c.Window())/(rtt+queue).Seconds())), Newest: first + int64(i), Next: *next})
		}
	}
	return now
}

func TestALossWhileAQueueStandsIsCongestion(t *testing.T) {
	c := NewModel(testMTU)
	next := int64(0)
	now := steadyPath(c, 1, &next, 12_500_000, 50*time.Millisecond, 30)
	now = queuedPath(c, now, &next, 12_500_000, 50*time.Millisecond, 30*time.Millisecond, 3)
	before := c.Window()
	flying := LossSample{Bytes: 1464, InFlight: before - 1464, Newest: next - 1, Next: next}
	c.OnLoss(now, flying)
	cut := c.Window()
	if cut != int(cubicBeta*float64(before)) {
		t.Fatalf("window %d after one loss, was %d", cut, before)
	}
	c.OnLoss(now, flying)
	if c.Window() != cut {
		t.Error("once a round trip")
	}
	now = queuedPath(c, now, &next, 12_500_000, 50*time.Millisecond, 30*time.Millisecond, 3)
	if w := c.Window(); w > cut*21/20 {
		t.Errorf("window %d three round trips later, was %d", w, cut)
	}
	t.Logf("# with the queue gone, the path is there to be used")
	steadyPath(c, now, &next, 12_500_000, 50*time.Millisecond, 12)
	if w := c.Window(); w < before*9/10 {
		t.Errorf("window %d, was %d", w, before)
	}
}

func TestAThriftyFlowDoesNotAnswerCongestion(t *testing.T) {
	c := NewModel(testMTU)
	next := int64(0)
	now := steadyPath(c, 1, &next, 12_500_000, 50*time.Millisecond, 30)
	now = queuedPath(c, now, &next, 12_500_000, 50*time.Millisecond, 30*time.Millisecond, 3)
	before := c.Window()
	c.OnLoss(now, LossSample{Bytes: 1464, InFlight: before / 4, Newest: next - 1, Next: next})
	if w := c.Window(); w != before {
		t.Errorf("window %d, was %d", w, before)
	}
}

func TestHowMuchOfAFlightIsCongestion(t *testing.T) {
	for _, tc := range []struct {
		share      float64
		congestion bool
	}{{0.05, false}, {0.2, false}, {0.3, false}, {0.5, true}, {0.8, true}, {1, false}} {
		c := NewModel(testMTU).(*model)
		next := int64(0)
		now := steadyPath(c, 1, &next, 12_500_000, 50*time.Millisecond, 30)
		before := c.Window()
		c.acked = 0 // a round begins
		lost := int(tc.share * float64(before))
		c.OnLoss(now, LossSample{Bytes: lost, InFlight: before - lost, Newest: next - 1, Next: next})
		if got := c.Window() < before; got != tc.congestion {
			t.Errorf("%v of a flight lost: congestion %v", tc.share, got)
		}
	}
}

func TestAPathThatBecomesFasterIsFound(t *testing.T) {
	c := NewModel(testMTU).(*model)
	next := int64(0)
	now := steadyPath(c, 1, &next, 125_000, 50*time.Millisecond, 40)
	if c.phase != modelProbe {
		t.Fatal("the slow path is not full")
	}
	for rounds := 0; c.rates.max() < 10_000_000; rounds++ {
		if rounds > 80 {
			t.Fatalf("%d B/s after %d round trips, of 12.5 million", c.rates.max(), rounds)
		}
		now = steadyPath(c, now, &next, 12_500_000, 50*time.Millisecond, 1)
	}
}

func TestACalmFindsTheLeastRoundTripAgain(t *testing.T) {
	c := NewModel(testMTU).(*model)
	next := int64(0)
	now := steadyPath(c, 1, &next, 12_500_000, 50*time.Millisecond, 30)
	t.Logf("# the path became longer: nothing like the least round trip is seen any more")
	calm, least := false, c.Window()
	for range 100 {
		now = queuedPath(c, now, &next, 12_500_000, 80*time.Millisecond, 0, 1)
		if c.phase == modelCalm {
			calm = true
			least = min(least, c.Window())
		}
	}
	if content := 12_500_000 * 50 / 1000; !calm || least > content*6/10 {
		t.Errorf("calm %v, least window %d", calm, least)
	}
	if c.path.min != 80*time.Millisecond {
		t.Errorf("least round trip %v", c.path.min)
	}
}

func TestTheGreatestOfTheLastRounds(t *testing.T) {
	var f maxFilter
	f.add(1, 100)
	for r := uint16(2); r < 10; r++ {
		f.add(r, 50)
	}
	if f.max() != 100 {
		t.Fatalf("max %d within the window", f.max())
	}
	for r := uint16(10); r < 14; r++ {
		f.add(r, 50)
	}
	if f.max() != 50 {
		t.Fatalf("max %d though the 100 is %d rounds old", f.max(), 12)
	}
	f.add(14, 70)
	if f.max() != 70 {
		t.Fatalf("max %d", f.max())
	}
	f.add(60, 10)
	if f.max() != 10 {
		t.Fatalf("max %d after a long gap", f.max())
	}
}

// Every connection has one for as long as it lives: a size class of the allocator, of which one byte more costs 32.
func TestAModelIsSmall(t *testing.T) {
	if size := reflect.TypeFor[model]().Size(); size > 256 {
		t.Errorf("%d bytes", size)
	}
}

// The number of a round may wrap.
func TestTheGreatestOfTheLastRoundsAcrossTheWrap(t *testing.T) {
	var f maxFilter
	r := uint16(0xfffe)
	f.add(r, 100)
	for range 8 {
		r++
		f.add(r, 50)
	}
	if f.max() != 100 {
		t.Fatalf("max %d within the window", f.max())
	}
	for range 4 {
		r++
		f.add(r, 50)
	}
	if f.max() != 50 {
		t.Fatalf("max %d though the 100 is %d rounds old", f.max(), 12)
	}
}
