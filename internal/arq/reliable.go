package arq

import "math/bits"

// reliableWindow remembers which reliable indexes arrived, so that a frame that
// was sent again is taken once. It is a bitmap above the lowest missing index;
// while everything comes in order the bitmap is not touched.
type reliableWindow struct {
	base  int64    // lowest index that has not arrived
	ahead int      // how many above base have
	bits  []uint64 // bit n&mask is index n, for base < n < base+64*len; a power of two of words, or nil
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
	case d < int64(len(w.bits))*64 && w.bits[n>>6&int64(len(w.bits)-1)]&(1<<(n&63)) != 0:
		return reliableDuplicate
	}
	return reliableNew
}

// insert notes that index n arrived.
func (w *reliableWindow) insert(n int64) reliableVerdict {
	if n == w.base {
		w.base++
		if w.ahead > 0 {
			w.advance()
		}
		return reliableNew
	}
	v := w.probe(n)
	if v != reliableNew {
		return v
	}
	if n-w.base >= int64(len(w.bits))*64 {
		w.grow(n - w.base)
	}
	w.bits[n>>6&int64(len(w.bits)-1)] |= 1 << (n & 63)
	w.ahead++
	return reliableNew
}

// taken grows by one with each index that is inserted.
func (w *reliableWindow) taken() int64 { return w.base + int64(w.ahead) }

// advance moves base over the indexes that have arrived, a word at a time.
func (w *reliableWindow) advance() {
	mask := int64(len(w.bits) - 1)
	for w.ahead > 0 {
		word := &w.bits[w.base>>6&mask]
		off := int(w.base & 63)
		n := bits.TrailingZeros64(^(*word >> off)) // a run of ones, at most 64-off
		if n == 0 {
			return
		}
		*word &^= (1<<n - 1) << off
		w.base += int64(n)
		w.ahead -= n
		if off+n < 64 {
			return
		}
	}
}

// grow makes room for an index d above base.
func (w *reliableWindow) grow(d int64) {
	words := max(reliableWordsMin, len(w.bits))
	for int64(words)*64 <= d {
		words *= 2
	}
	old := w.bits
	w.bits = make([]uint64, words)
	if w.ahead == 0 {
		return
	}
	// Word by word. The word of base may hold both the lowest and the highest
	// indexes of the old window, so it is visited at both ends and cut.
	oldMask, mask := int64(len(old)-1), int64(words-1)
	end := w.base + int64(len(old))*64
	for at := w.base; at < end; {
		stop := min(at|63+1, end)
		word := old[at>>6&oldMask] & (^uint64(0) << (at & 63))
		if stop&63 != 0 {
			word &= 1<<(stop&63) - 1
		}
		w.bits[at>>6&mask] |= word
		at = stop
	}
}
