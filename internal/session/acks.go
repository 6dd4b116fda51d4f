package session

import "github.com/raknet-go/raknet/internal/arq"

// HoldAcks lets more come before it is acknowledged.
func (c *Conn) HoldAcks(how arq.Hold) { c.eng.HoldAcks(how) }

// HurryAcks lets what waits to be acknowledged not wait any longer.
func (c *Conn) HurryAcks() { c.eng.HurryAcks() }

// AckOwed reports whether datagrams wait to be acknowledged.
func (c *Conn) AckOwed() bool { return c.eng.AckOwed() }
