package bound

import (
	"encoding/binary"
	"net"
)

// Receiver is the server's end, of one client.
type Receiver struct {
	c    carrier
	addr net.Addr
	bare bool

	batch    [][]byte // that arrived and were not looked at
	rest     []byte   // frames of the datagram that is being looked at
	expected uint32
	held     map[uint32][]byte // datagrams that came early
	ack      []byte

	order    uint32
	reliable uint32
	seen     [1 << 10]uint64 // reliable numbers, of late
	splits   map[uint16]*assembly
	free     []*assembly
	done     *assembly // what the last call returned
}

// assembly is a message of which fragments arrive.
type assembly struct {
	b     [maxMessage]byte
	n     int
	parts uint32
}

// Listen opens a server's end.
func Listen(way Way, bare bool) (*Receiver, error) {
	c, addr, err := open(way, "")
	if err != nil {
		return nil, err
	}
	return &Receiver{c: c, addr: addr, bare: bare, held: map[uint32][]byte{}, splits: map[uint16]*assembly{}}, nil
}

// Address is where it listens.
func (r *Receiver) Address() string { return r.addr.String() }

// Receive returns the next message. It is good until the next call.
func (r *Receiver) Receive() ([]byte, error) {
	if r.done != nil {
		r.free = append(r.free, r.done)
		r.done = nil
	}
	for {
		for len(r.rest) > 0 {
			m, err := r.frame()
			if m != nil || err != nil {
				return m, err
			}
		}
		if err := r.datagram(); err != nil {
			return nil, err
		}
		if r.bare {
			m := r.rest
			r.rest = nil
			return m, nil
		}
	}
}

// datagram makes the next datagram the one that is looked at.
func (r *Receiver) datagram() error {
	for {
		if len(r.held) > 0 {
			if d, ok := r.held[r.expected]; ok {
				delete(r.held, r.expected)
				r.expected++
				r.rest = d[datagramHeader:]
				return nil
			}
		}
		if len(r.batch) == 0 {
			if err := r.fill(); err != nil {
				return err
			}
		}
		d := r.batch[0]
		r.batch = r.batch[1:]
		number := near(r.expected, get24(d[1:]))
		if number == r.expected {
			r.expected++
			r.rest = d[datagramHeader:]
			return nil
		}
		if int32(number-r.expected) > 0 {
			r.held[number] = append([]byte(nil), d...)
			if len(r.held) > window {
				return errLost
			}
		}
	}
}

// fill waits for datagrams and acknowledges them.
func (r *Receiver) fill() error {
	list, err := r.c.receive()
	if err != nil {
		return err
	}
	r.batch = list
	b := append(r.ack[:0], 0xc0, 0, 0)
	records := 0
	for i := 0; i < len(list); {
		first := get24(list[i][1:])
		last := first
		for i++; i < len(list) && get24(list[i][1:]) == (last+1)&mask24; i++ {
			last = (last + 1) & mask24
		}
		b = append(b, 0, 0, 0, 0, 0, 0, 0)
		put24(b[len(b)-6:], first)
		put24(b[len(b)-3:], last)
		records++
	}
	binary.BigEndian.PutUint16(b[1:], uint16(records))
	r.ack = b
	return r.c.send(b, len(b))
}

// frame reads a frame and returns the message that it completes, if any.
func (r *Receiver) frame() ([]byte, error) {
	h := r.rest
	if len(h) < frameHeader || h[0]&^splitFlag != mode {
		return nil, errFrame
	}
	split := h[0]&splitFlag != 0
	n := int(binary.BigEndian.Uint16(h[1:])+7) / 8
	header := frameHeader
	if split {
		header += splitHeader
	}
	if len(h) < header+n {
		return nil, errFrame
	}
	part := h[header : header+n : header+n]
	r.rest = h[header+n:]
	reliable, order := near(r.reliable, get24(h[3:])), near(r.order, get24(h[6:]))
	if r.duplicate(reliable) {
		return nil, errFrame
	}
	if !split {
		if order != r.order {
			return nil, errFrame
		}
		r.order++
		return part, nil
	}
	count, id, index := binary.BigEndian.Uint32(h[10:]), binary.BigEndian.Uint16(h[14:]), binary.BigEndian.Uint32(h[16:])
	a := r.splits[id]
	if a == nil {
		a = r.assembly()
		r.splits[id] = a
	}
	at := int(index) * chunk
	if at+n > len(a.b) || index >= count {
		return nil, errFrame
	}
	copy(a.b[at:], part)
	a.n += n
	a.parts++
	if a.parts < count {
		return nil, nil
	}
	delete(r.splits, id)
	if order != r.order {
		return nil, errFrame
	}
	r.order++
	r.done = a
	return a.b[:a.n], nil
}

// duplicate notes a reliable number, and reports whether it came before.
func (r *Receiver) duplicate(number uint32) bool {
	word, bit := &r.seen[number>>6%uint32(len(r.seen))], uint64(1)<<(number&63)
	if number >= r.reliable {
		for n := (r.reliable + 63) &^ 63; int32(number-n) >= 0; n += 64 {
			r.seen[n>>6%uint32(len(r.seen))] = 0 // what it held is long past
		}
		r.reliable = number + 1
	}
	if *word&bit != 0 {
		return true
	}
	*word |= bit
	return false
}

func (r *Receiver) assembly() *assembly {
	if n := len(r.free); n > 0 {
		a := r.free[n-1]
		r.free = r.free[:n-1]
		a.n, a.parts = 0, 0
		return a
	}
	return new(assembly)
}

// Send is for the other end.
func (r *Receiver) Send([]byte) error { return errWay }

// Flush has nothing to do.
func (r *Receiver) Flush() error { return nil }

// Note has nothing to tell.
func (r *Receiver) Note() string { return "" }

// Close frees the socket.
func (r *Receiver) Close() error { return r.c.Close() }
