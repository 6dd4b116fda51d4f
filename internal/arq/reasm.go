package arq

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

// fragment is what a frame says about the split message it is a part of. Indexes
// are as on the wire; orderChannel expands order when the message is complete.
type fragment struct {
	rel        protocol.Reliability
	channel    uint8
	order, seq int64
	id         uint16
	index      uint32
	count      uint32
}

// reassembler puts split messages together. Groups are told apart by split id
// alone, as in the original engine, and the header of the fragment that came first
// is the header of the message. Fragments are placed by index; the original
// concatenates them as they arrive, and counts a repeated index twice.
//
// Every group reserves at its first fragment what it will need at most, so that the
// groups that were let in can always be completed: no two half-built messages can
// starve each other of memory that only their completion would free. Reserving is a
// sum; memory is taken when fragments come.
type reassembler struct {
	maxBytes, maxGroups, maxParts int
	maxAge                        time.Duration

	reserved int // what all groups may come to hold: at most maxBytes
	// Of that, what groups of unreliable modes would make room for, and how many they
	// are: so that a flood is refused without a look at every group.
	lossyReserved, lossy int
	groups               map[uint16]*group
	last                 *group // the group of the last fragment: the next is nearly always its own
	// Groups by last progress, oldest first: the ends of a list.
	oldest, newest *group
	spare          *group // recycled groups, linked by next
	spares         int
}

// group is one unfinished message.
type group struct {
	rel        protocol.Reliability
	channel    uint8
	id         uint16
	count, got uint32
	order, seq int64
	partSize   int // largest charge of one fragment so far
	reserved   int
	size       int // bytes of the message so far
	kept       int // what they take
	progress   monotime.Time
	links      []*pool.Refs // fragment i is links[i/RefsLen].R[i%RefsLen]; grows to the highest index
	prev, next *group
}

const (
	// groupOverhead and linkOverhead are charged for bookkeeping: per group, and
	// per RefsLen fragments announced. Both are rounded up.
	groupOverhead = 256
	linkOverhead  = 32*pool.RefsLen + 32
	// spareGroups is how many finished groups are kept to be used again, and
	// spareLinks the longest list of links that one may keep. Arbitrary.
	spareGroups = 8
	spareLinks  = 128
)

// reasmVerdict is what became of a fragment.
type reasmVerdict uint8

const (
	reasmStored    reasmVerdict = iota // taken; the message is complete if add says so
	reasmDuplicate                     // that index was there already, and stays as it is
	// reasmRefused fragments contradict the group that they name, or a bound on the
	// shape of messages. No correct peer sends them: drop the datagram.
	reasmRefused
	// reasmFull fragments find no room until other messages are complete. Leave the
	// datagram unacknowledged; the peer sends them again.
	reasmFull
)

// init sets the bounds: memory, bookkeeping included, over all unfinished messages;
// how many of those; fragments in one; and the time one may go without a new fragment.
func (r *reassembler) init(maxBytes, maxGroups, maxParts int, maxAge time.Duration) {
	*r = reassembler{maxBytes: maxBytes, maxGroups: maxGroups, maxParts: maxParts, maxAge: maxAge}
}

// precheck reports whether add would refuse the fragment whatever room there is:
// because of a count of zero or above the bound, an index outside the count, or a
// count other than its group's.
func (r *reassembler) precheck(f *fragment) (refuse bool) {
	if f.count == 0 || f.index >= f.count || uint64(f.count) > uint64(r.maxParts) {
		return true
	}
	g := r.find(f.id)
	return g != nil && g.count != f.count
}

// reasmAsk is what the fragments of one datagram that were asked about so far would
// newly reserve. The zero value is that of a datagram without any.
type reasmAsk struct {
	bytes, groups int
	id            uint16 // of the group asked about last, if need is not 0
	need          int
}

// room reports whether a fragment that lies in ref and passed precheck would fit now,
// besides those asked about before with the same ask. What all of one datagram's
// fragments were given room for, add does not find full.
func (r *reassembler) room(ask *reasmAsk, f *fragment, ref pool.Ref) bool {
	known := r.find(f.id)
	g := known
	switch {
	case g == nil && f.count == 1, g != nil && g.has(f.index):
		return true
	}
	var fresh group
	if g == nil {
		fresh.count = f.count
		g = &fresh
	}
	need := g.need(max(g.partSize, partCharge(ref))) - g.reserved
	bytes, groups := need, 0
	if g.reserved == 0 {
		groups = 1
	}
	if ask.need != 0 && ask.id == f.id {
		bytes, groups = max(need-ask.need, 0), 0
	}
	spare, slots := r.maxBytes-r.reserved, r.maxGroups-len(r.groups)
	if ask.bytes+bytes > spare || ask.groups+groups > slots {
		spare += r.lossyReserved
		slots += r.lossy
		if known != nil && !known.rel.IsReliable() {
			spare -= known.reserved
			slots--
		}
	}
	if ask.bytes+bytes > spare || ask.groups+groups > slots {
		return false
	}
	ask.bytes += bytes
	ask.groups += groups
	ask.id, ask.need = f.id, max(need, 1)
	return true
}

// add takes a fragment and owns ref whatever comes of it. When the fragment
// completes its message, done is set, d is the message, and f's mode, channel and
// indexes are overwritten with those of the message.
func (r *reassembler) add(now monotime.Time, f *fragment, ref pool.Ref) (d Delivery, done bool, v reasmVerdict) {
	if len(ref.Data) == 0 || r.precheck(f) {
		ref.Release()
		return Delivery{}, false, reasmRefused
	}
	g := r.find(f.id)
	if g == nil {
		if f.count == 1 {
			return newDelivery(f.rel, f.channel, ref), true, reasmStored
		}
		g = r.open(f)
	} else if g.has(f.index) {
		ref.Release()
		return Delivery{}, false, reasmDuplicate
	}
	charge := partCharge(ref)
	ref = settle(ref)
	if !r.reserve(g, charge) {
		ref.Release()
		if g.got == 0 {
			r.discard(g)
		}
		return Delivery{}, false, reasmFull
	}
	g.put(f.index, ref)
	g.progress = now
	if g.got == g.count {
		f.rel, f.channel, f.order, f.seq = g.rel, g.channel, g.order, g.seq
		d = g.finish()
		r.remove(g)
		return d, true, reasmStored
	}
	r.touch(g)
	return Delivery{}, false, reasmStored
}

// expire drops every group that had no new fragment for maxAge. It returns how many
// of them were messages of a reliable mode: those fragments were acknowledged, so
// the message can never come, and the connection cannot keep its promises.
func (r *reassembler) expire(now monotime.Time) (lost int) {
	for r.oldest != nil && r.oldest.progress.Add(r.maxAge) <= now {
		if r.oldest.rel.IsReliable() {
			lost++
		}
		r.discard(r.oldest)
	}
	return lost
}

// deadline returns when the next group expires, or Never.
func (r *reassembler) deadline() monotime.Time {
	if r == nil || r.oldest == nil {
		return monotime.Never
	}
	return r.oldest.progress.Add(r.maxAge)
}

// len returns the number of unfinished messages.
func (r *reassembler) len() int {
	if r == nil {
		return 0
	}
	return len(r.groups)
}

// holds returns how much of the bound on memory is reserved.
func (r *reassembler) holds() int {
	if r == nil {
		return 0
	}
	return r.reserved
}

// close drops every group.
func (r *reassembler) close() {
	if r == nil {
		return
	}
	for r.oldest != nil {
		r.discard(r.oldest)
	}
	r.spare, r.spares, r.groups = nil, 0, nil
}

func (r *reassembler) find(id uint16) *group {
	if r.last != nil && r.last.id == id {
		return r.last
	}
	g := r.groups[id]
	if g != nil {
		r.last = g
	}
	return g
}

// open makes the group of f, which holds and reserves nothing yet.
func (r *reassembler) open(f *fragment) *group {
	g := r.spare
	if g != nil {
		r.spare, g.next = g.next, nil
		r.spares--
	} else {
		g = new(group)
	}
	g.rel, g.channel, g.id, g.count, g.order, g.seq = f.rel, f.channel, f.id, f.count, f.order, f.seq
	if r.groups == nil {
		r.groups = make(map[uint16]*group)
	}
	r.groups[f.id] = g
	if !g.rel.IsReliable() {
		r.lossy++
	}
	r.last = g
	r.link(g)
	return g
}

// reserve makes sure of the memory that g needs if its fragments are charged
// up to partSize each. For want of room it drops groups of unreliable modes, the
// oldest first: nobody was promised those, and the original never sends any.
func (r *reassembler) reserve(g *group, partSize int) bool {
	if partSize <= g.partSize {
		return true
	}
	need := g.need(partSize) - g.reserved
	for o := r.oldest; o != nil && (r.reserved+need > r.maxBytes || len(r.groups) > r.maxGroups); {
		next := o.next
		if o != g && !o.rel.IsReliable() {
			r.discard(o)
		}
		o = next
	}
	if r.reserved+need > r.maxBytes || len(r.groups) > r.maxGroups {
		return false
	}
	g.partSize = partSize
	g.reserved += need
	r.reserved += need
	if !g.rel.IsReliable() {
		r.lossyReserved += need
	}
	return true
}

// discard drops a group and what it holds.
func (r *reassembler) discard(g *group) {
	for _, l := range g.links {
		l.Release()
	}
	r.remove(g)
}

// remove forgets a group whose fragments are gone and keeps it for the next message.
func (r *reassembler) remove(g *group) {
	r.unlink(g)
	delete(r.groups, g.id)
	if r.last == g {
		r.last = nil
	}
	r.reserved -= g.reserved
	if !g.rel.IsReliable() {
		r.lossyReserved -= g.reserved
		r.lossy--
	}
	if r.spares == spareGroups || cap(g.links) > spareLinks {
		return
	}
	clear(g.links)
	*g = group{links: g.links[:0], next: r.spare}
	r.spare = g
	r.spares++
}

// link puts g at the newest end of the list, and unlink takes it out.
func (r *reassembler) link(g *group) {
	g.prev, g.next = r.newest, nil
	if r.newest != nil {
		r.newest.next = g
	} else {
		r.oldest = g
	}
	r.newest = g
}

func (r *reassembler) unlink(g *group) {
	if g.prev != nil {
		g.prev.next = g.next
	} else {
		r.oldest = g.next
	}
	if g.next != nil {
		g.next.prev = g.prev
	} else {
		r.newest = g.prev
	}
}

// touch moves g, which made progress, to the newest end.
func (r *reassembler) touch(g *group) {
	if r.newest != g {
		r.unlink(g)
		r.link(g)
	}
}

// partCharge is what a fragment is charged: the buffer that it is about to take, of which it is a quarter at least (see
// settle), or the smallest buffer if it lies in none.
func partCharge(ref pool.Ref) int {
	switch n := len(ref.Data); {
	case ref.Buf == nil:
		return max(n, pool.ClassSmall)
	case isLoose(ref):
		return pool.Fit(n) + pool.Overhead
	}
	return ref.Pinned()
}

// need is the memory that the whole message may take if no fragment is charged more than partSize.
func (g *group) need(partSize int) int {
	links := (int(g.count) + pool.RefsLen - 1) / pool.RefsLen
	return groupOverhead + links*linkOverhead + int(g.count)*partSize
}

// has reports whether fragment i is there. Fragments are never empty.
func (g *group) has(i uint32) bool {
	l := int(i / pool.RefsLen)
	return l < len(g.links) && g.links[l] != nil && g.links[l].R[i%pool.RefsLen].Data != nil
}

// put stores fragment i, which is not there yet.
func (g *group) put(i uint32, ref pool.Ref) {
	l := int(i / pool.RefsLen)
	for l >= len(g.links) {
		g.links = append(g.links, nil)
	}
	if g.links[l] == nil {
		g.links[l] = pool.GetRefs()
	}
	g.links[l].R[i%pool.RefsLen] = ref
	g.size += len(ref.Data)
	g.kept += ref.Pinned()
	g.got++
}

// finish makes the message of a complete group.
func (g *group) finish() Delivery {
	for i := range len(g.links) - 1 {
		g.links[i].Next = g.links[i+1]
	}
	g.links[0].Size, g.links[0].Kept = g.size, g.kept+len(g.links)*linkOverhead
	return Delivery{Reliability: g.rel, Channel: g.channel, parts: g.links[0]}
}
