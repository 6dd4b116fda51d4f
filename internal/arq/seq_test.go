package arq

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// eachSeed runs f with n fixed random sources. A failure names its seed, and
// go test -run 'TheTest/seed=3$' repeats it.
func eachSeed(t *testing.T, n int, f func(t *testing.T, rnd *rand.Rand)) {
	t.Helper()
	for seed := range uint64(n) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			f(t, rand.New(rand.NewPCG(seed, 0x6a09e667f3bcc909)))
		})
	}
}

// starts are first numbers of a counter: the usual one, and some from which the
// wire form wraps within a short test.
var starts = []int64{0, 1<<24 - 1, 1<<24 - 70, 1<<24 - 3000, 5<<24 - 500, 1 << 40}

func TestWireNumbersExpandToTheNearestOne(t *testing.T) {
	for _, c := range []struct {
		wire       uint32
		near, want int64
	}{
		{0, 0, 0},
		{5, 3, 5},
		{3, 5, 3},
		{0xffffff, 0, -1},
		{0xffffff, 2, -1},
		{0, 0xffffff, 1 << 24},
		{2, 0xfffffe, 1<<24 + 2},
		{0xfffffe, 1<<24 + 2, 0xfffffe},
		{0x7fffff, 0, 0x7fffff},  // the farthest ahead
		{0x800000, 0, -0x800000}, // half the space away is behind
		{0x800001, 1, -0x7fffff},
		{7, 9<<24 + 9, 9<<24 + 7},
		{0xfffff0, -3, -16},
		{1, -3, 1},
	} {
		if got := expand24(c.wire, c.near); got != c.want {
			t.Errorf("expand24(%#x, near %d) = %d, want %d", c.wire, c.near, got, c.want)
		}
	}
}

func TestExpandingUndoesTruncatingWithinHalfTheSpace(t *testing.T) {
	for near := int64(-1 << 25); near < 1<<26; near += 0x1_2345 {
		for _, d := range []int64{-1 << 23, -1<<23 + 1, -50_000, -1, 0, 1, 2, 50_000, 1<<23 - 1} {
			n := near + d
			if got := expand24(wire24(n), near); got != n {
				t.Fatalf("%d near %d came back as %d", n, near, got)
			}
		}
	}
}

func TestTruncatingIsExhaustivelyInverse(t *testing.T) {
	if testing.Short() {
		t.Skip("16.7 M numbers")
	}
	const near = 3<<24 + 12345
	for w := range uint32(1 << 24) {
		n := expand24(w, near)
		if wire24(n) != w || n < near-1<<23 || n >= near+1<<23 {
			t.Fatalf("%#x expanded to %d", w, n)
		}
		if older24(w, wire24(near)) != (n < near) {
			t.Fatalf("%#x: older24 and expand24 disagree", w)
		}
	}
}

func BenchmarkExpand24(b *testing.B) {
	near := int64(0)
	for b.Loop() {
		near = expand24(uint32(near+1)&seqMask, near)
	}
}
