package arq

// ReceiptEvent tells what became of a message sent with a receipt.
type ReceiptEvent struct {
	ID uint64
	// Acked says that every frame of the message was acknowledged; otherwise an
	// unreliable message was given up: its datagram went unacknowledged, or it grew
	// too old in the queue. An acknowledgement that was itself lost looks the same.
	Acked bool
}

// reportReceipt queues what became of m, once.
func (e *Engine) reportReceipt(m *message, acked bool) {
	if m.sounding {
		e.sounded(acked)
		return
	}
	if m.receipt == 0 || m.reported {
		return
	}
	m.reported = true
	if e.receipts == nil {
		e.receipts = new(receiptQueue)
	}
	e.receipts.list = append(e.receipts.list, ReceiptEvent{ID: m.receipt, Acked: acked})
}

// receiptQueue holds the events that nobody has taken.
type receiptQueue struct {
	list []ReceiptEvent
	head int
}

// NextReceipt takes the next receipt event, in the order in which they came about.
func (e *Engine) NextReceipt(r *ReceiptEvent) bool {
	q := e.receipts
	if q == nil {
		return false
	}
	if q.head == len(q.list) {
		if cap(q.list) > 64 {
			q.list = nil
		}
		q.list, q.head = q.list[:0], 0
		return false
	}
	*r = q.list[q.head]
	q.head++
	return true
}
