package pool

import "testing"

func TestSmallPartsAreCopiedAndLargeOnesPin(t *testing.T) {
	before := InUse()
	b := Get(ClassRead)
	small := Hold(b, b.B[10:20])
	large := Hold(b, b.B[:ClassRead/2])
	if small.Buf != nil || small.Pinned() > 64 {
		t.Errorf("10 bytes pinned %d", small.Pinned())
	}
	if large.Buf != b || large.Pinned() != ClassRead+Overhead {
		t.Error("half a buffer was copied")
	}
	tiny := Share(b, b.B[:1])
	if tiny.Buf != b {
		t.Error("Share must not copy out of a buffer")
	}
	b.Release()
	small.Release()
	large.Release()
	tiny.Release()
	tiny.Release() // cleared: nothing happens
	if InUse() != before {
		t.Errorf("%d buffers still out", InUse()-before)
	}
	if r := Share(nil, []byte("x")); string(r.Data) != "x" || r.Buf != nil {
		t.Error("without a buffer the bytes are copied")
	}
}
