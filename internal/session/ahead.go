package session

import "github.com/raknet-go/raknet/internal/monotime"

// Ahead reports that a sender should wait until CaughtUp holds, or until Delivered does not
// change any more, though there is SendSpace: on this path it gains nothing by being further ahead.
func (c *Conn) Ahead() bool { return c.eng.Ahead() }

// CaughtUp reports whether a sender who was ahead may go on.
func (c *Conn) CaughtUp() bool { return c.eng.CaughtUp() }

// Flowing reports that ACKs will come soon, so that what is queued may wait for them and
// leave with more, unless Plenty is queued.
func (c *Conn) Flowing() bool { return c.eng.Flowing() }

// Plenty reports whether what is queued is worth a system call and may leave.
func (c *Conn) Plenty() bool { return c.eng.Plenty() }

// Delivered returns how many bytes of datagrams the peer has acknowledged.
func (c *Conn) Delivered() int64 { return c.eng.Delivered() }

// Now returns the latest moment that the connection has heard of.
func (c *Conn) Now() monotime.Time { return c.now }
