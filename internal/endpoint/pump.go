package endpoint

// pump is a connection's own goroutine. It rests unless there is something to do that
// may take long or run code of others: sending in bulk, which the shared goroutines
// and the user's begin and leave to it, and cancelling the connection's Context.
func (c *Conn) pump() {
	e := c.ep
	for {
		select {
		case <-c.wake:
		case <-e.done:
			c.cancelContext()
			return
		}
		for {
			now := e.clock.Now()
			c.mu.Lock()
			if c.sess.Deadline() <= now { // the driver leaves them to the pump while that is busy
				c.advance(now)
			}
			w := c.transmit(now, pumpDatagrams, true)
			w |= c.events()
			gone, dead, cancel := c.gone, c.dead, c.cancel
			c.mu.Unlock()
			c.after(w &^ workMore)
			e.tx.flush(txQueue / txBatch)
			if gone && cancel != nil {
				cancel(c.Cause())
			}
			if dead {
				return
			}
			if w&workMore == 0 {
				break
			}
		}
	}
}
