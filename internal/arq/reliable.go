package arq

import "math/bits"

// reliableWindow remembers which reliable indexes arrived, so that a frame that
// was sent again is taken once. It is a bitmap above the lowest missing index;
// while everything comes in order the bitmap is not touched.
type reliableWindow struct {
	base  int64 // lowest index that has not arrived
	above *aheadSet
}

// aheadSet are the indexes above base that arrived. There is none until the first of them.
type aheadSet struct {
	n    int      // how many
	bits []uint64 // bit n&mask is index n, for base < n < base+64*len; a power of two of words
}

const (
	// reliableWindowSize is how far above the lowest missing index a frame may lie;
	// the datagram of one beyond it is dropped unacknowledged. The original has at most 512
	// frames outstanding, but some senders have no window of their own and run
	// tens of thousands ahead of a loss. The bitmap grows to at most 8 KiB.
	reliableWindowSize = 1 << 16
	reliableWordsMin   = 16 // first size of the bitmap, in words. Arbitrary
)

// reliableVerdict is what reliableWindow says about an index.
type reliableVerdict uint8

const (
	reliableNew reliableVerdict = iota
	reliableDuplicate
	reliableTooFar
)

// init starts the window: first is the first index expected.
func (w *reliableWindow) init(first int64) { *w = reliableWindow{base: first} }

// probe says what insert would, and changes nothing.
func (w *reliableWindow) probe(n int64) reliableVerdict {
	d := n - w.base
	switch {
	case d < 0:
		return reliableDuplicate
	case d >= reliableWindowSize:
		return reliableTooFar
	case w.above != nil && w.above.has(n, d):
		return reliableDuplicate
	}
	return reliableNew
}

// insert notes that index n arrived.
func (w *reliableWindow) insert(n int64) reliableVerdict {
	if n == w.base {
		w.base++
		if w.above != nil && w.above.n > 0 {
			w.advance()
		}
		return reliableNew
	}
	v := w.probe(n)
	if v != reliableNew {
		return v
	}
	if w.above == nil {
		w.above = new(aheadSet)
	}
	a := w.above
	if n-w.base >= int64(len(a.bits))*64 {
		a.grow(w.base, n-w.base)
	}
	a.bits[n>>6&int64(len(a.bits)-1)] |= 1 << (n & 63)
	a.n++
	return reliableNew
}

// has reports whether index n, which is d above base, is in the set.
func (a *aheadSet) has(n, d int64) bool {
	return d < int64(len(a.bits))*64 && a.bits[n>>6&int64(len(a.bits)-1)]&(1<<(n&63)) != 0
}

// ahead returns how many indexes above base have arrived.
func (w *reliableWindow) ahead() int {
	if w.above == nil {
		return 0
	}
	return w.above.n
}

// taken grows by one with each index that is inserted.
func (w *reliableWindow) taken() int64 { return w.base + int64(w.ahead()) }

// rest gives back memory.
func (w *reliableWindow) rest() {
	if w.ahead() == 0 {
		w.above = nil
	}
}

// advance moves base over the indexes that have arrived, a word at a time.
func (w *reliableWindow) advance() {
	a := w.above
	mask := int64(len(a.bits) - 1)
	for a.n > 0 {
		word := &a.bits[w.base>>6&mask]
		off := int(w.base & 63)
		n := bits.TrailingZeros64(^(*word >> off)) // a run of ones, at most 64-off
		if n == 0 {
			return
		}
		*word &^= (1<<n - 1) << off
		w.base += int64(n)
		a.n -= n
		if off+n < 64 {
			return
		}
	}
}

// grow makes room for an index d above base.
func (a *aheadSet) grow(base, d int64) {
	words := max(reliableWordsMin, len(a.bits))
	for int64(words)*64 <= d {
		words *= 2
	}
	old := a.bits
	a.bits = make([]uint64, words)
	if a.n == 0 {
		return
	}
	// Word by word. The word of base may hold both the lowest and the highest
	// indexes of the old window, so it is visited at both ends and cut.
	oldMask, mask := int64(len(old)-1), int64(words-1)
	end := base + int64(len(old))*64
	for at := base; at < end; {
		stop := min(at|63+1, end)
		word := old[at>>6&oldMask] & (^uint64(0) << (at & 63))
		if stop&63 != 0 {
			word &= 1<<(stop&63) - 1
		}
		a.bits[at>>6&mask] |= word
		at = stop
	}
}
