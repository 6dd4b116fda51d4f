package hostile

import (
	"slices"
	"testing"
)

// Instant is a test for the helpers that make a subject: what they register with Cleanup is
// done at Finish, and not at the end of the test, for which a million of them would wait in
// memory. Nor does it find out who called whom, which would take more time than the play.
type Instant struct {
	testing.TB
	cleanups []func()
}

// Helper does nothing.
func (i *Instant) Helper() {}

// Cleanup registers what Finish will do.
func (i *Instant) Cleanup(f func()) { i.cleanups = append(i.cleanups, f) }

// Finish does what was registered, the last first, and forgets it.
func (i *Instant) Finish() {
	for _, f := range slices.Backward(i.cleanups) {
		f()
	}
	i.cleanups = i.cleanups[:0]
}
