package forge

import (
	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Vectors returns an attack for each vector of testdata/hostile.json that a peer of a server can
// play: its datagrams over and over, with the numbers that are next each time.
func Vectors() ([]Peer, error) {
	all, err := hostile.Load(hostile.ServerConnected)
	if err != nil {
		return nil, err
	}
	var list []Peer
	for _, v := range all {
		list = append(list, Peer{Name: v.ID, What: v.Why, Half: v.State == "handshaking", Make: player(&v)})
	}
	return list, nil
}

// player plays a vector's datagrams in turn.
func player(v *hostile.Vector) func(l *Link, i uint64, dst []byte) []byte {
	base := vectorBase(v.State)
	datagrams := v.Datagrams
	return func(l *Link, i uint64, dst []byte) []byte {
		k := i % uint64(len(datagrams))
		start := len(dst)
		dst = append(dst, datagrams[k]...)
		renumber(dst[start:], datagrams[k], l, base)
		if k == uint64(len(datagrams))-1 {
			n := uint32(len(datagrams))
			l.Number, l.Reliable, l.Order = (l.Number+n)&wire.Mask24, (l.Reliable+n)&wire.Mask24, (l.Order+n)&wire.Mask24
		}
		return dst
	}
}

// vectorBase is the number that is next in the state that a vector asks for.
func vectorBase(state string) uint32 {
	switch state {
	case "handshaking":
		return 0
	case "next datagram fffffe, reliable fffffe, order fffffe":
		return 0xfffffe
	}
	return 2
}

// renumber moves the numbers in b, which is a copy of a vector's datagram, from where
// they begin in the file to where the connection is.
func renumber(b, vector []byte, l *Link, base uint32) {
	if wire.Classify(vector) != wire.KindFrameSet {
		return
	}
	move := func(at int, to uint32) {
		if len(b) >= at+3 {
			wire.PutUint24(b[at:], wire.Uint24(b[at:])+to-base)
		}
	}
	move(1, l.Number)
	at := wire.DatagramHeaderSize
	for at < len(vector) {
		var f wire.Frame
		size, err := f.Parse(vector[at:])
		if err != nil {
			return
		}
		next := at + 3
		if f.Reliability.IsReliable() {
			move(next, l.Reliable)
			next += 3
		}
		if f.Reliability == protocol.ReliableOrdered {
			move(next, l.Order)
		}
		at += size
	}
}
