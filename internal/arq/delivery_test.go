package arq

import (
	"bytes"
	"testing"

	"github.com/raknet-go/raknet/internal/pool"
)

// wantNoLeak checks at the end of a test that every buffer went back to its pool.
func wantNoLeak(t testing.TB) {
	before := pool.InUse()
	t.Cleanup(func() {
		if n := pool.InUse() - before; n != 0 {
			t.Errorf("%d buffers leaked", n)
		}
	})
}

// received returns data as a part of a buffer of the given class, as the socket leaves it.
func received(class int, data []byte) pool.Ref {
	b := pool.Get(class)
	n := copy(b.B[min(16, len(b.B)-len(data)):], data)
	ref := pool.Share(b, b.B[min(16, len(b.B)-len(data)):][:n])
	b.Release()
	return ref
}

// inParts makes a message out of parts that lie in buffers of the given class.
func inParts(class int, parts ...[]byte) Delivery {
	head := pool.GetRefs()
	for i, l := 0, head; i < len(parts); i++ {
		if i > 0 && i%pool.RefsLen == 0 {
			l.Next = pool.GetRefs()
			l = l.Next
		}
		l.R[i%pool.RefsLen] = received(class, parts[i])
		head.Size += len(parts[i])
		head.Kept += class + pool.Overhead
	}
	return Delivery{parts: head}
}

func TestADeliveryReadsTheSameHoweverItCame(t *testing.T) {
	wantNoLeak(t)
	for _, c := range []struct {
		name       string
		d          Delivery
		want       []byte
		contiguous bool
	}{
		{"empty", Delivery{}, nil, true},
		{"one piece", newDelivery(3, 2, received(pool.ClassRead, []byte("hello"))), []byte("hello"), true},
		{"one part", inParts(pool.ClassRead, []byte("hello")), []byte("hello"), true},
		{"three parts", inParts(pool.ClassRead, []byte("he"), []byte("l"), []byte("lo")), []byte("hello"), false},
		{"many parts", inParts(pool.ClassSmall, bytes.SplitAfter(bytes.Repeat([]byte("abc,"), 150), []byte(","))[:150]...), bytes.Repeat([]byte("abc,"), 150), false},
	} {
		d := c.d
		if d.Len() != len(c.want) {
			t.Errorf("%s: Len %d", c.name, d.Len())
		}
		if got := d.AppendTo([]byte("x")); string(got) != "x"+string(c.want) {
			t.Errorf("%s: AppendTo %q", c.name, got)
		}
		for _, size := range []int{0, 1, 3, len(c.want), len(c.want) + 5} {
			p := make([]byte, size)
			if n := d.CopyTo(p); n != min(size, len(c.want)) || !bytes.Equal(p[:n], c.want[:n]) {
				t.Errorf("%s: CopyTo %d: %d, %q", c.name, size, n, p)
			}
		}
		first := byte(0)
		if len(c.want) > 0 {
			first = c.want[0]
		}
		if d.First() != first {
			t.Errorf("%s: First %q", c.name, d.First())
		}
		if b, ok := d.Bytes(); ok != c.contiguous || ok && !bytes.Equal(b, c.want) {
			t.Errorf("%s: Bytes %q, %v", c.name, b, ok)
		}
		d.Release()
		if d.Len() != 0 {
			t.Errorf("%s: not cleared", c.name)
		}
		d.Release() // harmless
	}
}

func TestSettlingBoundsWhatAMessagePins(t *testing.T) {
	wantNoLeak(t)
	for _, class := range []int{0, pool.ClassSmall, pool.ClassDatagram, pool.ClassRead, pool.ClassBatch} {
		for _, n := range []int{1, 10, 200, 256, 257, 383, 384, 500, 511, 512, 1000, 1432, 1536} {
			if class > 0 && n > class-16 {
				continue
			}
			data := bytes.Repeat([]byte{byte(n)}, n)
			var d Delivery
			if class > 0 {
				d = newDelivery(0, 0, received(class, data))
			} else {
				d = newDelivery(0, 0, pool.Hold(nil, data))
			}
			d.settle()
			if b, _ := d.Bytes(); !bytes.Equal(b, data) {
				t.Fatalf("%d bytes in %d changed", n, class)
			}
			if p := d.ref.Pinned(); p > pool.Overhead+max(pool.ClassSmall, 4*n) {
				t.Errorf("%d bytes in %d pin %d", n, class, p)
			}
			d.Release()
		}
	}
}

func TestSettlingSmallMessagesDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	b := pool.Get(pool.ClassBatch)
	defer b.Release()
	for _, n := range []int{1, 100, 256, 1432} {
		allocs := testing.AllocsPerRun(1000, func() {
			d := newDelivery(0, 0, pool.Share(b, b.B[:n]))
			d.settle()
			d.Release()
		})
		if allocs > 0 {
			t.Errorf("%d bytes: %v allocations", n, allocs)
		}
	}
}

func TestTighteningLeavesNoSmallerBufferUnused(t *testing.T) {
	wantNoLeak(t)
	for _, class := range []int{pool.ClassSmall, pool.ClassDatagram, pool.ClassRead, pool.ClassWide, pool.ClassBatch} {
		for n := 1; n <= min(class-16, pool.ClassWide); n += 1 + n/10 {
			whole := bytes.Repeat([]byte{byte(n)}, n)
			for _, d := range []Delivery{newDelivery(0, 0, received(class, whole)), inParts(class, bytes.Split(whole, nil)[:1]...), inParts(class, whole, whole, whole, whole, whole)} {
				want := d.AppendTo(nil)
				d.tighten()
				if got := d.AppendTo(nil); !bytes.Equal(got, want) {
					t.Fatalf("%d bytes in %d changed", n, class)
				}
				refs := []pool.Ref{d.ref}
				sum := deliveryOverhead + d.ref.Pinned()
				if d.parts != nil {
					refs, sum = d.parts.R[:5], deliveryOverhead
					for i := range refs {
						sum += refs[i].Pinned()
					}
				}
				for i := range refs {
					if b := refs[i].Buf; b != nil && len(b.B) > pool.Fit(len(refs[i].Data)) {
						t.Errorf("%d bytes in %d stay in %d", len(refs[i].Data), class, len(b.B))
					}
				}
				if d.Charge() != sum {
					t.Errorf("%d bytes in %d are charged %d and take %d", n, class, d.Charge(), sum)
				}
				d.Release()
			}
		}
	}
}

func BenchmarkDeliveryCopyTo(b *testing.B) {
	var parts [][]byte
	for range 72 {
		parts = append(parts, make([]byte, 1432))
	}
	d := inParts(pool.ClassRead, parts...)
	defer d.Release()
	p := make([]byte, d.Len())
	b.SetBytes(int64(d.Len()))
	for b.Loop() {
		d.CopyTo(p)
	}
}

func TestSettlingBoundsWhatAMessageInPartsPins(t *testing.T) {
	wantNoLeak(t)
	part := func(n int) []byte { return bytes.Repeat([]byte{byte(n)}, n) }
	for _, c := range []struct {
		parts, size int
		stays       bool
	}{{2, 1, false}, {2, 1400, false}, {5, 1400, false}, {6, 1400, true}, {100, 40, false}, {100, 511, false}, {100, 512, true}, {1000, 1, false}, {130, 1400, true}} {
		var parts [][]byte
		var want []byte
		for range c.parts {
			parts = append(parts, part(c.size))
			want = append(want, part(c.size)...)
		}
		d := inParts(pool.ClassRead, parts...)
		d.settle()
		if (d.parts != nil) != c.stays {
			t.Errorf("%d parts of %d bytes: in parts %v, want %v", c.parts, c.size, d.parts != nil, c.stays)
		}
		if got := d.AppendTo(nil); !bytes.Equal(got, want) {
			t.Errorf("%d parts of %d bytes: %d bytes are others", c.parts, c.size, len(got))
		}
		if d.parts == nil && d.ref.Buf != nil && len(d.ref.Buf.B) > pool.ClassSmall && len(d.ref.Buf.B) > 4*len(want) {
			t.Errorf("%d parts of %d bytes pin %d", c.parts, c.size, len(d.ref.Buf.B))
		}
		d.Release()
	}
}
