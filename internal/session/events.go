package session

// EventKind says what an Event reports.
type EventKind uint8

const (
	// EventConnected: the handshake is complete; Send works from now on, and
	// messages that came early are readable. At most once, before any other event.
	EventConnected EventKind = 1 + iota
	// EventReceipt: the fate of a message that was sent with a receipt ID is known.
	EventReceipt
	// EventClosed: the connection has ended for the reason in Err. Exactly once
	// in the life of every connection, after every other event. Receipts not
	// reported by then never will be. Messages queued before it stay readable.
	EventClosed
)

// String names the kind.
func (k EventKind) String() string {
	switch k {
	case EventConnected:
		return "connected"
	case EventReceipt:
		return "receipt"
	case EventClosed:
		return "closed"
	}
	return "none"
}

// Event is something that happened to a connection besides the arrival of messages.
type Event struct {
	Kind  EventKind
	ID    uint64 // EventReceipt: the arq.Message.ReceiptID given to Send
	Acked bool   // EventReceipt: acknowledged; false: lost for good
	Err   error  // EventClosed: why, never nil
}
