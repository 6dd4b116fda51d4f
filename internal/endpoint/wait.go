package endpoint

import (
	"sync"
	"sync/atomic"
	"time"
)

// gate wakes one waiting goroutine: a channel with one slot. A token in it says
// "look again", not "it is yours": whoever took it looks under the lock, and passes a
// token on when it leaves while there is still something to look at.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

func (g gate) open() {
	select {
	case g <- struct{}{}:
	default:
	}
}

// deadline is a moment at which waits end, as in net.Pipe: a channel that is closed
// when the moment comes, and replaced when it is moved. The zero value is no deadline.
// Safe for concurrent use.
type deadline struct {
	is      atomic.Bool // there is one
	mu      sync.Mutex
	timer   *time.Timer
	expired chan struct{} // nil: nobody has asked or set it yet
}

// set moves the deadline. The zero Time takes it away, a past one expires at once.
// passed is called, by a goroutine of its own, when the moment comes.
func (d *deadline) set(t time.Time, passed func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.expired // the timer has fired: its function is about to close, or closed, the channel
	}
	d.timer = nil
	closed := d.expired != nil && isClosed(d.expired)
	if d.expired == nil || closed && (t.IsZero() || time.Until(t) > 0) {
		d.expired = make(chan struct{})
		closed = false
	}
	d.is.Store(!t.IsZero())
	if t.IsZero() {
		return
	}
	if left := time.Until(t); left > 0 {
		expired := d.expired
		d.timer = time.AfterFunc(left, func() {
			close(expired)
			passed()
		})
		return
	}
	if !closed {
		close(d.expired)
	}
}

// wait returns the channel that is closed when the deadline has passed.
func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.expired == nil {
		d.expired = make(chan struct{})
	}
	return d.expired
}

// passed reports whether the deadline has passed.
func (d *deadline) passed() bool {
	if !d.is.Load() {
		return false // as for nearly everybody, and asked for every message
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.expired != nil && isClosed(d.expired)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
