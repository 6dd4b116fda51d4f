package arq

import "testing"

func TestAFixedWindowStays(t *testing.T) {
	w := NewFixed(64)(testMTU)
	w.OnSent(1, 1, 1)
	w.OnAck(1, AckSample{Bytes: 1 << 20, Newest: 1, Next: 2})
	w.OnLoss(1, LossSample{Bytes: 1 << 20, Timeout: true})
	w.OnSpurious(1)
	if w.Window() != 64*testMTU || w.PacingRate() != 0 {
		t.Errorf("window %d", w.Window())
	}
	if NewFixed(0)(testMTU).Window() != testMTU {
		t.Error("a window of nothing would never send")
	}
}
