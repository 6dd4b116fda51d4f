package arq

import "testing"

const testMTU = 1492

func TestSlowStartDoublesAndALossEndsIt(t *testing.T) {
	w := NewSliding(testMTU)
	if w.Window() != initialDatagrams*testMTU {
		t.Fatalf("first window %d", w.Window())
	}
	w.OnAck(1, AckSample{WindowLimited: true, Bytes: initialDatagrams * testMTU, Newest: 9, Next: 20})
	if w.Window() != 2*initialDatagrams*testMTU {
		t.Fatalf("window %d after a full window was acknowledged", w.Window())
	}
	w.OnLoss(1, LossSample{Bytes: testMTU, Newest: 12, Next: 40})
	if w.Window() != 2*initialDatagrams*testMTU {
		t.Fatalf("one loss, as a NACK in the original, leaves the window: %d", w.Window())
	}
	w.OnAck(1, AckSample{WindowLimited: true, Bytes: 20 * testMTU, Newest: 39, Next: 60})
	if w.Window() != (2*initialDatagrams+1)*testMTU {
		t.Fatalf("window %d: past slow start a period adds a datagram", w.Window())
	}
	w.OnAck(1, AckSample{WindowLimited: true, Bytes: testMTU, Newest: 40, Next: 61})
	if w.Window() != (2*initialDatagrams+1)*testMTU {
		t.Fatalf("window %d: once a period", w.Window())
	}
}

func TestAFullQueueHalvesTheWindowOnceAPeriod(t *testing.T) {
	w := NewSliding(testMTU)
	w.OnAck(1, AckSample{WindowLimited: true, Bytes: 30 * testMTU, Newest: 9, Next: 50})
	before := w.Window()
	for range 5 {
		w.OnLoss(1, LossSample{Bytes: 11 * testMTU, Newest: 40, Next: 50})
	}
	if w.Window() != before/2 {
		t.Fatalf("window %d, was %d", w.Window(), before)
	}
	t.Logf("# what was undone by late ACKs is restored")
	w.OnSpurious(1)
	if w.Window() != before {
		t.Fatalf("window %d after the loss proved false", w.Window())
	}
}

func TestATimeoutCollapsesTheWindow(t *testing.T) {
	w := NewSliding(testMTU)
	w.OnAck(1, AckSample{WindowLimited: true, Bytes: 30 * testMTU, Newest: 9, Next: 50})
	full := w.Window()
	w.OnLoss(1, LossSample{Bytes: 40 * testMTU, Newest: 49, Next: 50, Timeout: true})
	if w.Window() != testMTU {
		t.Fatalf("window %d", w.Window())
	}
	for i := range 5 {
		w.OnAck(1, AckSample{WindowLimited: true, Bytes: min(w.Window(), full/2-w.Window()), Newest: int64(50 + i), Next: int64(51 + i)})
	}
	if w.Window() != full/2 {
		t.Errorf("window %d: slow start goes to half of what it was", w.Window())
	}
}

func TestAnIdleApplicationDoesNotGrowTheWindow(t *testing.T) {
	w := NewSliding(testMTU)
	for i := range int64(100) {
		w.OnAck(1, AckSample{Bytes: 200, Newest: i, Next: i + 1})
	}
	if w.Window() != initialDatagrams*testMTU {
		t.Errorf("window %d", w.Window())
	}
}

func TestTheWindowIsBounded(t *testing.T) {
	w := NewSliding(testMTU)
	for i := range int64(100) {
		w.OnAck(1, AckSample{WindowLimited: true, Bytes: w.Window(), Newest: i, Next: i + 1})
	}
	if w.Window() != maxWindow || w.PacingRate() != 0 {
		t.Errorf("window %d, pacing %d", w.Window(), w.PacingRate())
	}
}
