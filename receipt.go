package raknet

import (
	"errors"

	"github.com/raknet-go/raknet/internal/endpoint"
)

// Receipt tells what became of a message that was sent in a mode with a receipt.
type Receipt struct{ r *endpoint.Receipt }

// Done returns a channel that is closed when the fate of the message is known: it was
// acknowledged, it was lost and is not resent, or the connection ended first.
func (r *Receipt) Done() <-chan struct{} { return r.r.Done() }

// Err returns nil if the peer acknowledged the message, [ErrReceiptLost] if it did
// not in time and the message is not resent, and otherwise why the connection ended.
// Call it after Done; before, it returns nil.
func (r *Receipt) Err() error {
	err := r.r.Err()
	if errors.Is(err, endpoint.ErrReceiptLost) {
		return ErrReceiptLost
	}
	return err
}
