package pool

// Ref is a run of bytes and the buffer that they live in. The zero value holds nothing.
type Ref struct {
	Buf  *Buffer // nil: Data is on the heap, or empty
	Data []byte
}

// copybreak is the share of a buffer below which bytes that outlive the call are
// copied out instead of pinning the whole buffer: 1/copybreak. A quarter is
// arbitrary; without any such rule a peer could pin 2 KiB with every byte it sends.
const copybreak = 4

// Hold keeps data, which lies inside buf, alive beyond the call: by a reference to
// buf where data is a good part of it, else by a copy. A nil buf always copies.
func Hold(buf *Buffer, data []byte) Ref {
	if buf == nil || len(data)*copybreak < len(buf.B) {
		return Ref{Data: append([]byte(nil), data...)}
	}
	buf.Retain()
	return Ref{Buf: buf, Data: data}
}

// Share keeps data alive by a reference to buf whatever its size: for holders that
// let go soon, or that account for the whole buffer. A nil buf copies.
func Share(buf *Buffer, data []byte) Ref {
	if buf == nil {
		return Ref{Data: append([]byte(nil), data...)}
	}
	buf.Retain()
	return Ref{Buf: buf, Data: data}
}

// Overhead is what a buffer takes beside its bytes.
const Overhead = 48

// Pinned returns how many bytes of memory the reference keeps from being used otherwise.
func (r *Ref) Pinned() int {
	if r.Buf != nil {
		return len(r.Buf.B) + Overhead
	}
	return cap(r.Data)
}

// Release lets go of the bytes and clears r.
func (r *Ref) Release() {
	if r.Buf != nil {
		r.Buf.Release()
	}
	*r = Ref{}
}
