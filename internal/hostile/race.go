//go:build race

package hostile

// raceEnabled: the race detector finds nothing in what one goroutine does alone, and takes
// ten times as long, so that a much smaller sample is enough.
const raceEnabled = true
