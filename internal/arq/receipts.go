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
	if m.receipt == 0 || m.reported {
		return
	}
	m.reported = true
	e.receipts = append(e.receipts, ReceiptEvent{ID: m.receipt, Acked: acked})
}

// NextReceipt takes the next receipt event, in the order in which they came about.
func (e *Engine) NextReceipt(r *ReceiptEvent) bool {
	if e.receiptHead == len(e.receipts) {
		if cap(e.receipts) > 64 {
			e.receipts = nil
		}
		e.receipts, e.receiptHead = e.receipts[:0], 0
		return false
	}
	*r = e.receipts[e.receiptHead]
	e.receiptHead++
	return true
}
