package endpoint

import (
	"context"
	"slices"
	"sync"
)

// acceptQueue holds the connections that are complete and not yet accepted. It is
// bounded by Config.AcceptBacklog; with Config.Handler set the oldest makes room for
// the newest, since nobody need accept, and otherwise the newest is turned away.
type acceptQueue struct {
	gate   gate
	closed chan struct{} // nothing is accepted any more
	bound  int           // 0: none
	shift  bool          // the oldest makes room

	once sync.Once
	mu   sync.Mutex // leaf
	list []*Conn
}

func (q *acceptQueue) init(bound int, shift bool) {
	q.gate, q.closed, q.bound, q.shift = newGate(), make(chan struct{}), bound, shift
}

func (q *acceptQueue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list)
}

func (q *acceptQueue) full() bool { return q.bound > 0 && !q.shift && q.len() >= q.bound }

// push reports whether there was room.
func (q *acceptQueue) push(c *Conn) bool {
	if isClosed(q.closed) {
		return false
	}
	q.mu.Lock()
	if q.bound > 0 && len(q.list) >= q.bound {
		if !q.shift {
			q.mu.Unlock()
			return false
		}
		q.list = slices.Delete(q.list, 0, 1)
	}
	q.list = append(q.list, c)
	q.mu.Unlock()
	q.gate.open()
	return true
}

// remove takes c out and reports whether it was in.
func (q *acceptQueue) remove(c *Conn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, o := range q.list {
		if o == c {
			q.list = slices.Delete(q.list, i, i+1)
			return true
		}
	}
	return false
}

// pop takes the oldest out. more says that it was not the last.
func (q *acceptQueue) pop() (c *Conn, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return nil, false
	}
	c = q.list[0]
	q.list = slices.Delete(q.list, 0, 1)
	return c, len(q.list) > 0
}

// close ends all accepting and returns who was left.
func (q *acceptQueue) close() []*Conn {
	q.once.Do(func() { close(q.closed) })
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.list
	q.list = nil
	return left
}

// Accept waits for a connection that completed its handshake. After Close or Shutdown
// it returns net.ErrClosed, after the endpoint broke the error that broke it. Such a
// connection may have ended since; what it sent before is there to be read.
func (e *Endpoint) Accept(ctx context.Context) (*Conn, error) {
	for {
		if isClosed(e.accepts.closed) {
			return nil, orClosed(e.Err())
		}
		if err := ctx.Err(); err != nil {
			e.accepts.gate.open() // it may have been for another
			return nil, err
		}
		if c, more := e.accepts.pop(); c != nil {
			if more {
				e.accepts.gate.open() // for the next who waits
			}
			c.mu.Lock()
			c.acceptBy = 0
			c.mu.Unlock()
			return c, nil
		}
		select {
		case <-e.accepts.gate:
		case <-e.accepts.closed:
		case <-ctx.Done():
		}
	}
}
