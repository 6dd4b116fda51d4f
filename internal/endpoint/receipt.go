package endpoint

// Receipt tells what became of a message that was sent with a receipt.
type Receipt struct {
	done chan struct{}
	err  error // written before done is closed
}

// Done returns a channel that is closed when the fate of the message is known.
func (r *Receipt) Done() <-chan struct{} { return r.done }

// Err returns, once Done is closed: nil if the message was acknowledged,
// ErrReceiptLost if it was given up, or else the cause of the connection's end.
// Before that it returns nil.
func (r *Receipt) Err() error {
	if !isClosed(r.done) {
		return nil
	}
	return r.err
}

func newReceipt() *Receipt { return &Receipt{done: make(chan struct{})} }

func (r *Receipt) settle(err error) {
	r.err = err
	close(r.done)
}

// settled is a receipt whose holder is to be told, once the lock is let go.
type settled struct {
	r     *Receipt
	lost  bool // given up
	ended bool // the connection ended first
}

// settle takes the receipt with the given number off the books. c.mu is held.
func (c *Conn) settle(id uint64, acked bool) {
	r := c.receipts[id]
	if r == nil {
		return
	}
	delete(c.receipts, id)
	c.settled = append(c.settled, settled{r: r, lost: !acked})
}

// tellReceipts tells whoever holds a receipt that settle took off the books.
func (c *Conn) tellReceipts() {
	c.mu.Lock()
	list := c.settled
	c.settled = nil
	c.mu.Unlock()
	for _, s := range list {
		switch {
		case s.ended:
			s.r.settle(c.Cause())
		case s.lost:
			s.r.settle(ErrReceiptLost)
		default:
			s.r.settle(nil)
		}
	}
}
