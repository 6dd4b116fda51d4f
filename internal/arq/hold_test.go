package arq

import (
	"testing"

	"github.com/raknet-go/raknet/internal/pool"
)

func TestTheHoldBudgetCountsMessagesAndBytes(t *testing.T) {
	var h holdBudget
	l := &Limits{HeldMessages: 8, HeldBytes: 8 * (100 + deliveryOverhead)}
	message := func(n int) Delivery { return newDelivery(0, 0, pool.Ref{Data: make([]byte, n)}) }
	var slots []int32

	t.Log("# full by count, and firmly so a quarter later")
	for range 7 {
		slots = append(slots, h.put(message(1)))
	}
	if h.full(l) {
		t.Fatal("full too early")
	}
	slots = append(slots, h.put(message(1)))
	if !h.full(l) || h.exhausted(l) {
		t.Fatal("not full, or more than that")
	}
	slots = append(slots, h.put(message(1)), h.put(message(1)))
	if !h.exhausted(l) {
		t.Fatal("not exhausted")
	}

	t.Log("# full by bytes")
	for _, s := range slots {
		d := h.take(s)
		d.Release()
	}
	if h.full(l) || h.messages != 0 || h.bytes != 0 {
		t.Fatalf("%d messages of %d bytes after taking all", h.messages, h.bytes)
	}
	s := h.put(message(8*(100+deliveryOverhead) - deliveryOverhead))
	if !h.full(l) || h.exhausted(l) {
		t.Fatal("not full, or more than that")
	}
	d := h.take(s)
	d.Release()
	if h.full(l) {
		t.Fatal("still full")
	}
}

func TestWhatIsHeldPinsLittleMoreThanItsSize(t *testing.T) {
	wantNoLeak(t)
	var h holdBudget
	b := pool.Get(pool.ClassBatch)
	s := h.put(newDelivery(0, 0, pool.Share(b, b.B[100:101])))
	if b.Shared() {
		t.Error("a byte pins 64 KiB")
	}
	b.Release()
	d := h.take(s)
	d.Release()
}

func TestTheHoldGivesBackTheMemoryOfABurstLater(t *testing.T) {
	var h holdBudget
	wave := func(n int32) {
		for range n {
			h.put(Delivery{})
		}
		for s := range n {
			h.take(s)
		}
	}
	wave(1000)
	for range slackRounds {
		wave(10)
	}
	wave(1)
	if cap(h.store.slots) > holdSlotsMin || cap(h.store.free) > holdSlotsMin {
		t.Errorf("%d slots are kept", cap(h.store.slots))
	}
}
