package arq

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
)

// named reads an ACK or NACK of at most maxSize bytes and returns the numbers in
// it, expanded near near, in the order written.
func named(t *testing.T, b []byte, id byte, maxSize int, near int64) []int64 {
	t.Helper()
	if len(b) > maxSize || len(b) == 0 || b[0] != id {
		t.Fatalf("%d of %d bytes: % x", len(b), maxSize, b)
	}
	it, err := wire.ParseRanges(b)
	if err != nil {
		t.Fatalf("%v: % x", err, b)
	}
	var ns []int64
	for r, ok := it.Next(); ok; r, ok = it.Next() {
		for n := r.First; n <= r.Last; n++ {
			ns = append(ns, expand24(n, near))
		}
	}
	return ns
}

func TestALoneDatagramIsAcknowledgedAfterADelay(t *testing.T) {
	var q ackQueue
	q.init()
	q.told = helloAcks // the first are said again
	now := monotime.Time(1000)
	if q.pending() || q.due(now) || q.deadline() != monotime.Never || q.append(nil, 100) != nil {
		t.Fatal("a new queue owes something")
	}

	t.Log("# one datagram waits for company")
	q.note(now, 7, 1400, false)
	if !q.pending() || q.due(now) || q.deadline() != now.Add(maxAckDelay) {
		t.Fatal("not delayed")
	}
	if !q.due(now.Add(maxAckDelay)) {
		t.Fatal("delayed for too long")
	}
	if b := q.append(nil, 100); string(b) != "\xc0\x00\x01\x01\x07\x00\x00" {
		t.Fatalf("% x", b)
	}
	if q.pending() || q.due(monotime.Never-1) {
		t.Fatal("acknowledged twice")
	}

	t.Log("# a second full one ends the wait")
	q.note(now, 8, 1400, false)
	q.note(now.Add(time.Millisecond), 9, 1400, false)
	if !q.due(now.Add(time.Millisecond)) {
		t.Fatal("two datagrams wait")
	}
	if b := q.append(nil, 100); string(b) != "\xc0\x00\x01\x00\x08\x00\x00\x09\x00\x00" {
		t.Fatalf("% x", b)
	}

	t.Log("# so does an urgent one")
	q.note(now, 10, 1400, true)
	if !q.due(now) {
		t.Fatal("an urgent ACK waits")
	}

	t.Log("# dst is kept, and the queue starts over")
	if b := q.append([]byte("dst"), 100); string(b) != "dst\xc0\x00\x01\x01\x0a\x00\x00" {
		t.Fatalf("% x", b)
	}
	q.note(now, 11, 1400, false)
	if q.due(now) {
		t.Fatal("urgency outlived its ACK")
	}
}

func TestAcksOfATransferWaitForMore(t *testing.T) {
	for _, c := range []struct {
		hold  Hold
		bytes int64
		delay time.Duration
	}{{HoldNot, ackBytes, 0}, {HoldByLooking, heldBytes, maxAckDelay}, {HoldByTime, timedBytes, timedDelay}} {
		var q ackQueue
		q.init()
		now := monotime.Time(1000)
		q.hold = c.hold
		n := int64(0)
		for ; !q.due(now); n++ {
			q.note(now, n, 1400, false)
		}
		if got := n * 1400; got < c.bytes-1400 || got > c.bytes+1400 {
			t.Fatalf("%v: an ACK after %d bytes", c.hold, got)
		}
		q.append(nil, 1400)
		q.note(now, n, 700, false)
		if q.due(now) || q.deadline() != now.Add(maxAckDelay) {
			t.Fatalf("%v: a lone small datagram waits until %v", c.hold, q.deadline())
		}
		q.note(now, n+1, 1400, false)
		q.note(now, n+2, 1400, false)
		if q.deadline() != now.Add(c.delay) {
			t.Fatalf("%v: two datagrams wait until %v", c.hold, q.deadline())
		}
		q.sawLoss()
		if !q.due(now) {
			t.Fatal("held on a path that loses")
		}
		q.lossy, q.hold = 0, HoldNot
		if !q.due(now) {
			t.Fatal("held when nobody wants it")
		}
	}
}

func TestTheFirstAcksAreSaidAgain(t *testing.T) {
	for _, start := range []int64{0, 1<<24 - 30} {
		var q ackQueue
		var r reach
		q.init()
		for i := range int64(100) {
			n := start + i
			q.note(1, n, 1400, true)
			b := q.append(nil, 1400)
			lo := n
			if i <= helloAcks+1 {
				lo = max(n-2, start)
			}
			var want []int64
			for m := lo; m <= n; m++ {
				want = append(want, m)
			}
			got := named(t, b, 0xc0, 1400, n)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("ACK %d names %v, want %v", i, got, want)
			}
			r.learn(b, n, n+1, false)
			if got := r.inFlight(true) == wideInFlight; got != (i >= echoProof+1) {
				t.Fatalf("after ACK %d the sender believes: %v", i, got)
			}
		}
		if q.hello != nil {
			t.Error("what is over takes memory")
		}
	}
}

func TestAcksFillDatagramsWithinTheirSize(t *testing.T) {
	eachSeed(t, 30, func(t *testing.T, rnd *rand.Rand) {
		first := starts[rnd.IntN(len(starts))]
		var q ackQueue
		q.init()
		q.told = helloAcks // the first are said again
		for range 20 {
			var want, got []int64
			n := first
			for range rnd.IntN(400) {
				n += 1 + rnd.Int64N(1+rnd.Int64N(4))
				want = append(want, n)
			}
			for _, i := range rnd.Perm(len(want)) {
				q.note(1, want[i], 1400, false)
				q.note(1, want[i], 1400, true) // and again: duplicates are acknowledged, too
			}
			maxSize := 17 + rnd.IntN(1448)
			for {
				b := q.append(nil, maxSize)
				if b == nil {
					break
				}
				got = append(got, named(t, b, 0xc0, maxSize, n)...)
				if q.pending() && !q.due(1) {
					t.Fatal("the rest of a flush is delayed")
				}
			}
			slices.Sort(got)
			// In random order a full queue may have dropped low ranges on the way.
			if len(got) > len(want) || len(want) <= ackRanges && !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
			first = n
		}
	})
}

func TestRangesAcrossTheWrapAreReadableByTheOriginal(t *testing.T) {
	// It gives up on an ACK at a record that ends at the highest number.
	for _, c := range []struct {
		spans []span
		want  []string
	}{
		{[]span{{1<<24 - 2, 1<<24 + 2}, {1<<24 + 5, 1<<24 + 6}}, []string{
			"\xc0\x00\x02\x00\x00\x00\x00\x01\x00\x00\x00\xfe\xff\xff\xff\xff\xff", "\xc0\x00\x01\x01\x05\x00\x00"}},
		{[]span{{1<<24 - 2, 1 << 24}, {1<<24 + 5, 1<<24 + 6}}, []string{
			"\xc0\x00\x01\x00\xfe\xff\xff\xff\xff\xff", "\xc0\x00\x01\x01\x05\x00\x00"}},
		{[]span{{-1, 0}, {1, 2}}, []string{"\xc0\x00\x01\x01\xff\xff\xff", "\xc0\x00\x01\x01\x01\x00\x00"}},
	} {
		var q ackQueue
		q.init()
		for _, s := range c.spans {
			for n := s.lo; n < s.hi; n++ {
				q.note(1, n, 1400, false)
			}
		}
		for _, want := range c.want {
			if b := q.append(nil, 1464); string(b) != want {
				t.Errorf("%v: % x, want % x", c.spans, b, want)
			}
		}
		if q.pending() {
			t.Errorf("%v: left over", c.spans)
		}
	}
}

func TestAPeerWithHolesEverywhereCostsBoundedMemory(t *testing.T) {
	var q ackQueue
	q.init()
	for n := int64(0); n < 100_000; n += 2 {
		q.note(1, n, 1400, false)
	}
	if q.ranges.len() != ackRanges {
		t.Fatalf("%d ranges", q.ranges.len())
	}
	if ns := named(t, q.append(nil, 1464), 0xc0, 1464, 100_000); ns[0] != 100_000-2*ackRanges {
		t.Errorf("the lowest left is %d", ns[0])
	}
}

func TestAcknowledgingDoesNotAllocate(t *testing.T) {
	var q ackQueue
	q.init()
	dst := make([]byte, 0, 1464)
	n := int64(0)
	allocs := testing.AllocsPerRun(1000, func() {
		for range 32 {
			n++
			q.note(1, n, 1400, false)
		}
		n++ // a hole
		q.note(1, n+1, 1400, false)
		q.append(dst, 1464)
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkAckNote(b *testing.B) {
	var q ackQueue
	q.init()
	n := int64(0)
	for b.Loop() {
		q.note(1, n, 1400, false)
		n++
	}
}

// One ACK for a batch of 32 datagrams, per batch.
func BenchmarkAckBatch(b *testing.B) {
	var q ackQueue
	q.init()
	dst := make([]byte, 0, 1464)
	n := int64(0)
	for b.Loop() {
		for range 32 {
			q.note(1, n, 1400, false)
			n++
		}
		q.append(dst, 1464)
	}
}

func TestALossyPathHearsEveryAckFiveTimes(t *testing.T) {
	var q ackQueue
	q.init()
	say := func(n int64) string {
		q.note(1, n, 1400, true)
		return hex.EncodeToString(q.append(nil, 1400))
	}
	if got := say(0); got != "c0000101000000" {
		t.Fatalf("clean: %s", got)
	}
	t.Logf("# datagram 1 is lost")
	q.sawLoss()
	for _, tc := range []struct {
		n    int64
		want string
	}{
		{2, "c0000101020000"},
		{3, "c0000100020000030000"},
		{4, "c0000100020000040000"},
		{5, "c0000100020000050000"},
		{7, "c0000200020000050000" + "01070000"},
		{8, "c0000200030000050000" + "00070000080000"},
	} {
		if got := say(tc.n); got != tc.want {
			t.Errorf("ACK with %d: %s, want %s", tc.n, got, tc.want)
		}
	}
	t.Logf("# a flush of several ACKs ends all the same")
	for n := int64(10); n < 500; n += 2 {
		q.note(1, n, 1400, true)
	}
	for i := 0; q.append(nil, 200) != nil; i++ {
		if i > 50 {
			t.Fatal("the echoes feed themselves")
		}
	}
}

// A range that ends at the highest number ends its datagram, so that what comes across the
// wrap takes two. The second is the rest of the first, not another occasion to
// repeat it.
func TestAFlushInTwoPartsSaysNothingTwice(t *testing.T) {
	var q ackQueue
	q.init()
	q.sawLoss()
	for _, n := range []int64{1<<24 - 1, 1<<24 + 1, 1<<24 + 2} {
		q.note(1, n, 1400, true)
	}
	first := named(t, q.append(nil, 100), wire.ACKID, 100, 1<<24)
	second := named(t, q.append(nil, 100), wire.ACKID, 100, 1<<24)
	if !slices.Equal(first, []int64{1<<24 - 1}) || !slices.Equal(second, []int64{1<<24 + 1, 1<<24 + 2}) {
		t.Errorf("the ACKs name %v and %v", first, second)
	}
	if b := q.append(nil, 100); b != nil {
		t.Errorf("a third ACK: % x", b)
	}
}

// What an ACK says again has room in its datagram, too: were there room only for what is
// new, a path that loses would draw several ACKs for each.
func TestAnAckAndWhatItSaysAgainLeaveInOneDatagram(t *testing.T) {
	l := newLossTest(t, Config{})
	var r reach
	n := int64(0)
	for i := range 2 * echoProof {
		t.Logf("# batch %d has three gaps", i)
		for range 3 {
			n++ // lost
			for range 2 {
				b := wire.AppendDatagramHeader(nil, wire.FrameSetID, wire24(n))
				if v := l.receive(hex.EncodeToString(b) + "000010" + "fe00"); v != VerdictAccepted {
					t.Fatalf("datagram %d: %v", n, v)
				}
				n++
			}
		}
		acks := 0
		for b := l.e.Transmit(l.now.Add(maxAckDelay)); b != nil; b = l.e.Transmit(l.now.Add(maxAckDelay)) {
			if b.Bytes()[0] == wire.ACKID {
				acks++
				r.learn(b.Bytes(), n-1, n, true)
			}
			b.Release()
		}
		if acks != 1 {
			t.Fatalf("%d ACKs", acks)
		}
	}
	if !r.echoes {
		t.Errorf("after %d ACKs their reader does not see that they say the last again", 2*echoProof)
	}
}
