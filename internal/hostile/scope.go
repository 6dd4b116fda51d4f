package hostile

import (
	"flag"
	"iter"
	"strconv"
	"strings"
	"testing"
)

var (
	exhaustiveFlag = flag.Bool("exhaustive", false, "hostile vectors: every change of every byte, not a sample")
	floodsFlag     = flag.Uint("floods", 1, "hostile vectors: of those longer than 10,000 bytes only every n-th byte")
	partFlag       = flag.String("part", "0/1", "hostile vectors: every n-th byte from the i-th on: i/n")
)

// Scope says which damage a run does: with the flag -exhaustive all that there is, and
// otherwise a sample. Tests that share a flag -part=i/n do the n-th part of it each.
type Scope struct {
	Exhaustive bool
	part, of   uint32
	floods     uint32 // 0: as 1
	positions  uint32 // dealt out so far
}

// NewScope returns what the flags ask for.
func NewScope(t testing.TB) *Scope {
	t.Helper()
	i, n, _ := strings.Cut(*partFlag, "/")
	part, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if err1 != nil || err2 != nil || part < 0 || part >= of {
		t.Fatalf("-part=%s", *partFlag)
	}
	if *floodsFlag == 0 {
		t.Fatal("-floods=0")
	}
	return &Scope{Exhaustive: *exhaustiveFlag, part: uint32(part), of: uint32(of), floods: uint32(*floodsFlag)}
}

// All returns the scope of tests that do everything at any time, as fast as they are; but a
// sample under the race detector.
func All() *Scope { return &Scope{Exhaustive: !raceEnabled, of: 1} }

const (
	// sampledDatagrams of a vector, sampledBytes of each of them, about, and these
	// changes of each byte make a sample. Arbitrary; it takes seconds.
	sampledDatagrams = 2
	sampledBytes     = 60
)

var sampledChanges = []byte{0, 0x01, 0x10, 0x80, 0xff}

var everyChange = func() (all [256]byte) {
	for i := range all {
		all[i] = byte(i)
	}
	return all
}()

// Damage calls f with what damage there is to do to d, which is datagram number k of a
// vector: d cut off before a byte, for every byte, and d with that byte changed to each of
// the 255 others. What f is given is only valid until it returns.
func (s *Scope) Damage(d []byte, k int, f func(damaged []byte)) {
	b := append([]byte(nil), d...)
	for i := range s.Bytes(d, k) {
		s.damage(b, d, i, f)
	}
}

// Bytes yields which bytes of d Damage damages.
func (s *Scope) Bytes(d []byte, k int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !s.includes(k) {
			return
		}
		for i := 0; i < len(d); i += s.stride(d) {
			if s.mine() && !yield(i) {
				return
			}
		}
	}
}

// DamageAt calls f with what Damage does to byte i of d.
func (s *Scope) DamageAt(d []byte, i int, f func(damaged []byte)) {
	s.damage(append([]byte(nil), d...), d, i, f)
}

// damage damages byte i of b, a copy of d, in every way, and restores it.
func (s *Scope) damage(b, d []byte, i int, f func(damaged []byte)) {
	for _, x := range s.changes() {
		f(change{i, x}.apply(b, d))
		b[i] = d[i]
	}
}

// change is damage to one byte: its bits x are flipped, or, when x is 0, the datagram ends
// before it.
type change struct {
	at int
	x  byte
}

// apply damages b, which is a copy of d, and returns what is left of it.
func (c change) apply(b, d []byte) []byte {
	if c.x == 0 {
		return b[:c.at:c.at]
	}
	b[c.at] = d[c.at] ^ c.x
	return b
}

// includes reports whether datagram number k of a vector is damaged at all.
func (s *Scope) includes(k int) bool { return s.Exhaustive || k < sampledDatagrams }

// stride is how far apart the damaged bytes of a datagram are.
func (s *Scope) stride(d []byte) int {
	if s.Exhaustive {
		return 1
	}
	if raceEnabled {
		return 1 + len(d)/(sampledBytes/10)
	}
	return 1 + len(d)/sampledBytes
}

// changes are what is done to a byte.
func (s *Scope) changes() []byte {
	if s.Exhaustive {
		return everyChange[:]
	}
	return sampledChanges
}

// mine reports whether the next position belongs to this part. Neighbours are dealt out
// without a pattern, since the bytes of floods have one.
func (s *Scope) mine() bool {
	s.positions++
	return scatter(s.positions)%s.of == s.part
}

// floodBytes is the length of vectors, all their datagrams together, that a scope may thin out.
const floodBytes = 10_000

// spares reports whether byte i of a vector of a length is left undamaged, as too many are.
func (s *Scope) spares(length, i int) bool {
	return length > floodBytes && s.floods > 1 && scatter(uint32(i))%s.floods != 0
}

// scatter makes numbers of neighbours that have no pattern.
func scatter(n uint32) uint32 { return n * 2654435761 >> 16 }
