package raknet

import "github.com/raknet-go/raknet/internal/udp"

// Offload says how much of the work on datagrams is left to the system at once. The zero
// value is right unless a driver of a network card is broken. It concerns UDP sockets only;
// what any other net.PacketConn offers is used one datagram at a time.
type Offload uint8

const (
	// OffloadAuto is the most that works here. On Linux many datagrams move with one system
	// call, and a run of them to or from one peer passes through the system as one (GSO and
	// GRO); where that turns out not to work it is given up without loss. An operator can
	// switch either off with RAKNET_DISABLE_GSO=1 and RAKNET_DISABLE_GRO=1 in the environment:
	// a sign that this may help is a path that loses much only while much is sent.
	OffloadAuto Offload = iota
	// OffloadBatch is many datagrams with one system call, each on its own, where the
	// system can do that: Linux.
	OffloadBatch
	// OffloadNone is a system call for each datagram, as on other systems than Linux.
	OffloadNone
)

func (o Offload) options() udp.Options {
	switch o {
	case OffloadBatch:
		return udp.Options{Path: udp.Batch}
	case OffloadNone:
		return udp.Options{Path: udp.Single}
	}
	return udp.Options{}
}
