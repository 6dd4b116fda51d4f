//go:build race

package udp

// raceEnabled: the race detector makes sync.Pool forget at random, so tests that
// count allocations mean nothing under it.
const raceEnabled = true
