package session

import (
	"errors"

	"github.com/raknet-go/raknet/internal/arq"
)

// Reasons for which Send refuses a message. Nothing was queued, and the
// connection is unharmed.
var (
	// ErrControlID: the first byte is an identifier that connections keep for
	// themselves (protocol.ID.IsControl), so the peer would not deliver it.
	ErrControlID = errors.New("message starts with a control identifier")
	// ErrNotConnected: the handshake is not complete.
	ErrNotConnected = errors.New("not connected")
	// ErrReliability: the reliability is none of the eight.
	ErrReliability = arq.ErrReliability
	// ErrPriority: the priority is none of the four.
	ErrPriority = arq.ErrPriority
	// ErrEmpty: RakNet cannot carry an empty message.
	ErrEmpty = arq.ErrEmpty
	// ErrChannel: the ordering channel is not in 0..31.
	ErrChannel = arq.ErrChannel
	// ErrMessageTooLarge: the message needs more fragments than the peer takes.
	ErrMessageTooLarge = arq.ErrMessageTooLarge
	// ErrSendBufferFull: the message does not fit before earlier ones are acknowledged.
	ErrSendBufferFull = arq.ErrSendBufferFull
)

// Reasons for which a connection ends, as carried by EventClosed. Abort adds
// whatever its caller gives as the cause.
var (
	// ErrClosed: Close was called here, and everything reliable written before
	// it was acknowledged by the peer. Send gives it too once Close was called.
	ErrClosed = errors.New("connection closed")
	// ErrCloseTimeout: Close was called here, but the peer did not acknowledge
	// everything written before it within Timing.Drain.
	ErrCloseTimeout = errors.New("connection closed before everything written was acknowledged")
	// ErrDisconnected: the peer sent a disconnect notification (0x15).
	ErrDisconnected = errors.New("peer disconnected")
	// ErrIdleTimeout: nothing believable came from the peer for Timing.Idle.
	ErrIdleTimeout = errors.New("peer fell silent")
	// ErrHandshakeTimeout: the handshake did not complete within Timing.Handshake.
	ErrHandshakeTimeout = errors.New("handshake timed out")
	// ErrRefused: the server answered the connection request with 0x11.
	ErrRefused = errors.New("connection attempt refused")
	// ErrInvalidPassword: the server answered the connection request with 0x18.
	ErrInvalidPassword = errors.New("server requires another password")
	// ErrReceiveOverflow: the application left more than Limits.ReceiveBuffer
	// unread for Timing.ReceiveStall.
	ErrReceiveOverflow = errors.New("received messages were left unread too long")
	// ErrEarlyOverflow: the peer sent more before completing the handshake than
	// is held for it (heldBytes, heldMessages).
	ErrEarlyOverflow = errors.New("too much data before the handshake completed")
	// ErrViolations: the peer sent more malformed or rule-breaking datagrams than
	// the strike budget forgives.
	ErrViolations = errors.New("too many protocol violations")
	// ErrIncomplete: the peer began a reliable message and did not finish it within
	// Limits.ReassemblyAge, so that what was acknowledged cannot be delivered.
	ErrIncomplete = errors.New("peer left a message unfinished")
	// ErrStalled: the peer was heard, but did not acknowledge some reliable frame
	// for Timing.Unacked.
	ErrStalled = errors.New("peer stopped acknowledging")
)
