package netsim

import (
	"sync"
	"time"
)

// deadline is a moment that can be moved, as a channel to wait on.
type deadline struct {
	mu         sync.Mutex
	timer      *time.Timer
	passed     chan struct{} // closed once the deadline has passed
	generation int           // counts settings, so that a timer that was too late to stop does nothing
}

func (d *deadline) init() { d.passed = make(chan struct{}) }

// wait returns a channel that is closed when the deadline has passed. Moving a deadline that
// has not passed moves it for those who wait already.
func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}

// set moves the deadline to t; the zero Time takes it away.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.generation++
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	over := isClosed(d.passed)
	if !t.IsZero() && time.Until(t) <= 0 {
		if !over {
			close(d.passed)
		}
		return
	}
	if over {
		d.passed = make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	mine := d.generation
	d.timer = time.AfterFunc(time.Until(t), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.generation == mine {
			close(d.passed)
		}
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
