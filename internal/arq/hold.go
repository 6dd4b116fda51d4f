package arq

// holdBudget keeps the messages that wait in the ordering channels of one
// connection, and bounds them together. A correct peer fills it when it is far
// ahead of a loss, or sends an urgent message past thousands of less urgent ones of
// the same channel; a hostile one by never sending what is next.
//
// When it is full, a datagram is refused, unacknowledged, so that the peer sends its
// frames again later; except that one with the next message of some channel is
// taken, since that may be what everything waits for. What else such a datagram
// holds may exceed the bound, so a second, firm bound a quarter higher refuses even
// those datagrams, unless nothing in them would have to wait.
type holdBudget struct {
	maxMessages, maxBytes int
	messages, bytes       int
	stale                 uint64 // messages dropped because a newer one was delivered, or as second copies

	slots []Delivery
	free  []int32
	slack slack
}

// holdSlotsMin is how many slots stay while nothing waits. Arbitrary.
const holdSlotsMin = 64

func (h *holdBudget) init(maxMessages, maxBytes int) {
	*h = holdBudget{maxMessages: maxMessages, maxBytes: maxBytes}
}

// full reports whether the budget is used up.
func (h *holdBudget) full() bool { return h.messages >= h.maxMessages || h.bytes >= h.maxBytes }

// exhausted reports whether the firm bound is reached, too.
func (h *holdBudget) exhausted() bool {
	return h.messages >= h.maxMessages+h.maxMessages/4 || h.bytes >= h.maxBytes+h.maxBytes/4
}

// put keeps a message and returns its slot.
func (h *holdBudget) put(d Delivery) int32 {
	d.settle()
	h.messages++
	h.bytes += d.pinned()
	h.slack.used(h.messages)
	if n := len(h.free); n > 0 {
		slot := h.free[n-1]
		h.free = h.free[:n-1]
		h.slots[slot] = d
		return slot
	}
	h.slots = append(h.slots, d)
	return int32(len(h.slots) - 1)
}

// take returns the message in a slot and empties it.
func (h *holdBudget) take(slot int32) Delivery {
	d := h.slots[slot]
	h.slots[slot] = Delivery{}
	h.messages--
	h.bytes -= d.pinned()
	if h.messages > 0 {
		h.free = append(h.free, slot)
		return d
	}
	h.slots, h.free = h.slots[:0], h.free[:0]
	if h.slack.emptied(cap(h.slots), holdSlotsMin) {
		h.slots, h.free = nil, nil
	}
	return d
}

// drop releases a message that nobody will see.
func (h *holdBudget) drop(d *Delivery) {
	h.stale++
	d.Release()
}
