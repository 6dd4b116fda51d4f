package endpoint

import "errors"

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
	// do for a while after a reply of theirs was lost. Dial again from another local port.
	ErrFreshPort = errors.New("server does not go on with this local port")
	// ErrInUse: the endpoint has a connection to this address, or is dialing it.
	ErrInUse = errors.New("address is already connected or being dialed")
	// ErrHandlerPanic: the user's handler panicked, which ended the connection.
	ErrHandlerPanic = errors.New("message handler panicked")
)
