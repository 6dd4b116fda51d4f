package endpoint

import (
	"errors"
	"net"
)

// Errors of this package. Beside them, methods return net.ErrClosed after a local
// close, the connection's cause as Config.Cause gave it, os.ErrDeadlineExceeded,
// the errors of contexts, and the errors with which packages session and offline
// refuse a message or a dial. None is wrapped.
var (
	// ErrBufferTooSmall: Read was given a slice shorter than the message, which is lost.
	ErrBufferTooSmall = errors.New("buffer too small for the message")
	// ErrReceiptLost: the message was given up before it was acknowledged.
	ErrReceiptLost = errors.New("message was lost")
	// ErrReceipts: too many receipts are outstanding (maxReceipts).
	ErrReceipts = errors.New("too many receipts are outstanding")
	// ErrFreshPort: the server answered the first request and not the second, as some
	// do for a while after a reply of theirs was lost, or granted the dial and then fell silent. Dial again from
	// another local port.
	ErrFreshPort = errors.New("server does not go on with this local port")
	// ErrInUse: the endpoint has a connection to this address, or is dialing it.
	ErrInUse = errors.New("address is already connected or being dialed")
	// ErrReplaced: the peer proved its address and started anew while this connection
	// was silent, so that it must have forgotten the connection. A cause.
	ErrReplaced = errors.New("peer started a new connection")
	// ErrUnaccepted: nobody accepted the connection in time (acceptPatience). A cause.
	ErrUnaccepted = errors.New("connection was not accepted in time")
	// ErrNoRoom: the connection limit or the accept queue filled up while the
	// handshake was under way. A cause.
	ErrNoRoom = errors.New("no room for the connection")
	// ErrMemoryBudget: the connections that share a Budget exceeded it, and this was among those
	// that held most. A cause.
	ErrMemoryBudget = errors.New("connections hold more memory than their budget")
	// ErrHandlerPanic: the user's handler panicked, which ended the connection. A cause.
	ErrHandlerPanic = errors.New("message handler panicked")
)

// Causes that nobody but a debugger sees.
var (
	errEvicted = errors.New("gave way to a newer handshake")
)

// errGone stands for the connection's cause, which is mapped outside of locks.
var errGone = errors.New("connection is gone")

// orClosed returns err, or net.ErrClosed for nil.
func orClosed(err error) error {
	if err == nil {
		return net.ErrClosed
	}
	return err
}
