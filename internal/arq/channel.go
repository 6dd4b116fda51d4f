package arq

// orderChannel is the receiving end of one ordering channel. It owns both ordered
// release and the filter for sequenced messages, because the two share the
// channel's ordering index: an ordered message uses an index up; a sequenced one
// carries the index of the ordered message to come and a sequencing index that
// starts over at 0 after each ordered message. So a sequenced message sent after an
// ordered one that is missing waits for it, and one sent before an ordered one that
// was delivered is stale.
//
// The original engine forgets to start the sequencing index over when an ordered
// message is released from its heap, and drops fresh sequenced messages then; and it
// packs both indexes into one weight that overflows at 2^20 sequenced messages. Here
// neither happens.
type orderChannel struct {
	next     int64     // index of the ordered message to come
	held     *heldHeap // nil: nothing had to wait since the connection rested
	sequence uint32    // lowest sequencing index to deliver under next, 24 bits
}

// heldHeap is what waits in a channel.
type heldHeap struct {
	keys    []heldKey
	arrived uint64 // messages that had to wait so far: breaks ties, so that the first copy wins
	slack   slack
}

// heldKey orders what waits: by ordering index, then sequenced before ordered, then
// by sequencing index, then by arrival. Sequencing indexes compare as plain numbers:
// among messages that wait they started at 0.
type heldKey struct {
	order    int64
	arrived  uint64
	sequence uint32 // heldOrdered for an ordered message
	slot     int32  // where holdBudget keeps the message
}

// heldOrdered sorts an ordered message behind every sequenced one of its index.
const heldOrdered = 1 << seqBits

// heldKeysMin is how large a heap may stay while it is empty. Arbitrary.
const heldKeysMin = 64

func (c *orderChannel) init(first int64) { *c = orderChannel{next: first} }

// waiting returns how many messages wait.
func (c *orderChannel) waiting() int {
	if c.held == nil {
		return 0
	}
	return len(c.held.keys)
}

// expand returns the ordering index as a number near next; it takes expanded and
// raw ones alike.
func (c *orderChannel) expand(order int64) int64 { return expand24(wire24(order), c.next) }

// accept takes a message with ordering index order (24 bits, or expanded) and, if
// it is sequenced, sequencing index seq. It appends to out what can be delivered
// now, in order. What is stale or came before is released and counted; what must
// wait is kept, whatever the hold budget says: to refuse is the caller's decision,
// before it acknowledges anything.
func (c *orderChannel) accept(hold *holdBudget, order int64, seq uint32, sequenced bool, d Delivery, out []Delivery) []Delivery {
	order = c.expand(order)
	switch {
	case order < c.next:
		hold.drop(&d)
		return out
	case order > c.next:
		c.wait(hold, order, seq, sequenced, d)
		return out
	case sequenced:
		return c.sequenced(hold, seq, d, out)
	}
	c.next++
	c.sequence = 0
	out = append(out, d)
	if c.waiting() > 0 {
		out = c.release(hold, out)
	}
	return out
}

// sequenced delivers a sequenced message of the current index unless it is older
// than one already delivered.
func (c *orderChannel) sequenced(hold *holdBudget, seq uint32, d Delivery, out []Delivery) []Delivery {
	if older24(seq, c.sequence) {
		hold.drop(&d)
		return out
	}
	c.sequence = (seq + 1) & seqMask
	return append(out, d)
}

// wait puts a message of a later index on the heap.
func (c *orderChannel) wait(hold *holdBudget, order int64, seq uint32, sequenced bool, d Delivery) {
	if c.held == nil {
		c.held = new(heldHeap)
	}
	h := c.held
	k := heldKey{order: order, arrived: h.arrived, sequence: heldOrdered, slot: hold.put(d)}
	if sequenced {
		k.sequence = seq & seqMask
	}
	h.arrived++
	h.keys = append(h.keys, k)
	h.slack.used(len(h.keys))
	h.up(len(h.keys) - 1)
}

// release delivers what waited for the index that was just reached, and so on.
func (c *orderChannel) release(hold *holdBudget, out []Delivery) []Delivery {
	h := c.held
	for len(h.keys) > 0 && h.keys[0].order <= c.next {
		k := h.keys[0]
		h.pop()
		d := hold.take(k.slot)
		switch {
		case k.order < c.next:
			hold.drop(&d) // a second copy of an ordered message
		case k.sequence != heldOrdered:
			out = c.sequenced(hold, k.sequence, d, out)
		default:
			c.next++
			c.sequence = 0
			out = append(out, d)
		}
	}
	if len(h.keys) == 0 && h.slack.emptied(cap(h.keys), heldKeysMin) {
		h.keys = nil
	}
	return out
}

// close releases everything that waits.
func (c *orderChannel) close(hold *holdBudget) {
	if c.held == nil {
		return
	}
	for _, k := range c.held.keys {
		d := hold.take(k.slot)
		d.Release()
	}
	c.held = nil
}

// rest gives back memory.
func (c *orderChannel) rest() {
	if c.waiting() == 0 {
		c.held = nil
	}
}

func (a *heldKey) less(b *heldKey) bool {
	if a.order != b.order {
		return a.order < b.order
	}
	if a.sequence != b.sequence {
		return a.sequence < b.sequence
	}
	return a.arrived < b.arrived
}

// up and pop are the usual binary heap. A message that arrives in the order of its
// index, as nearly all that wait do, moves nothing on its way in.
func (w *heldHeap) up(i int) {
	h := w.keys
	k := h[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !k.less(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = k
}

func (w *heldHeap) pop() {
	h := w.keys
	n := len(h) - 1
	k := h[n]
	h = h[:n]
	w.keys = h
	if n == 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if r := child + 1; r < n && h[r].less(&h[child]) {
			child = r
		}
		if !h[child].less(&k) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = k
}

// orderChannels are the ordering channels of one connection and what waits in all of
// them. Every connection uses channel 0, and most no other: those are made when first used.
type orderChannels struct {
	zero  orderChannel
	other *[]*orderChannel // from 1 up to the highest used so far; nil: not used yet
	first int64
	hold  holdBudget
}

// init starts every channel at index first.
func (o *orderChannels) init(first int64) {
	*o = orderChannels{first: first}
	o.zero.init(first)
}

// of returns channel ch, nil if it was not used yet.
func (o *orderChannels) of(ch uint8) *orderChannel {
	if ch == 0 {
		return &o.zero
	}
	if o.other != nil && int(ch) <= len(*o.other) {
		return (*o.other)[ch-1]
	}
	return nil
}

// get returns channel ch, which must be below OrderingChannels.
func (o *orderChannels) get(ch uint8) *orderChannel {
	if c := o.of(ch); c != nil {
		return c
	}
	if o.other == nil {
		o.other = new([]*orderChannel)
	}
	if more := int(ch) - len(*o.other); more > 0 {
		*o.other = append(*o.other, make([]*orderChannel, more)...)
	}
	c := new(orderChannel)
	c.init(o.first)
	(*o.other)[ch-1] = c
	return c
}

// accept takes a message of channel ch; see orderChannel.accept.
func (o *orderChannels) accept(ch uint8, order int64, seq uint32, sequenced bool, d Delivery, out []Delivery) []Delivery {
	return o.get(ch).accept(&o.hold, order, seq, sequenced, d, out)
}

// next returns the index that channel ch expects, without making the channel.
func (o *orderChannels) next(ch uint8) int64 {
	if c := o.of(ch); c != nil {
		return c.next
	}
	return o.first
}

// wants reports whether order, as on the wire, is the index that channel ch expects.
func (o *orderChannels) wants(ch uint8, order uint32) bool { return order == wire24(o.next(ch)) }

// holds reports whether a message with that index would have to wait.
func (o *orderChannels) holds(ch uint8, order uint32) bool {
	n := o.next(ch)
	return expand24(order, n) > n
}

// close releases everything that waits in any channel.
func (o *orderChannels) close() {
	o.each(func(c *orderChannel) { c.close(&o.hold) })
}

// rest gives back the memory of what waited.
func (o *orderChannels) rest() {
	o.each((*orderChannel).rest)
	o.hold.rest()
}

// each calls f for every channel in use.
func (o *orderChannels) each(f func(c *orderChannel)) {
	f(&o.zero)
	if o.other == nil {
		return
	}
	for _, c := range *o.other {
		if c != nil {
			f(c)
		}
	}
}
