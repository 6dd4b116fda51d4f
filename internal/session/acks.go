package session

// HoldAcks lets more come before it is acknowledged. Whoever calls it looks soon whether more has
// come, and calls HurryAcks if not.
func (c *Conn) HoldAcks(hold bool) { c.eng.HoldAcks(hold) }

// HurryAcks lets what waits to be acknowledged not wait any longer.
func (c *Conn) HurryAcks() { c.eng.HurryAcks() }

// AckOwed reports whether datagrams wait to be acknowledged.
func (c *Conn) AckOwed() bool { return c.eng.AckOwed() }
