package bound

import (
	"encoding/binary"
	"fmt"
)

// slab is a buffer of datagrams, one behind the other.
type slab struct {
	b     [1 << 16]byte
	n     int   // bytes
	open  int   // where the last datagram begins, n if it is full
	sizes []int // of the datagrams before the open one
	last  uint32
}

func (s *slab) reset() { s.n, s.open, s.sizes = 0, 0, s.sizes[:0] }

// room makes sure that n bytes fit in the open datagram, or opens another.
func (s *slab) room(n int) {
	if s.n > s.open && s.n-s.open+n > payload {
		s.shut()
	}
	if s.n == s.open {
		s.b[s.n] = 0x84
		s.n += datagramHeader
	}
}

func (s *slab) shut() {
	if s.n > s.open {
		s.sizes = append(s.sizes, s.n-s.open)
		s.open = s.n
	}
}

// full reports whether another datagram might be more than one call sends.
func (s *slab) full() bool { return s.n+payload > most || len(s.sizes) >= segments }

// Sender is the client's end.
type Sender struct {
	c    carrier
	bare bool

	// Fragments that fill a datagram, and everything else: runs must be of one size.
	filled, mixed *slab
	free, flight  []*slab

	number, reliable, order uint32
	split                   uint16
	base                    uint32 // every datagram before it is acknowledged
	acked                   [2 * window]bool
}

// Dial opens a client's end to a server. One that is bare does not frame messages, which
// then are datagrams.
func Dial(way Way, address string, bare bool) (*Sender, error) {
	c, _, err := open(way, address)
	if err != nil {
		return nil, err
	}
	s := &Sender{c: c, bare: bare}
	s.filled, s.mixed = s.slab(), s.slab()
	return s, nil
}

func (s *Sender) slab() *slab {
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		b.reset()
		return b
	}
	return new(slab)
}

// Send takes a message.
func (s *Sender) Send(m []byte) error {
	if s.bare {
		return s.datagram(m)
	}
	count := (len(m) + chunk - 1) / chunk
	if frameHeader+len(m) <= payload-datagramHeader {
		s.frame(s.mixed, m, 0, 1)
	} else {
		for i := range count - 1 {
			s.frame(s.filled, m[i*chunk:(i+1)*chunk], i, count)
			if s.filled.full() {
				if err := s.Flush(); err != nil {
					return err
				}
			}
		}
		// The last one goes with the small ones, so that messages become complete in order.
		s.frame(s.mixed, m[(count-1)*chunk:], count-1, count)
		s.split++
	}
	s.order++
	if s.mixed.full() {
		return s.Flush()
	}
	return nil
}

// datagram takes a message that is a datagram.
func (s *Sender) datagram(m []byte) error {
	b := s.mixed
	if len(m) > payload-datagramHeader {
		return fmt.Errorf("a datagram of %d bytes is too large", len(m))
	}
	b.shut()
	b.room(len(m))
	b.n += copy(b.b[b.n:], m)
	if b.full() {
		return s.Flush()
	}
	return nil
}

// frame appends a frame.
func (s *Sender) frame(to *slab, part []byte, index, count int) {
	n := frameHeader
	if count > 1 {
		n += splitHeader
	}
	to.room(n + len(part))
	h := to.b[to.n : to.n+n]
	h[0] = mode
	binary.BigEndian.PutUint16(h[1:], uint16(len(part)*8))
	put24(h[3:], s.reliable)
	s.reliable++
	put24(h[6:], s.order)
	h[9] = 0
	if count > 1 {
		h[0] |= splitFlag
		binary.BigEndian.PutUint32(h[10:], uint32(count))
		binary.BigEndian.PutUint16(h[14:], s.split)
		binary.BigEndian.PutUint32(h[16:], uint32(index))
	}
	to.n += n
	to.n += copy(to.b[to.n:], part)
}

// Flush sends what was gathered.
func (s *Sender) Flush() error {
	for _, which := range [...]**slab{&s.filled, &s.mixed} {
		b := *which
		b.shut()
		if len(b.sizes) == 0 {
			continue
		}
		if err := s.leave(b); err != nil {
			return err
		}
		s.flight = append(s.flight, b)
		*which = s.slab()
	}
	return nil
}

// leave sends a slab.
func (s *Sender) leave(b *slab) error {
	if err := s.wait(len(b.sizes)); err != nil {
		return err
	}
	at := 0
	for _, size := range b.sizes {
		put24(b.b[at+1:], s.number)
		s.number++
		at += size
	}
	b.last = s.number - 1
	at = 0
	for sizes := b.sizes; len(sizes) > 0; {
		// A run ends before a datagram that is longer, and after one that is shorter.
		n, end := 1, at+sizes[0]
		for n < len(sizes) && sizes[n-1] == sizes[0] && sizes[n] <= sizes[0] {
			end += sizes[n]
			n++
		}
		if err := s.c.send(b.b[at:end], sizes[0]); err != nil {
			return err
		}
		at, sizes = end, sizes[n:]
	}
	return nil
}

// wait reads acknowledgements until there is room for n more datagrams. Once the window was
// full it waits for half of it, so that both ends do much at a time.
func (s *Sender) wait(n int) error {
	if int(s.number-s.base)+n <= window {
		return nil
	}
	return s.drain(window / 2)
}

// drain reads acknowledgements until no more than so many datagrams are in flight.
func (s *Sender) drain(most int) error {
	for int(s.number-s.base) > most {
		list, err := s.c.receive()
		if err != nil {
			return err
		}
		for _, ack := range list {
			s.acknowledged(ack)
		}
	}
	for len(s.flight) > 0 && int32(s.flight[0].last-s.base) < 0 {
		s.free = append(s.free, s.flight[0])
		s.flight = append(s.flight[:0], s.flight[1:]...)
	}
	return nil
}

func (s *Sender) acknowledged(ack []byte) {
	for records := ack[3:]; len(records) >= 7; records = records[7:] {
		first, last := near(s.base, get24(records[1:])), near(s.base, get24(records[4:]))
		for n := first; n != last+1; n++ {
			s.acked[n%uint32(len(s.acked))] = true
		}
	}
	for s.base != s.number && s.acked[s.base%uint32(len(s.acked))] {
		s.acked[s.base%uint32(len(s.acked))] = false
		s.base++
	}
}

// Receive is for the other end.
func (s *Sender) Receive() ([]byte, error) { return nil, errWay }

// Note has nothing to tell.
func (s *Sender) Note() string { return "" }

// Close frees the socket.
func (s *Sender) Close() error { return s.c.Close() }
