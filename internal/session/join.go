package session

import (
	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/protocol"
)

// Join is Send for a whole reliable ordered message without a receipt, if it fits what is about to leave anyway. False means that it
// does not, or that there is a reason to refuse it, and nothing was done.
func (c *Conn) Join(m *arq.Message) bool {
	return c.state == Connected && len(m.Payload) > 0 && !protocol.ID(m.Payload[0]).IsControl() && c.eng.Join(m)
}
