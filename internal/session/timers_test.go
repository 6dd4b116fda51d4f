package session

import (
	"testing"

	"github.com/raknet-go/raknet/internal/monotime"
)

func TestTimersFireOnceAndTheNextIsTheLeast(t *testing.T) {
	var x timers
	x.clear()
	if x.next() != monotime.Never {
		t.Error("nothing is armed")
	}
	x.set(timerIdle, 30)
	x.set(timerClose, 20)
	if x.next() != 20 || !x.armed(timerClose) || x.armed(timerPing) {
		t.Errorf("next %d", x.next())
	}
	if x.due(timerClose, 19) {
		t.Error("early")
	}
	if !x.due(timerClose, 20) || x.due(timerClose, 20) {
		t.Error("due exactly once")
	}
	x.stop(timerIdle)
	if x.next() != monotime.Never {
		t.Error("all stopped")
	}
}
