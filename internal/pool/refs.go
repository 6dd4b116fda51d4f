package pool

import "sync"

// RefsLen is how many references a Refs holds: enough that a list of a thousand
// parts is a few links, small enough that a list of two wastes little. Arbitrary.
const RefsLen = 64

// Refs is a link in a list of references, recycled because a long message would
// otherwise cost one allocation per part. Size and Kept are for the owner's own sums.
type Refs struct {
	R          [RefsLen]Ref
	Next       *Refs
	Size, Kept int
}

var refs = sync.Pool{New: func() any { return new(Refs) }}

// GetRefs returns an empty Refs.
func GetRefs() *Refs { return refs.Get().(*Refs) }

// Release lets go of every reference in r and of the links after it, and recycles
// them all. A nil r holds nothing. Safe for concurrent use with other lists.
func (r *Refs) Release() {
	for r != nil {
		next := r.Next
		for i := range r.R {
			if r.R[i].Data != nil {
				r.R[i].Release()
			}
		}
		r.Next, r.Size, r.Kept = nil, 0, 0
		refs.Put(r)
		r = next
	}
}
