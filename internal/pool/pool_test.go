package pool

import "testing"

func TestEveryRequestGetsTheSmallestClassThatHoldsIt(t *testing.T) {
	for _, c := range []struct{ ask, want int }{
		{0, ClassSmall}, {256, ClassSmall}, {257, 512}, {513, 1024}, {1025, 1280}, {1281, ClassDatagram}, {1464, ClassDatagram},
		{1537, ClassRead}, {2049, 2560}, {2561, 3072}, {3073, 4096}, {4097, 5120}, {5121, 6144}, {6145, ClassWide}, {8193, ClassBatch}, {65536, ClassBatch}, {65537, 65537},
	} {
		before := InUse()
		b := Get(c.ask)
		if len(b.B) != c.want || b.N != 0 || Fit(c.ask) != c.want {
			t.Errorf("Get(%d): len %d, N %d, want %d and 0; Fit %d", c.ask, len(b.B), b.N, c.want, Fit(c.ask))
		}
		if InUse() != before+1 {
			t.Errorf("Get(%d) was not counted", c.ask)
		}
		b.Release()
		if InUse() != before {
			t.Errorf("Release of %d was not counted", c.ask)
		}
	}
}

func TestTheLastReferenceReturnsTheBuffer(t *testing.T) {
	b := Get(10)
	b.N = copy(b.B, "hi")
	if b.Shared() {
		t.Fatal("one owner is not shared")
	}
	b.RetainTimes(2)
	b.Retain()
	for range 3 {
		if !b.Shared() {
			t.Fatal("several owners are")
		}
		b.Release()
	}
	if b.Shared() {
		t.Fatal("one owner too many is left")
	}
	if string(b.Bytes()) != "hi" {
		t.Fatal("the bytes went before the last reference")
	}
	b.Release()
}

func TestOwnershipMistakesPanic(t *testing.T) {
	for name, f := range map[string]func(b *Buffer){
		"double release": func(b *Buffer) { b.Release(); b.Release() },
		"retain after":   func(b *Buffer) { b.Release(); b.Retain() },
		"several after":  func(b *Buffer) { b.Release(); b.RetainTimes(3) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			b := &Buffer{class: -1}
			b.refs.Store(1)
			f(b)
		}()
	}
	inUse.Add(3) // the three buffers above never went through Get
}
