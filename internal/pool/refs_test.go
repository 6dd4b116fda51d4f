package pool

import "testing"

func TestReleasingAListReleasesEveryPartAndComesBackEmpty(t *testing.T) {
	before := InUse()
	b := Get(ClassRead)
	head := GetRefs()
	head.Next = GetRefs()
	head.Size, head.Kept = 7, 8
	for i := range head.R {
		head.R[i] = Share(b, b.B[:100])
	}
	head.Next.R[3] = Share(b, b.B[:100])
	b.Release()
	if InUse() != before+1 {
		t.Fatal("the list does not keep its buffer")
	}
	head.Release()
	if InUse() != before {
		t.Fatal("a part was not released")
	}
	for range 4 {
		r := GetRefs()
		if r.Next != nil || r.Size != 0 || r.Kept != 0 {
			t.Fatal("a recycled link is still linked")
		}
		for i := range r.R {
			if r.R[i].Data != nil || r.R[i].Buf != nil {
				t.Fatal("a recycled link still holds bytes")
			}
		}
	}
	(*Refs)(nil).Release()
}
