package arq

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

// reasmTest feeds one reassembler and reads what it completes.
type reasmTest struct {
	t   *testing.T
	now monotime.Time
	r   reassembler
}

func newReasmTest(t *testing.T, maxBytes, maxGroups, maxParts int) *reasmTest {
	wantNoLeak(t)
	m := &reasmTest{t: t, now: 1}
	m.r.init(maxBytes, maxGroups, maxParts, 30*time.Second)
	t.Cleanup(func() {
		m.r.close()
		if m.r.len() != 0 || m.r.reserved != 0 || m.r.deadline() != monotime.Never {
			t.Errorf("after close: %d groups, %d bytes reserved", m.r.len(), m.r.reserved)
		}
	})
	return m
}

// part is fragment index of count of message id, in a reliable mode.
func part(id uint16, index, count uint32) fragment {
	return fragment{rel: protocol.ReliableOrdered, id: id, index: index, count: count}
}

// add feeds a fragment that lies in a receive buffer. It returns the message that
// it completes, if it does.
func (m *reasmTest) add(f fragment, data string) (string, reasmVerdict) {
	m.t.Helper()
	var ask reasmAsk
	refused := m.r.precheck(&f)
	ref := received(pool.ClassRead, []byte(data))
	room := refused || m.r.room(&ask, &f, ref)
	d, done, v := m.r.add(m.now, &f, ref)
	if refused != (v == reasmRefused) || room != (v != reasmFull) {
		m.t.Fatalf("%+v: verdict %d, but precheck said %v and room %v", f, v, refused, room)
	}
	if !done {
		return "", v
	}
	s := string(d.AppendTo(nil))
	if d.Len() != len(s) || d.Reliability != f.rel || d.Channel != f.channel {
		m.t.Fatalf("a message of %d bytes says %+v", len(s), d)
	}
	d.Release()
	return s, v
}

// want feeds a fragment and checks what comes of it.
func (m *reasmTest) want(f fragment, data, message string, v reasmVerdict) {
	m.t.Helper()
	if s, got := m.add(f, data); s != message || got != v {
		m.t.Fatalf("fragment %d of %d of message %d: %q and verdict %d, want %q and %d", f.index, f.count, f.id, s, got, message, v)
	}
}

func TestFragmentsArePlacedByIndex(t *testing.T) {
	m := newReasmTest(t, 1<<20, 64, 8192)
	t.Log("# in reverse: the original puts them together as they arrive")
	m.want(part(9, 2, 3), "c", "", reasmStored)
	m.want(part(9, 1, 3), "b", "", reasmStored)
	m.want(part(9, 0, 3), "a", "abc", reasmStored)
	t.Log("# a second copy neither counts nor overwrites")
	m.want(part(9, 0, 2), "a", "", reasmStored)
	m.want(part(9, 0, 2), "x", "", reasmDuplicate)
	m.want(part(9, 1, 2), "b", "ab", reasmStored)
	t.Log("# a message in one fragment")
	m.want(part(10, 0, 1), "whole", "whole", reasmStored)
	t.Log("# two messages at once")
	m.want(part(11, 0, 2), "a", "", reasmStored)
	m.want(part(12, 0, 2), "c", "", reasmStored)
	m.want(part(11, 1, 2), "b", "ab", reasmStored)
	m.want(part(12, 1, 2), "d", "cd", reasmStored)
}

func TestTheFirstFragmentSpeaksForTheMessage(t *testing.T) {
	m := newReasmTest(t, 1<<20, 64, 8192)
	first := fragment{rel: protocol.ReliableSequenced, channel: 3, order: 5, seq: 6, id: 1, index: 1, count: 2}
	m.want(first, "b", "", reasmStored)
	t.Log("# another count is refused, and changes nothing")
	m.want(part(1, 0, 3), "x", "", reasmRefused)
	m.want(part(1, 0, 1), "x", "", reasmRefused)
	t.Log("# another place in the order is ignored")
	second := fragment{rel: protocol.Reliable, channel: 4, order: 7, seq: 8, id: 1, index: 0, count: 2}
	d, done, _ := m.r.add(m.now, &second, received(pool.ClassRead, []byte("a")))
	if !done || second.rel != first.rel || second.channel != 3 || second.order != 5 || second.seq != 6 ||
		d.Reliability != first.rel || d.Channel != 3 {
		t.Fatalf("%v, %+v", done, second)
	}
	d.Release()
}

func TestMalformedFragmentsAreRefused(t *testing.T) {
	m := newReasmTest(t, 1<<20, 64, 512)
	m.want(part(1, 0, 0), "x", "", reasmRefused)
	m.want(part(1, 2, 2), "x", "", reasmRefused)
	m.want(part(1, 0xffffffff, 2), "x", "", reasmRefused)
	m.want(part(1, 0, 513), "x", "", reasmRefused)
	m.want(part(1, 0, 0x7fffffff), "x", "", reasmRefused)
	m.want(part(1, 0, 0xffffffff), "x", "", reasmRefused)
	f := part(1, 0, 2)
	if _, _, v := m.r.add(m.now, &f, pool.Ref{}); v != reasmRefused {
		t.Fatal("an empty fragment was taken")
	}
	if m.r.len() != 0 || m.r.reserved != 0 {
		t.Fatalf("%d groups", m.r.len())
	}
}

func TestMemoryFollowsWhatCameNotWhatWasAnnounced(t *testing.T) {
	m := newReasmTest(t, 64<<20, 64, 8192)
	before := pool.InUse()
	m.want(part(1, 0, 8192), "x", "", reasmStored)
	if g := m.r.groups[1]; cap(g.links) > 8 || pool.InUse() != before+1 {
		t.Errorf("%d links, %d buffers for one byte", cap(g.links), pool.InUse()-before)
	}
}

func TestWhatWasLetInCanAlwaysBeCompleted(t *testing.T) {
	// Two messages that fit one at a time only. If both began, neither could end.
	const count, size = 100, 1000
	m := newReasmTest(t, count*pool.ClassRead*3/2, 64, 8192)
	data := string(bytes.Repeat([]byte("x"), size))
	m.want(part(1, 0, count), data, "", reasmStored)
	m.want(part(2, 0, count), data, "", reasmFull)
	for i := uint32(1); i < count; i++ {
		s, v := m.add(part(1, i, count), data)
		if v != reasmStored || (len(s) > 0) != (i == count-1) {
			t.Fatalf("fragment %d: verdict %d, %d bytes", i, v, len(s))
		}
	}
	m.want(part(2, 0, count), data, "", reasmStored)

	t.Log("# a message that could never fit is not begun")
	m.r.close()
	m.want(part(3, 0, 8000), data, "", reasmFull)

	t.Log("# one that begins with its short end finds out later")
	m.want(part(4, 299, 300), "end", "", reasmStored)
	m.want(part(4, 0, 300), data, "", reasmFull)
	m.want(part(4, 1, 300), "small", "", reasmStored)
}

func TestTooManyMessagesAtOnceWait(t *testing.T) {
	m := newReasmTest(t, 1<<20, 3, 8192)
	for id := range uint16(3) {
		m.want(part(id, 0, 2), "a", "", reasmStored)
	}
	m.want(part(3, 0, 2), "a", "", reasmFull)
	m.want(part(4, 0, 1), "whole", "whole", reasmStored) // needs no group
	m.want(part(1, 1, 2), "b", "ab", reasmStored)
	m.want(part(3, 0, 2), "a", "", reasmStored)
}

func TestUnreliableMessagesMakeRoom(t *testing.T) {
	m := newReasmTest(t, 1<<20, 3, 8192)
	unreliable := func(id uint16, index uint32) fragment {
		return fragment{rel: protocol.Unreliable, id: id, index: index, count: 2}
	}
	m.want(unreliable(1, 0), "a", "", reasmStored)
	m.want(part(2, 0, 2), "a", "", reasmStored)
	m.want(unreliable(3, 0), "a", "", reasmStored)
	t.Log("# the unreliable one without progress for longest goes")
	m.want(part(4, 0, 2), "a", "", reasmStored)
	if m.r.groups[1] != nil || m.r.groups[3] == nil {
		t.Fatal("another one went")
	}
	m.want(unreliable(5, 0), "a", "", reasmStored)
	if m.r.groups[3] != nil {
		t.Fatal("nothing went")
	}
	m.want(part(2, 1, 2), "b", "ab", reasmStored)
	m.want(part(4, 1, 2), "b", "ab", reasmStored)
	m.want(unreliable(5, 1), "b", "ab", reasmStored)
}

func TestGroupsExpireWithoutProgress(t *testing.T) {
	m := newReasmTest(t, 1<<20, 64, 8192)
	start := m.now
	m.want(part(1, 0, 3), "a", "", reasmStored)
	m.want(fragment{id: 2, index: 0, count: 2}, "a", "", reasmStored)
	m.now = start.Add(20 * time.Second)
	m.want(part(1, 0, 3), "a", "", reasmDuplicate) // no progress
	m.want(part(3, 0, 2), "a", "", reasmStored)
	m.want(part(3, 0, 2), "a", "", reasmDuplicate)
	if d := m.r.deadline(); d != start.Add(30*time.Second) {
		t.Fatalf("deadline %d", d)
	}
	if m.r.expire(start.Add(30*time.Second-1)) != 0 || m.r.len() != 3 {
		t.Fatal("expired early")
	}
	m.now = start.Add(25 * time.Second)
	m.want(part(1, 1, 3), "b", "", reasmStored)
	t.Log("# an unreliable message is no loss; a reliable one was promised")
	if m.r.expire(start.Add(30*time.Second)) != 0 || m.r.len() != 2 {
		t.Fatalf("%d groups", m.r.len())
	}
	if d := m.r.deadline(); d != start.Add(50*time.Second) {
		t.Fatalf("deadline %d", d)
	}
	if m.r.expire(start.Add(time.Hour)) != 2 || m.r.len() != 0 || m.r.reserved != 0 {
		t.Fatalf("%d groups", m.r.len())
	}
}

func TestOneDatagramIsAskedAboutAsAWhole(t *testing.T) {
	m := newReasmTest(t, 1<<20, 3, 8192)
	m.want(part(1, 0, 2), "a", "", reasmStored)
	var ask reasmAsk
	for i, c := range []struct {
		f    fragment
		room bool
	}{
		{part(1, 1, 2), true}, // has its group
		{part(2, 0, 2), true},
		{part(2, 1, 2), true}, // the group that was just asked about
		{part(3, 0, 2), true},
		{part(4, 0, 2), false}, // one too many
		{part(4, 0, 1), true},
		{part(1, 0, 2), true}, // a duplicate needs nothing
	} {
		if got := m.r.room(&ask, &c.f, pool.Ref{Data: make([]byte, 1)}); got != c.room {
			t.Fatalf("question %d: %v", i, got)
		}
	}
	ask = reasmAsk{}
	big, bigger := part(5, 0, 2000), part(6, 0, 2000)
	ref := pool.Ref{Data: make([]byte, 300)}
	if !m.r.room(&ask, &big, ref) || m.r.room(&ask, &bigger, ref) {
		t.Fatal("room for one of these")
	}
}

// naiveReassembler is one without bounds.
type naiveReassembler map[uint16]*naiveGroup

type naiveGroup struct {
	f     fragment
	parts map[uint32]string
}

func (r naiveReassembler) add(f fragment, data string) (fragment, string, reasmVerdict) {
	g := r[f.id]
	if g == nil {
		g = &naiveGroup{f: f, parts: map[uint32]string{}}
	}
	if f.index >= f.count || f.count != g.f.count || data == "" {
		return fragment{}, "", reasmRefused
	}
	if _, ok := g.parts[f.index]; ok {
		return fragment{}, "", reasmDuplicate
	}
	r[f.id] = g
	g.parts[f.index] = data
	if len(g.parts) < int(f.count) {
		return fragment{}, "", reasmStored
	}
	delete(r, f.id)
	var message string
	for i := range f.count {
		message += g.parts[i]
	}
	return g.f, message, reasmStored
}

// agree feeds both and compares.
func agree(t *testing.T, m *reasmTest, model naiveReassembler, f fragment, data string) {
	t.Helper()
	header, message, verdict := model.add(f, data)
	got := f
	d, done, v := m.r.add(m.now, &got, received(pool.ClassRead, []byte(data)))
	s := string(d.AppendTo(nil))
	d.Release()
	if v != verdict || done != (message != "") || s != message {
		t.Fatalf("%+v: verdict %d and %d bytes, want %d and %d", f, v, len(s), verdict, len(message))
	}
	if done && (got.rel != header.rel || got.channel != header.channel || got.order != header.order || got.seq != header.seq) {
		t.Fatalf("%+v: header %+v, want %+v", f, got, header)
	}
	if m.r.len() != len(model) {
		t.Fatalf("%+v: %d groups, want %d", f, m.r.len(), len(model))
	}
}

func TestReassemblerAgreesWithANaiveOne(t *testing.T) {
	eachSeed(t, 8, func(t *testing.T, rnd *rand.Rand) {
		m := newReasmTest(t, 1<<30, 1<<16, 8192)
		model := naiveReassembler{}
		type sent struct {
			f    fragment
			data string
		}
		id := uint16(65530) // crosses the wrap of split ids
		var out []sent
		for n := range 60 {
			count := uint32(1 + rnd.IntN(1+rnd.IntN(300)))
			f := fragment{rel: protocol.Reliability(rnd.IntN(5)), channel: uint8(rnd.IntN(32)), order: rnd.Int64N(1 << 24), seq: rnd.Int64N(1 << 24), id: id, count: count}
			id++
			size := 1 + rnd.IntN(600)
			for i := range count {
				f.index = i
				data := fmt.Sprintf("%d.%d:%*d", n, i, size, 0)
				if len(data) > 1500 {
					data = data[:1500]
				}
				out = append(out, sent{f, data})
				if rnd.IntN(20) == 0 {
					twin := f
					twin.order++
					out = append(out, sent{twin, "twin"})
				}
				if rnd.IntN(50) == 0 {
					liar := f
					liar.count += uint32(rnd.IntN(3)) - 1
					out = append(out, sent{liar, "liar"})
				}
			}
		}
		reach := 1 + rnd.IntN(200)
		for i := range out {
			j := min(len(out)-1, i+rnd.IntN(reach))
			out[i], out[j] = out[j], out[i]
		}
		for _, s := range out {
			agree(t, m, model, s.f, s.data)
		}
	})
}

func FuzzReassembly(f *testing.F) {
	f.Add(uint16(1000), []byte{0, 0, 2, 10, 0, 1, 2, 10})
	f.Add(uint16(60000), []byte{1, 0, 200, 255, 2, 199, 200, 1, 1, 0, 3, 4, 0x41, 0, 2, 9})
	f.Add(uint16(300), []byte{0x81, 0, 9, 9, 0x82, 0, 9, 9, 0x83, 0, 9, 9, 4, 0, 9, 9, 5, 0, 9, 9})
	f.Fuzz(func(t *testing.T, maxBytes uint16, script []byte) {
		m := newReasmTest(t, int(maxBytes), 4, 250)
		content := func(f fragment, n int) []byte {
			return bytes.Repeat([]byte{byte(f.id)*31 + byte(f.index)*7 + byte(f.count) | 1}, n)
		}
		for ; len(script) >= 4; script = script[4:] {
			f := part(uint16(script[0]&7), uint32(script[1]), uint32(script[2]))
			if script[0]&0x80 != 0 {
				f.rel = protocol.Unreliable
			}
			if script[0]&0x40 != 0 {
				m.now = m.now.Add(time.Duration(script[3]) * time.Second / 4)
				m.r.expire(m.now)
			}
			n := int(script[3]) * 5
			var ask reasmAsk
			refused := n == 0 || m.r.precheck(&f)
			ref := received([]int{pool.ClassRead, pool.ClassWide, pool.ClassBatch}[n/5%3], content(f, n))
			room := refused || m.r.room(&ask, &f, ref)
			d, done, v := m.r.add(m.now, &f, ref)
			if refused != (v == reasmRefused) || room != (v != reasmFull) {
				t.Fatalf("%+v: verdict %d, but precheck said %v and room %v", f, v, refused, room)
			}
			if m.r.reserved > int(maxBytes) || m.r.len() > 4 || m.r.deadline() < m.now {
				t.Fatalf("%d bytes, %d groups, deadline %d at %d", m.r.reserved, m.r.len(), m.r.deadline(), m.now)
			}
			lossy, lossyReserved := 0, 0
			for g := m.r.oldest; g != nil; g = g.next {
				if !g.rel.IsReliable() {
					lossy++
					lossyReserved += g.reserved
				}
			}
			if lossy != m.r.lossy || lossyReserved != m.r.lossyReserved {
				t.Fatalf("%d groups with %d bytes may give way, counted %d and %d", lossy, lossyReserved, m.r.lossy, m.r.lossyReserved)
			}
			if !done {
				continue
			}
			// Every fragment's content says where it belongs.
			rest := d.AppendTo(nil)
			if len(rest) != d.Len() {
				t.Fatalf("%d bytes of %d", len(rest), d.Len())
			}
			for i := uint32(0); i < f.count; i++ {
				g := f
				g.index = i
				c := content(g, 1)
				if len(rest) == 0 || rest[0] != c[0] {
					t.Fatalf("fragment %d is not in its place", i)
				}
				next := f
				next.index = i + 1
				if i+1 < f.count && content(next, 1)[0] == c[0] {
					break // cannot tell the two apart
				}
				for len(rest) > 0 && rest[0] == c[0] { // not TrimLeft, to which all bytes that are no UTF-8 are one
					rest = rest[1:]
				}
			}
			d.Release()
		}
	})
}

// aMessage feeds one message of count fragments of 1432 bytes, one receive buffer each.
func aMessage(r *reassembler, id uint16, count uint32) {
	for i := range count {
		f := part(id, i, count)
		b := pool.Get(pool.ClassRead)
		d, done, _ := r.add(1, &f, pool.Hold(b, b.B[20:1452]))
		b.Release()
		if done {
			d.Release()
		}
	}
}

func TestLongMessagesDoNotAllocateInSteadyState(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	var r reassembler
	r.init(8<<20, 64, 8192, 30*time.Second)
	id := uint16(0)
	for range 3 {
		aMessage(&r, 0, 1400)
	}
	allocs := testing.AllocsPerRun(20, func() {
		id++
		aMessage(&r, id, 1400)
	})
	if allocs > 20 { // none, but for what the garbage collector takes out of the pools
		t.Errorf("%v allocations for 1400 fragments", allocs)
	}
}

func benchmarkReassembly(b *testing.B, count uint32) {
	var r reassembler
	r.init(8<<20, 64, 8192, 30*time.Second)
	b.SetBytes(int64(count) * 1432)
	id := uint16(0)
	for b.Loop() {
		aMessage(&r, id, count)
		id++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/fragment")
}

func BenchmarkReassembly7(b *testing.B)    { benchmarkReassembly(b, 7) }
func BenchmarkReassembly70(b *testing.B)   { benchmarkReassembly(b, 70) }
func BenchmarkReassembly1400(b *testing.B) { benchmarkReassembly(b, 1400) }
