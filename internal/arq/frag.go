package arq

import (
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Fragments is a large message already cut and copied into the buffers that will
// leave as datagrams. Making it needs no lock on the engine; Engine.Send takes it.
type Fragments struct {
	bufs []*pool.Buffer
	size int
	mtu  int
	mode protocol.Reliability // as on the wire
}

// MaxFrame returns the largest payload that goes in one frame at an MTU. It is the
// same for every mode, as in the original engine.
func MaxFrame(mtu int) int { return mtu - protocol.FragmentOverhead }

// Cut copies a payload larger than MaxFrame(mtu) into datagram buffers, for a
// message of mode r. The mode changes to a reliable one as Reliability.Split says.
func Cut(payload []byte, mtu int, r protocol.Reliability) *Fragments {
	mode := r.Split().Wire()
	per := MaxFrame(mtu)
	if mtu == WideMTU {
		// Of one length, nearly: the system takes those as one. Others may count on fragments that are full.
		parts := (len(payload) + per - 1) / per
		per = (len(payload) + parts - 1) / parts
	}
	at := wire.DatagramHeaderSize + wire.FrameHeaderSize(mode, true)
	f := &Fragments{bufs: make([]*pool.Buffer, 0, (len(payload)+per-1)/per), size: len(payload), mtu: mtu, mode: mode}
	for len(payload) > 0 {
		b := pool.Get(min(mtu, max(pool.ClassDatagram, at+len(payload))))
		n := copy(b.B[at:min(at+per, len(b.B))], payload)
		b.N = at + n
		payload = payload[n:]
		f.bufs = append(f.bufs, b)
	}
	return f
}

// Release returns the buffers of fragments that were never sent.
func (f *Fragments) Release() {
	for _, b := range f.bufs {
		b.Release()
	}
	f.bufs = nil
}
