package endpoint

import (
	"sync"
	"time"
)

// role is the right to read the socket and to apply what comes, which one goroutine
// has at a time. It is the background reader's, except on an endpoint with a single
// connection (Config.Solo) while somebody waits in a Read of that connection: that
// goroutine then reads the socket itself. When its Read has returned nobody has the
// role for a moment (leadGrace), so that a loop of reads goes on without the background
// reader being woken for each. Whoever needs the socket to be read meanwhile says so (resume).
type role struct {
	interrupt func() // makes a waiting ReadBatch return

	granted chan struct{} // one slot: the role is given to the caller who asked
	wake    chan struct{} // one slot: background, look whether the role is free
	timer   *time.Timer   // background's, while the role rests

	mu      sync.Mutex // leaf
	holder  roleHolder
	asked   bool // a caller waits for the background to let go
	resumed bool // the background shall take the role when it is free, without grace
	ticking bool // the timer is set
	rests   int  // how often the role was left
	mark    int  // rests when the timer was set
}

type roleHolder uint8

const (
	roleFree roleHolder = iota
	roleBackground
	roleCaller
)

type roleAnswer uint8

const (
	roleDenied roleAnswer = iota // another caller has it or waits for it
	roleAsked                    // granted will say when
	roleTaken
)

// init makes the role. With atOnce the background begins with it, or else whoever takes it first.
func (r *role) init(interrupt func(), atOnce bool) {
	r.interrupt = interrupt
	r.granted = make(chan struct{}, 1)
	r.wake = make(chan struct{}, 1)
	r.timer = time.NewTimer(time.Hour)
	r.timer.Stop()
	if r.resumed = atOnce; atOnce {
		r.wakeBackground()
	}
}

// take takes the role if nobody has it.
func (r *role) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holder != roleFree || r.resumed {
		return false
	}
	r.holder = roleCaller
	return true
}

// request asks for the role on behalf of a caller. After roleAsked the caller waits
// for granted, or withdraws.
func (r *role) request() roleAnswer {
	r.mu.Lock()
	switch {
	case r.holder == roleFree:
		r.holder = roleCaller
		r.mu.Unlock()
		return roleTaken
	case r.holder == roleCaller || r.asked:
		r.mu.Unlock()
		return roleDenied
	}
	r.asked = true
	r.mu.Unlock()
	r.interrupt()
	return roleAsked
}

// withdraw takes a request back, or the role if it was granted meanwhile.
func (r *role) withdraw() {
	r.mu.Lock()
	asked := r.asked
	r.asked = false
	r.mu.Unlock()
	if !asked {
		<-r.granted
		r.leave(true)
	}
}

// leave ends a caller's time. The background takes over at once if somebody waits for
// what it would do, or else after the grace.
func (r *role) leave(atOnce bool) {
	r.mu.Lock()
	r.holder = roleFree
	r.rests++
	if atOnce {
		r.resumed = true
	}
	wake := r.resumed
	if !wake && !r.ticking {
		r.rest()
	}
	r.mu.Unlock()
	if wake {
		r.wakeBackground()
	}
}

// rest sets the timer. r.mu is held.
func (r *role) rest() {
	r.ticking, r.mark = true, r.rests
	r.timer.Reset(leadGrace)
}

// resume makes the background take the role if nobody has it: there is something to
// wait for that no Read is waiting for.
func (r *role) resume() {
	r.mu.Lock()
	wake := r.holder == roleFree
	if wake {
		r.resumed = true
	}
	r.mu.Unlock()
	if wake {
		r.wakeBackground()
	}
}

func (r *role) wakeBackground() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// kickLeader makes a caller who reads the socket look at its connection again.
func (r *role) kickLeader() {
	r.mu.Lock()
	leads := r.holder == roleCaller
	r.mu.Unlock()
	if leads {
		r.interrupt()
	}
}

// acquire waits until the background has the role, or done is closed and nobody has it.
func (r *role) acquire(done <-chan struct{}) {
	for {
		ticked := false
		select {
		case <-r.wake:
		case <-r.timer.C:
			ticked = true
		case <-done:
		}
		r.mu.Lock()
		if ticked {
			r.ticking = false
		}
		if r.holder == roleFree {
			if r.resumed || ticked && r.mark == r.rests || isClosed(done) {
				r.holder, r.resumed = roleBackground, false
				r.mu.Unlock()
				return
			}
			if !r.ticking {
				r.rest()
			}
		}
		last := r.holder == roleCaller && isClosed(done)
		if last {
			r.resumed = true // leave will wake us
		}
		r.mu.Unlock()
		if last {
			r.interrupt()
			<-r.wake
		}
	}
}

// yield gives the role to the caller who asked for it, and reports whether one did.
func (r *role) yield() bool {
	r.mu.Lock()
	asked := r.asked
	if asked {
		r.asked = false
		r.holder = roleCaller
	}
	r.mu.Unlock()
	if asked {
		r.granted <- struct{}{} // has room: whoever asked takes it, and only one at a time asks
	}
	return asked
}
