package hostile

import "testing"

// Story is what happens to a machine that nobody harms, step by step. It may have no
// other input, so that it always goes the same way.
type Story interface {
	// Begin makes a fresh machine, and End lets go of it.
	Begin()
	// Step is the next thing that happens to it: a datagram comes or leaves, time passes.
	Step(i int)
	// State is a fingerprint of it.
	State() uint64
	End()
}

// Bystander is a machine beside those that damaged vectors are played against. Its story
// was told before any of them was there; beside them it must go the same way.
type Bystander struct {
	t     testing.TB
	story Story
	calm  []uint64 // its state before each step, and after the last
	at    int
	told  int // stories
}

// NewBystander tells a story of so many steps with nobody there and begins it anew. End must follow.
func NewBystander(t testing.TB, story Story, steps int) *Bystander {
	b := &Bystander{t: t, story: story}
	story.Begin()
	for i := range steps {
		b.calm = append(b.calm, story.State())
		story.Step(i)
	}
	b.calm = append(b.calm, story.State())
	story.End()
	story.Begin()
	return b
}

// Look checks that nothing has changed since the last look, and tells one step more.
func (b *Bystander) Look() {
	b.t.Helper()
	if b.story.State() != b.calm[b.at] {
		b.t.Fatalf("a bystander has changed, before step %d of its story", b.at)
	}
	b.story.Step(b.at)
	b.at++
	if b.story.State() != b.calm[b.at] {
		b.t.Fatalf("step %d of a bystander's story went another way than before", b.at-1)
	}
	if b.at == len(b.calm)-1 {
		b.story.End()
		b.story.Begin()
		b.at = 0
		b.told++
	}
}

// End looks once more, ends the story and returns how many steps were told.
func (b *Bystander) End() (steps int) {
	b.t.Helper()
	b.Look()
	b.story.End()
	return b.told*(len(b.calm)-1) + b.at
}
