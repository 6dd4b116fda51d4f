package session

import "github.com/raknet-go/raknet/protocol"

// Join is Send for a whole reliable ordered message without a receipt, if it fits what is about to leave anyway. False means that it
// does not, or that there is a reason to refuse it, and nothing was done.
func (c *Conn) Join(payload []byte, channel uint8, p protocol.Priority) bool {
	if c.state != Connected || len(payload) == 0 || protocol.ID(payload[0]).IsControl() || !c.eng.Join(payload, channel, p) {
		return false
	}
	c.said = saidSomething // what it joined may be the connection's own
	return true
}
