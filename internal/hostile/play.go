package hostile

import (
	"fmt"
	"runtime/metrics"
	"testing"
	"time"
)

// Subject is what damaged vectors are played against: one at a time.
type Subject interface {
	// Start makes a fresh subject in the state that the vector asks for.
	Start(v *Vector)
	// Receive plays one datagram, checks what holds after any, and reports whether the
	// subject took anything of it. What was dropped must have left no trace.
	Receive(d []byte) (took bool)
	// State is a fingerprint of the subject, but for what only counts.
	State() uint64
	// Finish lets some time pass and checks what must hold at the end.
	Finish()
	// Discard lets go of everything that the subject has, and checks that.
	Discard()
}

// Player plays vectors of which one datagram is damaged, in every way that its scope
// names: the datagrams before it as they are, then the damaged one, then those behind it.
//
// A subject has no memory but its state, so that what is played to two in the same state has
// the same consequences, and need be played once. The player knows the states along the vector as
// it is. When a damaged datagram was dropped, or when it left the state that the undamaged
// one leaves, the subject goes on to the next datagram and is given that one damaged. Of those
// that differ from then on, one of each state has the rest of the vector to itself.
type Player struct {
	T       testing.TB
	Subject Subject
	Scope   *Scope
	// Drops is how many dropped datagrams a subject bears, at least 1.
	Drops int
	// Between, unless nil, is called now and then while no subject lives, for what lives
	// beside them and must not notice.
	Between func()
	// Runs counts damaged datagrams, Apart those of them that led away from the vector's states,
	// and New the states that they led to.
	Runs, Apart, New int
	// Longest is the most time that one subject took, from its start to its end, and
	// Memory the most bytes that it had allocated. The runtime counts what is
	// smaller than 32 KiB late, so that some of it may be another's.
	Longest time.Duration
	Memory  uint64

	vectors  int
	vector   *Vector
	intact   []uint64 // states along the vector
	same     []int    // the first of them that each is equal to
	known    map[apart]struct{}
	scratch  [][]byte // copies of its datagrams
	damage   damage   // what was done last, to scratch
	playing  []byte   // what is being played, for reports
	live     bool
	at       int        // the subject is in state intact[at], if it is as it should be
	drops    int        // that it had
	unproven []damage   // of those, the ones since its state was compared
	later    [][]change // drops of subjects that were never compared after them, by datagram
	owed     int        // how many those are
	ended    int        // subjects
	bytes    int        // played to this subject
	began    time.Time
	memory   uint64
	sample   [1]metrics.Sample
}

// damage is a change to datagram k.
type damage struct {
	k int
	change
}

// apart is a state that the vector as it is does not lead to, after damage to datagram k.
type apart struct {
	k     int
	state uint64
}

const (
	// patience is how long a subject may live. Some microseconds are usual, and some
	// hundred milliseconds the most: only what never ends takes so long, however busy the machine.
	patience = time.Minute
	// memoryAtOnce and memoryEach bound what a subject allocates: so much in any case, with what the
	// runtime had not counted yet of earlier ones, and so much for each byte that it gets. A frame of
	// twenty bytes can be a fragment, for which a list of 64 is begun that takes 2 KiB.
	memoryAtOnce, memoryEach = 1 << 20, 128
	// between is after how many subjects Between is called. Arbitrary.
	between = 64
)

// Play damages every datagram of a vector.
func (p *Player) Play(v *Vector) {
	defer p.panicking()
	p.vectors++
	p.learn(v)
	longest, length := 0, 0
	for k, d := range v.Datagrams {
		length += len(d)
		if p.Scope.includes(k) {
			longest = max(longest, len(d))
		}
	}
	stride := p.Scope.stride(make([]byte, longest))
	for i := 0; i < longest; i += stride {
		if !p.Scope.mine() || p.Scope.spares(length, i) {
			continue
		}
		for _, x := range p.Scope.changes() {
			p.walk(change{i, x})
		}
	}
	p.end()
	p.settle()
}

// learn plays the vector as it is.
func (p *Player) learn(v *Vector) {
	p.vector, p.intact, p.scratch, p.same = v, p.intact[:0], p.scratch[:0], p.same[:0]
	p.later = append(p.later[:0], make([][]change, len(v.Datagrams))...)
	p.known, p.damage = map[apart]struct{}{}, damage{k: -1}
	first := map[uint64]int{}
	note := func() {
		state, k := p.state(), len(p.intact)
		if _, again := first[state]; !again {
			first[state] = k
		}
		p.intact, p.same = append(p.intact, state), append(p.same, first[state])
	}
	p.start()
	for k, d := range v.Datagrams {
		if k == 0 || p.Scope.includes(k) || p.Scope.includes(k-1) {
			note()
		}
		p.scratch = append(p.scratch, append([]byte(nil), d...))
		p.give(d)
	}
	if p.Scope.includes(len(v.Datagrams) - 1) {
		note()
	}
	p.Subject.Finish()
	p.discard()
}

// walk goes along the vector and damages the same byte of each datagram.
func (p *Player) walk(c change) {
	for k, d := range p.vector.Datagrams {
		if c.at >= len(d) || !p.Scope.includes(k) {
			continue
		}
		p.reach(k)
		p.Runs++
		if !p.receive(k, c) {
			p.unproven = append(p.unproven, damage{k, c})
			if p.drops++; p.drops == p.Drops {
				p.end()
			}
			continue
		}
		state := p.state()
		if state == p.intact[k+1] {
			p.unproven = p.unproven[:0]
			p.at = p.same[k+1]
			continue
		}
		p.Apart++
		if p.remember(apart{k, state}) {
			for _, d := range p.vector.Datagrams[k+1:] {
				p.give(d)
			}
			p.Subject.Finish()
		}
		p.discard()
		if p.owed >= p.Drops {
			p.settle()
		}
	}
}

// remember notes a state apart, and what is to be proven later; it reports whether the state is new.
func (p *Player) remember(a apart) bool {
	defer p.uncounted(p.allocated())
	for _, d := range p.unproven {
		p.later[d.k] = append(p.later[d.k], d.change)
	}
	p.owed += len(p.unproven)
	p.unproven = p.unproven[:0]
	if _, again := p.known[a]; again {
		return false
	}
	p.known[a] = struct{}{}
	p.New++
	return true
}

// reach brings the subject, or a new one, to the state before datagram k.
func (p *Player) reach(k int) {
	k = p.same[k]
	if p.live && p.at > k {
		p.end()
	}
	if !p.live {
		p.start()
	}
	for ; p.at < k; p.at++ {
		p.give(p.vector.Datagrams[p.at])
	}
}

// receive plays datagram k changed.
func (p *Player) receive(k int, c change) (took bool) {
	if before := p.damage; before.k >= 0 {
		p.scratch[before.k][before.at] = p.vector.Datagrams[before.k][before.at]
	}
	p.damage = damage{k, c}
	return p.give(c.apply(p.scratch[k], p.vector.Datagrams[k]))
}

func (p *Player) give(d []byte) (took bool) {
	p.playing = d
	p.bytes += len(d)
	return p.Subject.Receive(d)
}

func (p *Player) start() {
	p.began, p.memory, p.bytes = time.Now(), p.allocated(), 0
	p.Subject.Start(p.vector)
	p.live, p.at, p.drops, p.unproven = true, 0, 0, p.unproven[:0]
}

// end proves that what the subject dropped left nothing behind. What would become of it
// then is known.
func (p *Player) end() {
	if !p.live {
		return
	}
	if len(p.unproven) > 0 && p.state() != p.intact[p.at] {
		p.blame()
	}
	p.discard()
}

// discard ends a subject's life.
func (p *Player) discard() {
	p.Subject.Discard()
	p.live = false
	memory, took := p.allocated()-p.memory, time.Since(p.began)
	p.Memory, p.Longest = max(p.Memory, memory), max(p.Longest, took)
	switch {
	case took > patience:
		p.Fatalf("it took %v", took)
	case memory > uint64(memoryAtOnce+memoryEach*p.bytes):
		p.Fatalf("%d bytes made it allocate %d", p.bytes, memory)
	}
	if p.ended++; p.Between != nil && p.ended%between == 0 {
		p.Between()
	}
}

// settle plays again what was dropped by subjects that then took something, so that it
// was never seen whether they were still as before.
func (p *Player) settle() {
	if p.owed == 0 {
		return
	}
	for k, list := range p.later {
		for _, c := range list {
			p.reach(k)
			if p.receive(k, c) {
				p.Fatalf("was dropped once and taken another time")
			}
			p.unproven = append(p.unproven, damage{k, c})
			if p.drops++; p.drops == p.Drops {
				p.end()
			}
		}
		p.later[k] = list[:0]
	}
	p.owed = 0
	p.end()
}

// blame finds out which of the dropped datagrams left something behind.
func (p *Player) blame() {
	suspects := append([]damage(nil), p.unproven...)
	p.discard()
	for _, d := range suspects {
		p.reach(d.k)
		p.receive(d.k, d.change)
		if p.state() != p.intact[d.k] {
			p.Fatalf("was dropped, and left something behind")
		}
		p.discard()
	}
	p.Fatalf("of %d datagrams that were dropped none left anything behind, but all of them did", len(suspects))
}

func (p *Player) state() uint64 {
	defer p.uncounted(p.allocated())
	return p.Subject.State()
}

// uncounted takes what was allocated since, which was the player's own, off the subject's account.
func (p *Player) uncounted(since uint64) { p.memory += p.allocated() - since }

// allocated returns how much memory the process has asked for so far.
func (p *Player) allocated() uint64 {
	p.sample[0].Name = "/gc/heap/allocs:bytes"
	metrics.Read(p.sample[:])
	return p.sample[0].Value.Uint64()
}

// String tells what was played.
func (p *Player) String() string {
	return fmt.Sprintf("%d vectors, %d runs, %d of them into %d states of their own; a subject lived for %v and allocated %d KiB at most",
		p.vectors, p.Runs, p.Apart, p.New, p.Longest.Round(time.Microsecond), p.Memory>>10)
}

// Fatalf ends the test, naming what was played.
func (p *Player) Fatalf(format string, args ...any) {
	p.T.Helper()
	p.T.Fatalf("%s: %s", p.where(), fmt.Sprintf(format, args...))
}

func (p *Player) where() string {
	b, more := p.playing, ""
	if len(b) > 64 {
		b, more = b[:64], fmt.Sprintf(" and %d bytes more", len(b)-64)
	}
	which := "undamaged"
	if p.damage.k >= 0 {
		which = fmt.Sprintf("datagram %d damaged", p.damage.k)
	}
	return fmt.Sprintf("%s, %s, now %x%s", p.vector.ID, which, b, more)
}

// panicking adds to a panic what was played.
func (p *Player) panicking() {
	if r := recover(); r != nil {
		panic(fmt.Sprintf("%s: %v", p.where(), r))
	}
}
