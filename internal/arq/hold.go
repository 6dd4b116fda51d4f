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
	messages, bytes int
	stale           uint64 // messages dropped because a newer one was delivered, or as second copies
	store           *holdStore
}

// holdStore is where the messages are; there is none until the first of them.
type holdStore struct {
	slots []Delivery
	free  []int32
	slack slack
}

// holdSlotsMin is how many slots stay while nothing waits. Arbitrary.
const holdSlotsMin = 64

// full reports whether the budget, l.HeldMessages and l.HeldBytes, is used up.
func (h *holdBudget) full(l *Limits) bool {
	return h.messages >= l.HeldMessages || h.bytes >= l.HeldBytes
}

// exhausted reports whether the firm bound is reached, too.
func (h *holdBudget) exhausted(l *Limits) bool {
	messages, bytes := l.HeldMessages, l.HeldBytes
	return h.messages >= messages+messages/4 || h.bytes >= bytes+bytes/4
}

// put keeps a message and returns its slot.
func (h *holdBudget) put(d Delivery) int32 {
	d.tighten()
	h.messages++
	h.bytes += d.Charge()
	if h.store == nil {
		h.store = new(holdStore)
	}
	s := h.store
	s.slack.used(h.messages)
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		s.slots[slot] = d
		return slot
	}
	s.slots = append(s.slots, d)
	return int32(len(s.slots) - 1)
}

// take returns the message in a slot and empties it.
func (h *holdBudget) take(slot int32) Delivery {
	s := h.store
	d := s.slots[slot]
	s.slots[slot] = Delivery{}
	h.messages--
	h.bytes -= d.Charge()
	if h.messages > 0 {
		s.free = append(s.free, slot)
		return d
	}
	s.slots, s.free = s.slots[:0], s.free[:0]
	if s.slack.emptied(cap(s.slots), holdSlotsMin) {
		s.slots, s.free = nil, nil
	}
	return d
}

// rest gives back memory.
func (h *holdBudget) rest() {
	if h.messages == 0 {
		h.store = nil
	}
}

// drop releases a message that nobody will see.
func (h *holdBudget) drop(d *Delivery) {
	h.stale++
	d.Release()
}
