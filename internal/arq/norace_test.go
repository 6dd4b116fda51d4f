//go:build !race

package arq

const raceEnabled = false
