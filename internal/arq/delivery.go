package arq

import (
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

// Delivery is a complete message as it came: bytes that still live in the buffers
// they were received in. Whoever holds one must Release it once. The zero value is
// empty and may be released. Not safe for concurrent use, but a Delivery may be
// read and released by another goroutine than the one that runs the engine.
type Delivery struct {
	// Reliability is the mode as the wire carried it, so never one with a receipt.
	Reliability protocol.Reliability
	// Channel is the ordering channel; zero for modes without one.
	Channel uint8

	run   uint16     // messages that lie in ref, framed; 0: it is one, and not framed. See run.go
	whole uint16     // of a run: the bytes that it had at first
	ref   pool.Ref   // the message, when it came in one piece
	parts *pool.Refs // else its parts in order, none empty; parts.Size is their sum, parts.Kept what they take
}

// deliveryOverhead is what a message that waits costs beside its buffers, roughly: its place in a queue, which
// has grown to more than it needs, and what tells the place. A peer that sends messages of one byte must not get
// a thousand times the memory that its limit says.
const deliveryOverhead = 96

// newDelivery returns the message that lies in ref, and takes ownership of it.
func newDelivery(r protocol.Reliability, channel uint8, ref pool.Ref) Delivery {
	return Delivery{Reliability: r, Channel: channel, ref: ref}
}

// Len returns the length of the message in bytes.
func (d *Delivery) Len() int {
	if d.parts != nil {
		return d.parts.Size
	}
	return len(d.ref.Data)
}

// First returns the first byte of the message, its identifier, or 0 if it is empty.
func (d *Delivery) First() byte {
	b := d.ref.Data
	if d.parts != nil {
		b = d.parts.R[0].Data
	}
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// AppendTo appends the message to dst.
func (d *Delivery) AppendTo(dst []byte) []byte {
	if d.parts == nil {
		return append(dst, d.ref.Data...)
	}
	for p := d.parts; p != nil; p = p.Next {
		for i := range p.R {
			dst = append(dst, p.R[i].Data...)
		}
	}
	return dst
}

// CopyTo copies as much of the message as fits into dst and returns how much that was.
func (d *Delivery) CopyTo(dst []byte) int {
	if d.parts == nil {
		return copy(dst, d.ref.Data)
	}
	n := 0
	for p := d.parts; p != nil; p = p.Next {
		for i := range p.R {
			if n == len(dst) {
				return n
			}
			n += copy(dst[n:], p.R[i].Data)
		}
	}
	return n
}

// Bytes returns the message without copying it, until Release, if it lies in one
// piece, and otherwise false.
func (d *Delivery) Bytes() ([]byte, bool) {
	if d.parts == nil {
		return d.ref.Data, true
	}
	if d.parts.Next == nil && d.parts.R[1].Data == nil {
		return d.parts.R[0].Data, true
	}
	return nil, false
}

// Release lets go of the bytes and clears d.
func (d *Delivery) Release() {
	d.parts.Release()
	d.ref.Release()
	*d = Delivery{}
}

// Charge returns how much of a bound on memory the message takes, or what is left of the run: its buffers, and
// a fixed overhead. Of one that is loose it is the length instead of the buffer, for which whoever
// keeps it answers: see Loose.
func (d *Delivery) Charge() int {
	switch {
	case d.parts != nil:
		return deliveryOverhead + d.parts.Kept
	case d.Loose() != nil:
		return deliveryOverhead + len(d.ref.Data)
	case d.run > 0: // whoever reads slowly, but reads, makes room with each message
		return deliveryOverhead + d.ref.Pinned()*len(d.ref.Data)/int(d.whole)
	}
	return deliveryOverhead + d.ref.Pinned()
}

// settle moves the message out of buffers that are much larger, because it is about to stay
// for longer than the datagrams around it: out of the one it lies in, or out of those of its parts
// and the list of them, where they take much more than it.
func (d *Delivery) settle() {
	if d.ref.Buf != nil {
		d.ref = settle(d.ref)
	}
	if d.parts == nil {
		return
	}
	n := 0
	for p := d.parts; p != nil; p = p.Next {
		for i := range p.R {
			if p.R[i].Data != nil {
				n++
			}
		}
	}
	if d.Len() >= max(leastInParts, n*leastPart) {
		return
	}
	b := pool.Get(d.Len())
	b.N = d.CopyTo(b.B)
	d.parts.Release()
	d.parts, d.ref = nil, pool.Ref{Buf: b, Data: b.B[:b.N:b.N]}
	d.ref = settle(d.ref)
}

const (
	// leastInParts is the least length of a message that may stay in parts: below, the list of
	// them is too much of the memory.
	leastInParts = pool.ClassWide
	// leastPart is the least length that its parts may have in the mean: a quarter of the
	// buffers that datagrams are received in.
	leastPart = 512
)

// Tighten moves the message to the smallest buffers that it fits into, for holders that keep it for long.
func (d *Delivery) Tighten() { d.tighten() }

// tighten is settle for a message that waits until another was sent again: it moves to the smallest
// buffers that it fits into. One of 513 bytes would else keep 2048.
func (d *Delivery) tighten() {
	d.settle()
	if d.parts == nil {
		d.ref = tight(d.ref)
		return
	}
	for p := d.parts; p != nil; p = p.Next {
		for i := range p.R {
			if r := &p.R[i]; r.Data != nil {
				d.parts.Kept -= r.Pinned()
				*r = tight(*r)
				d.parts.Kept += r.Pinned()
			}
		}
	}
}

// tight returns ref, or a copy of it in a smaller buffer if there is one.
func tight(ref pool.Ref) pool.Ref {
	n := len(ref.Data)
	if ref.Buf == nil || pool.Fit(n) >= len(ref.Buf.B) {
		return ref
	}
	b := pool.Get(n)
	b.N = copy(b.B, ref.Data)
	ref.Release()
	return pool.Ref{Buf: b, Data: b.B[:n:n]}
}

// isLoose reports whether ref is only a small part of its buffer.
func isLoose(ref pool.Ref) bool {
	return ref.Buf != nil && len(ref.Data)*4 < len(ref.Buf.B) && len(ref.Buf.B) > pool.ClassSmall
}

// settle returns ref, or a copy of it if it is only a small part of its buffer.
// Small copies are made into pooled buffers, so that a lossy path, on which much
// has to wait, still does without allocation.
func settle(ref pool.Ref) pool.Ref {
	if !isLoose(ref) {
		return ref
	}
	n := len(ref.Data)
	b := pool.Get(n)
	if len(b.B) > pool.ClassSmall && n*4 < len(b.B) {
		b.Release()
		c := pool.Hold(nil, ref.Data)
		ref.Release()
		return c
	}
	b.N = copy(b.B, ref.Data)
	ref.Release()
	return pool.Ref{Buf: b, Data: b.B[:n:n]}
}
