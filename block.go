package raknet

import (
	"iter"
	"math"
	"net"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/udp"
)

// defaultBlock is how long Block blocks. As in go-raknet.
const defaultBlock = 10 * time.Second

// Block ignores every datagram from the address's IP for [ListenConfig].BlockDuration.
// Connections from there go on and die of silence; close them to end them sooner. See
// [Listener.BlockPrefix] for more than one address.
func (l *Listener) Block(addr net.Addr) { l.BlockFor(addr, l.blockFor) }

// BlockFor is [Listener.Block] for a time of its own. A time of zero or less does
// nothing.
func (l *Listener) BlockFor(addr net.Addr, duration time.Duration) {
	ip := udp.PeerOf(addr).AddrPort.Addr()
	if !ip.IsValid() {
		return
	}
	l.BlockPrefix(netip.PrefixFrom(ip.WithZone(""), ip.BitLen()), duration)
}

// BlockPrefix ignores every datagram from the addresses of a prefix for a time, such as
// [BlockForever]; what was said about exactly this prefix before is replaced. A time of zero or
// less does nothing, and neither does an invalid prefix. Networks in
// [ListenConfig].Exempt are heard all the same.
//
// The library itself never blocks anybody. Before the application does, it should ask itself
// what shows that the address is the sender's: that of a [Conn] is proven, unless
// [ListenConfig].DisableCookies is set, and those of pings and dropped datagrams are not, so
// that whoever forges them could have anybody blocked.
//
// At most 4096 prefixes are blocked. For one more, the one that would end soonest makes room.
func (l *Listener) BlockPrefix(prefix netip.Prefix, duration time.Duration) {
	if duration > 0 && prefix.IsValid() {
		l.ep.Block(prefix, duration)
	}
}

// BlockForever is a time that outlasts the listener.
const BlockForever = time.Duration(math.MaxInt64)

// Unblock ends the block of exactly this prefix, of a single address one of full length, and
// reports whether there was one.
func (l *Listener) Unblock(prefix netip.Prefix) bool { return l.ep.Unblock(prefix) }

// Blocked returns the prefixes that are blocked, in no order, and for how long yet. Those that
// come or go during the loop may be missed.
func (l *Listener) Blocked() iter.Seq2[netip.Prefix, time.Duration] {
	return func(yield func(netip.Prefix, time.Duration) bool) {
		for _, b := range l.ep.Blocked() {
			if !yield(b.Prefix, b.Left) {
				return
			}
		}
	}
}
