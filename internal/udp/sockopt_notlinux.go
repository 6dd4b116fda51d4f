//go:build !linux

package udp

// bufferUnit is by how much the system overstates buffer sizes: not at all.
const bufferUnit = 1

// forceReceiveBuffer has nothing to offer here.
func forceReceiveBuffer(uintptr, int) bool { return false }
