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

// receipts are a connection's books, guarded by its mutex. Nil are those of one that nobody
// asked for a receipt.
type receipts struct {
	open    map[uint64]*Receipt
	last    uint64 // number
	settled []settled
}

// full reports whether there is no room for another one.
func (b *receipts) full() bool { return b != nil && len(b.open) >= maxReceipts }

// next is the number that the next one gets.
func (b *receipts) next() uint64 {
	if b == nil {
		return 1
	}
	return b.last + 1
}

// anySettled reports whether somebody is to be told.
func (b *receipts) anySettled() bool { return b != nil && len(b.settled) > 0 }

// add books a receipt under the next number. c.mu is held.
func (c *Conn) addReceipt(r *Receipt) {
	b := c.makeRare().receipts
	if b == nil {
		b = &receipts{open: make(map[uint64]*Receipt)}
		c.rare.receipts = b
	}
	b.last++
	b.open[b.last] = r
}

// settle takes the receipt with the given number off the books.
func (b *receipts) settle(id uint64, acked bool) {
	if b == nil || b.open[id] == nil {
		return
	}
	b.settled = append(b.settled, settled{r: b.open[id], lost: !acked})
	delete(b.open, id)
}

// end settles all of them: the connection has ended.
func (b *receipts) end() {
	if b == nil {
		return
	}
	for id, r := range b.open {
		delete(b.open, id)
		b.settled = append(b.settled, settled{r: r, ended: true})
	}
}

// tellReceipts tells whoever holds a receipt that settle took off the books.
func (c *Conn) tellReceipts() {
	c.mu.Lock()
	b := c.rare.receipts
	list := b.settled
	b.settled = nil
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
