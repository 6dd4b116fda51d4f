//go:build unix && !linux && !darwin && !freebsd

package udp

// dfOptions is empty: no option of these systems forbids fragmentation on IPv4. A probe
// may then arrive in pieces.
var dfOptions []dfOption
