package endpoint

// pump is a connection's own goroutine. It exists while the connection has more to
// send than the shared goroutines and the user's, which begin and leave the rest to
// it, should spend on one connection; then it ends. There is never a second one.
// A goroutine that rested instead would cost every idle connection a stack, which is
// more than all the rest of it.
func (c *Conn) pump() {
	e := c.ep
	for more := true; more; {
		now := e.clock.Now()
		c.mu.Lock()
		if c.sess.Deadline() <= now { // the driver leaves them to the pump while there is one
			c.advance(now)
		}
		w := c.transmit(now, pumpDatagrams, true)
		w |= c.events()
		c.mu.Unlock()
		c.after(w &^ workMore)
		e.tx.flush(txQueue / txBatch)
		more = w&workMore != 0
	}
}

// carry sends what a turn left, where the socket has no other connection to delay: the goroutine
// that did the turn is awake, and the pump would have to be woken. What is more than carryBatches is the
// pump's all the same.
func (c *Conn) carry() {
	for range carryBatches {
		now := c.ep.clock.Now()
		c.mu.Lock()
		if c.pumping {
			c.mu.Unlock()
			return // there is one now
		}
		w := c.transmit(now, pumpDatagrams, true)
		c.mu.Unlock()
		c.after(w &^ workMore)
		c.ep.tx.flush(leadBatches)
		if w&workMore == 0 {
			return
		}
	}
	c.mu.Lock()
	begin := !c.pumping && !c.dead
	if begin {
		c.pumping = true
	}
	c.mu.Unlock()
	if begin {
		c.after(workPump)
	}
}
