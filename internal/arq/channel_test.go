package arq

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/raknet-go/raknet/internal/pool"
)

// numbered returns a message that carries a number.
func numbered(n int) Delivery {
	return newDelivery(0, 0, pool.Ref{Data: binary.BigEndian.AppendUint32(nil, uint32(n))})
}

func number(d *Delivery) int { return int(binary.BigEndian.Uint32(d.ref.Data)) }

// orderTest drives one channel as from the wire.
type orderTest struct {
	t    testing.TB
	hold holdBudget
	c    orderChannel
	out  []Delivery
}

func newOrderTest(t testing.TB, first int64) *orderTest {
	o := &orderTest{t: t}
	o.c.init(first)
	return o
}

// accept takes message n and returns the numbers of what was delivered.
func (o *orderTest) accept(order, seq int64, sequenced bool, n int) []int {
	o.out = o.c.accept(&o.hold, int64(wire24(order)), wire24(seq), sequenced, numbered(n), o.out[:0])
	var ns []int
	for i := range o.out {
		ns = append(ns, number(&o.out[i]))
		o.out[i].Release()
	}
	return ns
}

// play runs a script: words like "o3" (ordered message of index 3) or "s3.1"
// (sequenced, ordering index 3, sequencing index 1), each followed by "->" and the
// words delivered because of it, up to a semicolon.
func (o *orderTest) play(first int64, script string) {
	o.t.Helper()
	var words []string
	for _, step := range strings.Split(script, ";") {
		in, want, _ := strings.Cut(strings.TrimSpace(step), "->")
		in = strings.TrimSpace(in)
		var order, seq int64
		sequenced := in[0] == 's'
		if sequenced {
			fmt.Sscanf(in, "s%d.%d", &order, &seq)
		} else {
			fmt.Sscanf(in, "o%d", &order)
		}
		words = append(words, in)
		var got []string
		for _, n := range o.accept(first+order, seq, sequenced, len(words)-1) {
			got = append(got, words[n])
		}
		if !slices.Equal(got, strings.Fields(want)) {
			o.t.Fatalf("from %d, %q: delivered %v", first, step, got)
		}
	}
}

func TestOrderingStories(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"in order", "o0->o0; o1->o1; o2->o2"},
		{"a gap is waited for", "o0->o0; o2->; o3->; o1->o1 o2 o3; o4->o4"},
		{"an index is delivered once", "o0->o0; o0->; o2->; o2->; o1->o1 o2; o2->; o1->"},
		{"the first copy wins", "o1->; o1->; o0->o0 o1"},
		{"sequenced messages drop what is older", "s0.0->s0.0; s0.2->s0.2; s0.1->; s0.2->; s0.3->s0.3"},
		{"a sequenced message uses no ordering index up", "s0.0->s0.0; o0->o0; s1.0->s1.0; o1->o1"},
		{"one sent before a delivered ordered message is stale", "o0->o0; s0.7->; s1.0->s1.0"},
		{"one sent after a missing ordered message waits", "s1.0->; s1.1->; o0->o0 s1.0 s1.1; s1.2->s1.2"},
		{"those that wait leave in order, before the ordered one", "o1->; s1.3->; s1.1->; o0->o0 s1.1 s1.3 o1; s2.0->s2.0"},
		{"sequencing starts over after an ordered message", "s0.9->s0.9; o0->o0; s1.0->s1.0"},
		// The original drops s3.0 here: it forgets to start over in the run.
		{"also after one that waited", "s1.5->; o2->; o1->; o0->o0 s1.5 o1 o2; s3.0->s3.0; s3.4->s3.4"},
		// It delivers s1.5 a second time, too.
		{"what left the heap is remembered", "s1.5->; o0->o0 s1.5; s1.5->; s1.4->; s1.6->s1.6"},
		{"a second copy that waits is stale", "s1.5->; s1.5->; o0->o0 s1.5"},
		// In the original's weights the ordered message overtakes such a one.
		{"a large sequencing index", "o1->; s1.1048575->; s1.1048577->; o0->o0 s1.1048575 s1.1048577 o1"},
		{"several gaps", "o4->; o2->; s3.0->; o0->o0; o1->o1 o2 s3.0; o3->o3 o4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, first := range starts {
				o := newOrderTest(t, first)
				o.play(first, c.script)
				if o.hold.messages != 0 || o.hold.bytes != 0 || o.c.waiting() != 0 {
					t.Fatalf("from %d: %d messages, %d bytes are left", first, o.hold.messages, o.hold.bytes)
				}
			}
		})
	}
}

func TestStaleMessagesAreCounted(t *testing.T) {
	o := newOrderTest(t, 0)
	o.play(0, "s0.1->s0.1; s0.0->; o0->o0; o0->; o2->; o2->; o1->o1 o2")
	if o.hold.stale != 3 {
		t.Errorf("%d stale", o.hold.stale)
	}
}

func TestASequencingIndexWrapsWithoutAnOrderedMessage(t *testing.T) {
	o := newOrderTest(t, 0)
	for seq := int64(0); seq < 1<<24; seq += 1 << 20 {
		o.accept(0, seq, true, 0)
	}
	o.play(0, "s0.16777214->s0.16777214; s0.16777215->s0.16777215; s0.0->s0.0; s0.16777215->; s0.1->s0.1")
}

// naiveChannel is the channel without a heap: what has to wait is searched for
// the next to deliver after every message, and indexes are whole numbers.
type naiveChannel struct {
	next, low int64
	waiting   []naiveMessage
}

type naiveMessage struct {
	order, seq int64
	sequenced  bool
	n          int
}

func (c *naiveChannel) accept(m naiveMessage) (out []int) {
	c.waiting = append(c.waiting, m)
	for {
		best := -1
		for i, w := range c.waiting {
			if w.order != c.next {
				continue
			}
			if best < 0 || w.sequenced && (!c.waiting[best].sequenced || w.seq < c.waiting[best].seq) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		w := c.waiting[best]
		c.waiting = slices.Delete(c.waiting, best, best+1)
		if !w.sequenced {
			out = append(out, w.n)
			c.next, c.low = c.next+1, 0
		} else if w.seq >= c.low {
			out = append(out, w.n)
			c.low = w.seq + 1
		}
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(w naiveMessage) bool { return w.order < c.next })
	return out
}

func TestOrderChannelAgreesWithANaiveOne(t *testing.T) {
	eachSeed(t, 80, func(t *testing.T, rnd *rand.Rand) {
		first := starts[rnd.IntN(len(starts))]
		low := []int64{0, 1<<24 - 20}[rnd.IntN(2)]
		o := newOrderTest(t, first)
		o.c.sequence = wire24(low)
		model := naiveChannel{next: first, low: low}

		// A sender's stream of both kinds, on its way through a network that
		// reorders, repeats and, of sequenced messages, loses.
		var sent []naiveMessage
		order, seq := first, low
		ordered, reach := 1+rnd.IntN(9), 1+rnd.IntN(60)
		for n := range 3000 {
			m := naiveMessage{order: order, seq: seq, sequenced: rnd.IntN(10) >= ordered, n: n}
			if m.sequenced {
				seq++
			} else {
				order, seq = order+1, 0
			}
			sent = append(sent, m)
		}
		delay := map[int]int{}
		var arriving []naiveMessage
		for i, m := range sent {
			for copies := 1 + rnd.IntN(8)/7; copies > 0; copies-- {
				if m.sequenced && rnd.IntN(10) == 0 {
					continue
				}
				at := i + rnd.IntN(reach)
				if rnd.IntN(50) == 0 {
					at += rnd.IntN(300)
				}
				delay[len(arriving)] = at
				arriving = append(arriving, m)
			}
		}
		arrival := make([]int, len(arriving))
		for i := range arrival {
			arrival[i] = i
		}
		slices.SortStableFunc(arrival, func(a, b int) int { return delay[a] - delay[b] })

		var delivered []int
		for step, i := range arrival {
			m := arriving[i]
			got, want := o.accept(m.order, m.seq, m.sequenced, m.n), model.accept(m)
			if !slices.Equal(got, want) {
				t.Fatalf("step %d, %+v: delivered %v, want %v", step, m, got, want)
			}
			if o.c.next != model.next || o.hold.messages > len(model.waiting)+1 && o.hold.messages != o.c.waiting() {
				t.Fatalf("step %d: next %d, %d waiting; want %d, %d", step, o.c.next, o.hold.messages, model.next, len(model.waiting))
			}
			delivered = append(delivered, got...)
		}

		// What the user is promised, whatever the model says.
		count := 0
		for i, n := range delivered {
			if i > 0 && n <= delivered[i-1] {
				t.Fatalf("message %d was delivered after %d", n, delivered[i-1])
			}
			if !sent[n].sequenced {
				count++
			}
		}
		if count != int(order-first) {
			t.Fatalf("%d of %d ordered messages were delivered", count, order-first)
		}
		if o.hold.messages != 0 || o.hold.bytes != 0 {
			t.Fatalf("%d messages of %d bytes are left", o.hold.messages, o.hold.bytes)
		}
	})
}

func FuzzOrderChannel(f *testing.F) {
	f.Add(uint8(0), []byte{0, 0, 2, 0, 1, 0})
	f.Add(uint8(1), []byte{0x81, 5, 2, 0, 1, 0, 0, 0, 0x83, 0, 0x83, 4})
	f.Add(uint8(2), []byte{0xff, 1, 0x7f, 1, 0x40, 0x40, 0, 0})
	f.Fuzz(func(t *testing.T, start uint8, script []byte) {
		wantNoLeak(t)
		first := starts[int(start)%len(starts)]
		o := newOrderTest(t, first)
		model := naiveChannel{next: first}
		for n := 0; len(script) >= 2; n, script = n+1, script[2:] {
			// Indexes from 8 behind to 55 ahead of the first, in either kind.
			m := naiveMessage{order: first - 8 + int64(script[0]&0x3f), sequenced: script[0]&0x80 != 0, seq: int64(script[1]), n: n}
			if m.order < model.next {
				if got := o.accept(m.order, m.seq, m.sequenced, n); got != nil {
					t.Fatalf("%+v: delivered %v", m, got)
				}
				continue
			}
			got, want := o.accept(m.order, m.seq, m.sequenced, n), model.accept(m)
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: delivered %v, want %v", m, got, want)
			}
		}
		if o.c.waiting() != o.hold.messages {
			t.Fatalf("%d keys for %d messages", o.c.waiting(), o.hold.messages)
		}
		o.c.close(&o.hold)
		if o.hold.messages != 0 || o.hold.bytes != 0 {
			t.Fatalf("%d messages of %d bytes after close", o.hold.messages, o.hold.bytes)
		}
	})
}

func TestChannelsAreIndependentAndMadeAtFirstUse(t *testing.T) {
	wantNoLeak(t)
	var o orderChannels
	o.init(1<<24 - 1)
	if !o.wants(31, 0xffffff) || o.wants(31, 0) || !o.holds(31, 0) || o.holds(31, 0xfffffe) || o.of(31) != nil {
		t.Fatal("an unused channel expects its first index, and asking does not make it")
	}
	b := pool.Get(pool.ClassRead)
	var out []Delivery
	for ch := range uint8(32) {
		out = o.accept(ch, 0, 0, false, newDelivery(3, ch, pool.Share(b, b.B[:1000])), out)
	}
	b.Release()
	if len(out) != 0 || o.hold.messages != 32 {
		t.Fatalf("%d delivered, %d wait", len(out), o.hold.messages)
	}
	out = o.accept(9, 0xffffff, 0, false, numbered(1), out)
	if len(out) != 2 || out[1].Channel != 9 || o.next(9) != 1<<24+1 || o.next(8) != 1<<24-1 {
		t.Fatalf("%d delivered", len(out))
	}
	out[1].Release()
	o.close()
	if o.hold.messages != 0 {
		t.Fatal("close left messages")
	}
}

func TestInOrderDeliveryDoesNotAllocate(t *testing.T) {
	o := newOrderTest(t, 0)
	out := make([]Delivery, 0, 4)
	var d Delivery
	allocs := testing.AllocsPerRun(1000, func() {
		out = o.c.accept(&o.hold, o.c.next, 0, false, d, out[:0])
		out = o.c.accept(&o.hold, o.c.next, o.c.sequence, true, d, out[:0])
	})
	if allocs > 0 || o.c.held != nil {
		t.Errorf("%v allocations, %v", allocs, o.c.held)
	}
}

func TestALossyPathDoesNotAllocateInSteadyState(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	o := newOrderTest(t, 0)
	b := pool.Get(pool.ClassRead)
	defer b.Release()
	out := make([]Delivery, 0, 128)
	round := func() {
		next := o.c.next
		for n := next + 1; n < next+100; n++ {
			out = o.c.accept(&o.hold, n, 0, false, newDelivery(3, 0, pool.Share(b, b.B[:100])), out)
		}
		out = o.c.accept(&o.hold, next, 0, false, newDelivery(3, 0, pool.Share(b, b.B[:100])), out)
		if len(out) != 100 {
			t.Fatalf("%d delivered", len(out))
		}
		for i := range out {
			out[i].Release()
		}
		out = out[:0]
	}
	round()
	if allocs := testing.AllocsPerRun(100, round); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkOrderInOrder(b *testing.B) {
	o := newOrderTest(b, 0)
	out := make([]Delivery, 0, 64)
	var d Delivery
	for b.Loop() {
		if len(out) == cap(out) {
			out = out[:0]
		}
		out = o.c.accept(&o.hold, o.c.next&seqMask, 0, false, d, out)
	}
}

// 200 messages wait for the first, per message.
func BenchmarkOrderBehindALoss(b *testing.B) {
	o := newOrderTest(b, 0)
	out := make([]Delivery, 0, 256)
	var d Delivery
	i := int64(0)
	for b.Loop() {
		next := o.c.next
		if i++; i < 200 {
			out = o.c.accept(&o.hold, next+i, 0, false, d, out)
			continue
		}
		out = o.c.accept(&o.hold, next, 0, false, d, out[:0])
		i = 0
	}
}

// The same for messages of 1 KB, each in a buffer of its own: what waits moves to a smaller one.
func BenchmarkBuffersBehindALoss(b *testing.B) {
	o := newOrderTest(b, 0)
	out := make([]Delivery, 0, 256)
	data := make([]byte, 1000)
	i := int64(0)
	for b.Loop() {
		buf := pool.Get(pool.ClassRead)
		copy(buf.B, data)
		d := newDelivery(0, 0, pool.Ref{Buf: buf, Data: buf.B[:len(data)]})
		next := o.c.next
		if i++; i < 200 {
			out = o.c.accept(&o.hold, next+i, 0, false, d, out)
			continue
		}
		out = o.c.accept(&o.hold, next, 0, false, d, out[:0])
		for i := range out {
			out[i].Release()
		}
		i = 0
	}
	o.c.close(&o.hold)
}
