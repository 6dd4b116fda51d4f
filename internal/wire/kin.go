package wire

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Kin is what peers of this library tell each other in 0x10 and 0x13: that they are such, and how long they bear
// silence, in units of KinUnit, KinForever for those who always do. Zero: the peer is another implementation.
//
// It is the last of the internal addresses, which every implementation reads past: one of 240.0.0.0/4,
// which no machine has (RFC 1112), with Kin for its port. Server and client have different ones, so
// that a peer that copies the other's addresses is not taken for one.
type Kin uint16

const (
	// KinForever is the Kin of a peer that is never impatient.
	KinForever Kin = 0xffff
	// KinUnit is the unit of all others.
	KinUnit = 100 * time.Millisecond
)

// kinServer and kinClient are the addresses, in 0x10 and in 0x13.
var (
	kinServer = netip.AddrFrom4([4]byte{240, 'r', 'n', 1})
	kinClient = netip.AddrFrom4([4]byte{240, 'r', 'n', 2})
)

// appendInternal appends n internal addresses: unassigned ones, and k, if there is one, with the given address.
func appendInternal(dst []byte, n int, addr netip.Addr, k Kin) []byte {
	if n == 0 || k == 0 {
		return appendUnassigned(dst, n)
	}
	return AppendAddr(appendUnassigned(dst, n-1), netip.AddrPortFrom(addr, uint16(k)))
}

// parseKin returns what the last of the internal addresses in b says, if it is the given one.
func parseKin(b []byte, addr netip.Addr) Kin {
	if len(b) < addrSize4 {
		return 0
	}
	b = b[len(b)-addrSize4:]
	a := addr.As4()
	if b[0] != addrVersion4 || b[1] != ^a[0] || b[2] != ^a[1] || b[3] != ^a[2] || b[4] != ^a[3] {
		return 0
	}
	return Kin(binary.BigEndian.Uint16(b[5:]))
}
