package udp

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/pool"
)

// Peer is the far end of a datagram. AddrPort identifies it: two peers of one socket
// are the same if and only if their AddrPorts are equal. IPv4 addresses are never in
// their IPv6-mapped form. See PeerOf for addresses that have no AddrPort of their own.
type Peer struct {
	AddrPort netip.AddrPort
	// Addr is the address to hand to the carrier. It is nil on UDP sockets, which
	// need nothing but AddrPort, and set by every other carrier.
	Addr net.Addr
}

// Inbound is a place for a received datagram and what is known about it.
type Inbound struct {
	// Buf holds the bytes, from Buf.B[0] on. After a call that returned the entry it is the
	// caller's, who may take it away, and must where somebody else kept a reference. A buffer
	// that is left here is the socket's to use again, or to release; Release lets go of
	// whatever entries hold.
	Buf *pool.Buffer
	// N is the number of bytes received; zero is a valid length.
	N int
	// Segment is zero if the buffer holds one datagram. Otherwise it holds several
	// from one peer, each Segment bytes long except for the last, which may be shorter.
	Segment int
	// From is the sender.
	From Peer
	// Local is the address of this machine that the datagram was sent to, or the zero
	// Addr where the socket has only one or cannot tell.
	Local netip.Addr

	// Buffers that wait to be filled: one of pool.ClassRead, and a larger one for what
	// does not fit it, of one class for all entries of a socket.
	small, big *pool.Buffer
}

// Bytes returns the received bytes, which live in Buf.
func (in *Inbound) Bytes() []byte { return in.Buf.B[:in.N] }

// Release lets go of all buffers in the entries.
func Release(in []Inbound) {
	for i := range in {
		for _, b := range [...]**pool.Buffer{&in[i].Buf, &in[i].small, &in[i].big} {
			if *b != nil {
				(*b).Release()
				*b = nil
			}
		}
	}
}

// Outbound is a datagram to send. The bytes are only read, and not after the call.
type Outbound struct {
	Data []byte
	// To is the destination. A connected socket ignores it.
	To Peer
	// Local is the address of this machine to send from, as it came in Inbound.Local.
	// The zero Addr lets the system choose.
	Local netip.Addr
	// Probe forbids every router, and this machine, to fragment the datagram, where the
	// system offers that. It then vanishes on a path it does not fit, or fails with an
	// error for which IsTooLarge holds.
	Probe bool
}

// Socket sends and receives datagrams in batches. One goroutine at a time may call
// ReadBatch, one at a time WriteBatch; both at once, and everything else from any
// goroutine, is fine.
type Socket interface {
	// ReadBatch waits for a datagram and returns it with whatever others had already
	// arrived, at most len(in), which must not be 0. The count is zero if and only if the error is not nil.
	// The socket finds the buffers, and as few as it can while there is nothing to read.
	// Datagrams that did not fit their buffer, and those from port 0, which cannot be
	// answered, are dropped without a word. (Where the system does not tell of a
	// truncated datagram, one that fills the buffer counts as such.)
	//
	// After an error for which IsTransient holds, the next call may work. A passed
	// deadline gives os.ErrDeadlineExceeded, Close an error for which IsClosed holds.
	ReadBatch(in []Inbound) (int, error)
	// WriteBatch sends out in order and returns how many the system took. The count is
	// less than len(out) if and only if the error is not nil; the error is then about
	// out[n], and the caller may go on with out[n+1:]. It blocks while the system's
	// send buffer is full; Close ends that.
	WriteBatch(out []Outbound) (int, error)
	// LocalAddr returns the address the socket is bound to.
	LocalAddr() net.Addr
	// RemotePeer returns the only peer of a connected socket, and whether it is one.
	RemotePeer() (Peer, bool)
	// SetReadDeadline makes ReadBatch fail from t on, also one that is waiting. The zero
	// Time takes the deadline away.
	SetReadDeadline(t time.Time) error
	// Close ends waiting calls and frees the socket, with the PacketConn or Conn below it.
	Close() error
	// Buffers returns the sizes of the system's receive and send buffers in bytes, in the
	// measure in which one asks for them; zero where that is not known.
	Buffers() (recv, send int)
	// Overflows returns how many datagrams the system dropped because its receive buffer
	// was full, as of the last datagram that it had room for; zero where it does not tell.
	Overflows() uint64
}

// Poller is a Socket whose reader may look whether something has come instead of waiting for it.
type Poller interface {
	Socket
	// Poll is ReadBatch without the wait: the count may be zero without an error.
	Poll(in []Inbound) (int, error)
	// More reports whether the last ReadBatch or Poll got as much as it had room for, so that
	// there may be more. It is the reader's.
	More() bool
	// Glance is ReadBatch with a wait of d at most. The count may be zero without an error. Where that would
	// take more than a system call it does not wait at all.
	Glance(in []Inbound, d time.Duration) (int, error)
	// Wakeful reports whether a wait is a system call and no more, as it is while datagrams
	// come one soon after the other. It is the reader's.
	Wakeful() bool
	// Alone tells whether there is a single peer, whom one knows, so that ReadBatch may keep a processor busy for
	// some exchanges of datagrams in the hope of the answer. It is the reader's.
	Alone(only bool)
	// Nap returns after a time of less than a millisecond, which passes exactly but for some
	// 60 us. Other goroutines may have to wait meanwhile.
	Nap(d time.Duration)
	// Silence tells that until it is called with false nobody waits in ReadBatch, so that
	// datagrams need wake nobody.
	Silence(on bool)
}

// Longest returns how long a datagram may be that s receives.
func Longest(s Socket) int {
	if l, ok := s.(interface{ Longest() int }); ok {
		return l.Longest()
	}
	return pool.ClassRead
}

// ErrAddress is returned by WriteBatch for a destination that this socket cannot have:
// none, port 0, or IPv6 on an IPv4 socket. IsTransient holds for it.
var ErrAddress = errors.New("destination address does not suit the socket")

// Listen opens a UDP socket bound to address, "host:port". An empty host means every
// address of the machine, of IPv4 and IPv6 through one socket where the system can.
func Listen(address string, o Options) (Socket, error) {
	pc, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, err
	}
	return calm(Wrap(pc, o)), nil
}

// maxSockets bounds the sockets of one address. Each brings buffers of its own, in the system
// and here, and beyond the number of processors no speed.
const maxSockets = 64

// ListenSeveral opens up to n sockets bound to one address, of which the system gives every
// peer one for good, so that as many readers can share the work. Where it cannot do that
// there is one. It allows other programs of the same user to bind to the address as well.
func ListenSeveral(address string, n int, o Options) ([]Socket, error) {
	if n > 1 {
		return listenSeveral(address, min(n, maxSockets), o)
	}
	s, err := Listen(address, o)
	if err != nil {
		return nil, err
	}
	return []Socket{s}, nil
}

// Wrap returns a Socket on top of pc, which belongs to the Socket from then on. A
// *net.UDPConn gets the fast path of the system and larger buffers.
func Wrap(pc net.PacketConn, o Options) Socket {
	o = o.settled()
	c, ok := pc.(*net.UDPConn)
	if !ok {
		return newPacketConn(pc)
	}
	if o.Path != Plain {
		return newUDP(c, o)
	}
	if _, connected := remotePeer(c); connected {
		return newConn(c) // which knows the peer, and does not name it to the system
	}
	return newPacketConn(c)
}

// WrapConn returns a Socket on top of c, which sends and receives one datagram per Write
// and Read and belongs to the Socket from then on. A *net.UDPConn gets the fast path.
func WrapConn(c net.Conn, o Options) Socket {
	o = o.settled()
	if u, ok := c.(*net.UDPConn); ok && o.Path != Plain {
		return newUDP(u, o)
	}
	return newConn(c)
}

// Dial opens a UDP socket connected to an address: so the system tells when nobody listens there.
func Dial(to netip.AddrPort, o Options) (Socket, error) {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, err
	}
	return calmDialed(WrapConn(c, o)), nil
}

// reclaim makes Buf a buffer to be filled again, unless somebody keeps it.
func (in *Inbound) reclaim() {
	b := in.Buf
	if b == nil {
		return
	}
	in.Buf = nil
	switch {
	case b.Shared():
		b.Release()
	case in.small == nil && len(b.B) == pool.ClassRead:
		in.small = b
	case in.big == nil && len(b.B) > pool.ClassRead:
		in.big = b
	default:
		b.Release()
	}
}

// buffer returns room for one datagram.
func (in *Inbound) buffer() []byte {
	in.reclaim()
	if in.small == nil {
		in.small = pool.Get(pool.ClassRead)
	}
	return in.small.B
}

// received notes a datagram of n bytes in that room.
func (in *Inbound) received(n int, from Peer, local netip.Addr) {
	in.Buf, in.small = in.small, nil
	in.Buf.N = n
	in.N, in.Segment, in.From, in.Local = n, 0, from, local
}
