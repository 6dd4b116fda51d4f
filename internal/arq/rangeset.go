package arq

import "slices"

// span is the numbers from lo up to but not including hi.
type span struct{ lo, hi int64 }

// rangeSet is a set of numbers kept as sorted, disjoint, non-adjacent spans in a
// slice. Searching is linear from the top and inserting moves what is above,
// which is the best there is for what it holds: numbers that arrive nearly in
// order, a handful of spans, and most calls extending the last one.
type rangeSet struct {
	spans []span
	limit int // spans kept; one too many drops the lowest. Zero: one
}

func (s *rangeSet) init(limit int) { *s = rangeSet{spans: s.spans[:0], limit: limit} }

// len returns the number of spans, of a nil set none.
func (s *rangeSet) len() int {
	if s == nil {
		return 0
	}
	return len(s.spans)
}

// add puts lo up to but not including hi into the set.
func (s *rangeSet) add(lo, hi int64) {
	if lo >= hi {
		return
	}
	n := len(s.spans)
	if n > 0 && s.spans[n-1].hi == lo {
		s.spans[n-1].hi = hi
		return
	}
	// spans[i:j] touch or overlap the new one and become part of it.
	j := n
	for j > 0 && s.spans[j-1].lo > hi {
		j--
	}
	i := j
	for i > 0 && s.spans[i-1].hi >= lo {
		i--
	}
	if i < j {
		s.spans[i] = span{min(lo, s.spans[i].lo), max(hi, s.spans[j-1].hi)}
		s.spans = slices.Delete(s.spans, i+1, j)
		return
	}
	s.insert(i, span{lo, hi})
}

// remove takes lo up to but not including hi out of the set.
func (s *rangeSet) remove(lo, hi int64) {
	if lo >= hi {
		return
	}
	j := len(s.spans)
	for j > 0 && s.spans[j-1].lo >= hi {
		j--
	}
	i := j
	for i > 0 && s.spans[i-1].hi > lo {
		i--
	}
	if i == j {
		return
	}
	left := span{s.spans[i].lo, lo}
	right := span{hi, s.spans[j-1].hi}
	keepLeft, keepRight := left.lo < left.hi, right.lo < right.hi
	switch {
	case keepLeft && keepRight && j-i == 1:
		s.spans[i] = left
		s.insert(i+1, right)
		return
	case keepLeft && keepRight:
		s.spans[i], s.spans[j-1] = left, right
		i, j = i+1, j-1
	case keepLeft:
		s.spans[i] = left
		i++
	case keepRight:
		s.spans[j-1] = right
		j--
	}
	s.spans = slices.Delete(s.spans, i, j)
}

// removeFirst takes the n lowest spans out of the set.
func (s *rangeSet) removeFirst(n int) { s.spans = slices.Delete(s.spans, 0, n) }

// contains reports whether n is in the set.
func (s *rangeSet) contains(n int64) bool {
	for i := len(s.spans) - 1; i >= 0; i-- {
		if n >= s.spans[i].lo {
			return n < s.spans[i].hi
		}
	}
	return false
}

// insert places a span that touches no other at position i, and drops the lowest
// span, which may be that very one, when there is one too many.
func (s *rangeSet) insert(i int, r span) {
	if len(s.spans) < max(s.limit, 1) {
		s.spans = slices.Insert(s.spans, i, r)
		return
	}
	if i == 0 {
		return
	}
	copy(s.spans, s.spans[1:i])
	s.spans[i-1] = r
}
