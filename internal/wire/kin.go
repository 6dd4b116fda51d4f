package wire

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Kin is what peers of this library tell each other in 0x10 and 0x13: that they are such. The zero value: the peer is
// another implementation.
//
// It is the last of the internal addresses, which every implementation reads past: one of 240.0.0.0/4,
// which no machine has (RFC 1112), with Patience for its port. Server and client have different ones, so
// that a peer that copies the other's addresses is not taken for one.
type Kin struct {
	// Patience is how long they bear silence, in units of KinUnit, KinForever for those who always do. Never zero.
	Patience uint16
	// Wide says that the peer sees the other at a loopback address and can receive datagrams that are longer than any
	// path through a network takes.
	Wide bool
}

const (
	// KinForever is the Patience of a peer that is never impatient.
	KinForever = 0xffff
	// KinUnit is the unit of all others.
	KinUnit = 100 * time.Millisecond
)

// kinNet is the beginning of the address, and kinServer and kinClient its end in 0x10 and in 0x13. kinWide is added to it for Kin.Wide.
const (
	kinNet0, kinNet1, kinNet2 byte = 240, 'r', 'n'

	kinServer byte = 1
	kinClient byte = 2
	kinWide   byte = 2
)

// appendInternal appends n internal addresses: unassigned ones, and k, if there is one, with the given end.
func appendInternal(dst []byte, n int, end byte, k Kin) []byte {
	if n == 0 || k.Patience == 0 {
		return appendUnassigned(dst, n)
	}
	if k.Wide {
		end += kinWide
	}
	return AppendAddr(appendUnassigned(dst, n-1), netip.AddrPortFrom(netip.AddrFrom4([4]byte{kinNet0, kinNet1, kinNet2, end}), k.Patience))
}

// parseKin returns what the last of the internal addresses in b says, if it has the given end.
func parseKin(b []byte, end byte) Kin {
	if len(b) < addrSize4 {
		return Kin{}
	}
	b = b[len(b)-addrSize4:]
	if b[0] != addrVersion4 || ^b[1] != kinNet0 || ^b[2] != kinNet1 || ^b[3] != kinNet2 || ^b[4] != end && ^b[4] != end+kinWide {
		return Kin{}
	}
	k := Kin{Patience: binary.BigEndian.Uint16(b[5:]), Wide: ^b[4] != end}
	if k.Patience == 0 {
		return Kin{}
	}
	return k
}
