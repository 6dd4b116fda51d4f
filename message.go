package raknet

// SendOptions say how [Conn.Send] delivers a message. The zero value sends
// Unreliable with PriorityHigh.
type SendOptions struct {
	// Reliability is the delivery mode.
	Reliability Reliability
	// Channel is the ordering channel, 0 to 31, of the ordered and sequenced modes.
	// Channels do not wait for each other. Other modes ignore it.
	Channel uint8
	// Priority decides between messages that wait to be sent.
	Priority Priority
}

// Message is a message as it arrived.
type Message struct {
	// Data is the message. It belongs to the receiver, who may keep and change it,
	// except inside a handler: there it is valid only during the call.
	Data []byte
	// Reliability is the mode that the sender used. The wire does not carry the
	// wish for a receipt, and an unreliable message that had to be cut into
	// fragments arrives as its reliable counterpart.
	Reliability Reliability
	// Channel is the ordering channel of an ordered or sequenced message, else 0.
	Channel uint8
}
