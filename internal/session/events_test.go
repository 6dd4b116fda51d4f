package session

import "testing"

func TestEventKindsHaveNames(t *testing.T) {
	for k, want := range map[EventKind]string{0: "none", EventConnected: "connected", EventReceipt: "receipt", EventClosed: "closed"} {
		if got := k.String(); got != want {
			t.Errorf("%d: %q, want %q", k, got, want)
		}
	}
}
