//go:build !linux

package udp

import "math/rand/v2"

// injectFaults has nothing between a socket and the system to break.
func injectFaults(Socket, *rand.Rand) bool { return false }
