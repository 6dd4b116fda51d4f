package raknet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
)

// Errors of single calls. The connection or listener stays as it was.
var (
	// ErrBufferTooSmall means that the next message did not fit into the slice given
	// to [Conn.Read]. The message is gone: read into a larger slice, or use ReadPacket.
	ErrBufferTooSmall = errors.New("buffer is too small for the message, which was dropped: pass a " +
		"larger one or use ReadPacket")
	// ErrMessageTooLarge means that a message is larger than [PeerLimits] or [Limits] let
	// this side send. It comes in a [*MessageSizeError], which has the numbers.
	ErrMessageTooLarge = errors.New("message is too large to send: split it up, or set other " +
		"PeerLimits or Limits.MaxFragments if the peer takes it")
	// ErrEmptyMessage means that a message had no bytes. The protocol cannot carry such
	// a message.
	ErrEmptyMessage = errors.New("cannot send an empty message: RakNet messages have at least one byte")
	// ErrReservedID means that a message starts with a byte that RakNet uses itself:
	// 0x00, 0x03, 0x04, 0x09, 0x10, 0x13, 0x15 or 0x18.
	ErrReservedID = errors.New("the first byte of the message is reserved by RakNet: start messages " +
		"with an identifier of your own, such as 0xfe")
	// ErrInvalidChannel means that [SendOptions].Channel is above 31.
	ErrInvalidChannel = errors.New("no such ordering channel: use 0 to 31")
	// ErrInvalidReliability means that [SendOptions].Reliability is none of the eight
	// modes.
	ErrInvalidReliability = errors.New("no such delivery mode: use one of the Reliability constants")
	// ErrInvalidPriority means that [SendOptions].Priority is none of the four
	// priorities.
	ErrInvalidPriority = errors.New("no such priority: use one of the Priority constants")
	// ErrTooManyReceipts means that too many receipts of the connection are open. Wait
	// for some of them first.
	ErrTooManyReceipts = errors.New("too many receipts are open: wait for some of them before sending " +
		"with another")
	// ErrReceiptLost is what [Receipt.Err] says of an unreliable message that was not
	// acknowledged in time. It may have arrived nevertheless: only its acknowledgement
	// is missing.
	ErrReceiptLost = errors.New("message was not acknowledged and is not resent: it was probably lost")
	// ErrNotSupported is here for programs that mention it. Nothing returns it.
	ErrNotSupported = errors.New("not supported")
)

// Errors that say why a connection or listener ended. For each, errors.Is also
// finds [net.ErrClosed]. Timeout() is false for all but ErrHandshakeTimeout, which
// only a dial returns: calling again does not help.
var (
	// ErrListenerClosed means that the listener was closed by Close or Shutdown.
	ErrListenerClosed error = &endError{text: "listener is closed"}
	// ErrIdleTimeout means that nothing was heard from the peer for [Timeouts].Idle.
	ErrIdleTimeout error = &endError{text: "connection lost: nothing was heard from the peer for the idle timeout"}
	// ErrUnacknowledged means that the peer was heard but left a reliable message
	// unacknowledged for so long that it cannot be trusted to arrive.
	ErrUnacknowledged error = &endError{text: "connection lost: the peer acknowledges nothing that is sent to it"}
	// ErrReceiveOverflow means that the application read so slowly that
	// [Limits].ReceiveBuffer stayed full until patience ended.
	ErrReceiveOverflow error = &endError{text: "connection closed: unread messages filled the receive buffer: " +
		"read faster, or raise Limits.ReceiveBuffer"}
	// ErrHandshakeTimeout means that the server answered at first, but the connection
	// was not complete after [Timeouts].Handshake.
	ErrHandshakeTimeout error = &endError{text: "the handshake was not finished in time", timeout: true}
	// ErrHandlerPanic means that a function given to [Conn.Handle] or
	// [ListenConfig].Handler panicked.
	ErrHandlerPanic error = &endError{text: "connection closed: its message handler panicked"}
	// ErrReplaced means that the peer, which had fallen silent, proved its address and
	// connected anew: it had forgotten this connection.
	ErrReplaced error = &endError{text: "connection lost: the peer forgot it and connected anew"}
	// ErrUnaccepted means that a connection waited too long for [Listener.Accept].
	ErrUnaccepted error = &endError{text: "connection closed: nobody accepted it in time"}
	// ErrMemoryBudget means that the connections that share a [MemoryBudget] held more than
	// that, and this one was among those that held most.
	ErrMemoryBudget error = &endError{text: "connection closed: it held the most of all connections, which together " +
		"exceeded their memory budget: see Memory of the ListenConfig and Dialer"}
	// ErrUnfinishedMessage means that the peer began a reliable message and sent no more of it
	// for half a minute, although it was there, so that the connection cannot keep its promise.
	ErrUnfinishedMessage error = &endError{text: "connection closed: the peer left a message unfinished"}
	// ErrProtocolViolation means that the peer sent more malformed or impossible
	// datagrams than a broken link explains.
	ErrProtocolViolation error = &endError{text: "connection closed: the peer broke the rules of the protocol too often"}
)

// ErrIgnoreRequest is what [ListenConfig].Admit returns to leave a request without
// any answer.
var ErrIgnoreRequest = errors.New("connection request is to be ignored")

// ErrNoAnswer means that a server did not answer a dial or a ping at all. It comes
// together with the error of the context or time limit that ended the wait, so
// Timeout() is true for it in a [*net.OpError].
var ErrNoAnswer = errors.New("no answer: check address and port, and that UDP passes every firewall on the way")

// endError is the end of a connection or listener for a reason other than a disconnect.
type endError struct {
	text    string
	timeout bool
}

func (e *endError) Error() string        { return e.text }
func (e *endError) Is(target error) bool { return target == net.ErrClosed }
func (e *endError) Timeout() bool        { return e.timeout }

// VersionError says that server and client speak no common version of the protocol.
// Bedrock since 1.19.30 is version 11, before that 10; the original engine 4.08x is
// 6.
type VersionError struct {
	Client byte // the version the client asked for
	Server byte // the version the server says it speaks
}

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the server speaks RakNet version %d, the client version %d: "+
		"set ProtocolVersion of the Dialer, or ProtocolVersions of the ListenConfig", e.Server, e.Client)
}

// RejectReason says why a server refused a connection.
type RejectReason uint8

// The reasons for a refusal, in the protocol's terms.
const (
	// RejectNoFreeSlots means that the server is full (0x14).
	RejectNoFreeSlots RejectReason = iota
	// RejectBanned means that the server does not want this client (0x17).
	RejectBanned
	// RejectAlreadyConnected means that the client's address or GUID is connected
	// already (0x12).
	RejectAlreadyConnected
	// RejectRecentlyConnected means that the client came back too soon (0x1a).
	RejectRecentlyConnected
	// RejectInvalidPassword means that the server wants another password (0x18).
	RejectInvalidPassword
	// RejectSecurityRequired means that the server wants the key exchange of the
	// original engine, which this library does not have (0x0a, 0x0b).
	RejectSecurityRequired
	// RejectAttemptFailed means that the server gave up on the attempt without a reason
	// (0x11).
	RejectAttemptFailed
)

// String says the reason in words.
func (r RejectReason) String() string {
	switch r {
	case RejectNoFreeSlots:
		return "the server is full"
	case RejectBanned:
		return "the server has banned this client"
	case RejectAlreadyConnected:
		return "the server says that this client is connected already"
	case RejectRecentlyConnected:
		return "the server says that this client was connected a moment ago: try again in a few seconds"
	case RejectInvalidPassword:
		return "the server wants another password"
	case RejectSecurityRequired:
		return "the server requires the original engine's secure handshake, which is not supported"
	case RejectAttemptFailed:
		return "the server gave no reason"
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// RejectedError says that a server refused a connection. [ListenConfig].Admit
// returns one to refuse with that reason.
type RejectedError struct {
	Reason RejectReason // zero value: RejectNoFreeSlots
}

// Error says that the connection was refused and why.
func (e *RejectedError) Error() string { return "connection refused: " + e.Reason.String() }

// DisconnectError says that a connection was closed in an orderly way. errors.Is
// finds [net.ErrClosed] in it, and [io.EOF] when the peer did it.
type DisconnectError struct {
	Remote bool // the peer closed it; false: Close was called on this side
}

// Error says who closed.
func (e *DisconnectError) Error() string {
	if e.Remote {
		return "the peer closed the connection"
	}
	return "use of a connection that was closed on this side"
}

// Unwrap makes errors.Is find [net.ErrClosed], and [io.EOF] after a close by the peer.
func (e *DisconnectError) Unwrap() []error {
	if e.Remote {
		return []error{net.ErrClosed, io.EOF}
	}
	return []error{net.ErrClosed}
}

// opError is how every error leaves the package.
func opError(op string, source, addr net.Addr, err error) error {
	if err == nil {
		return nil
	}
	return &net.OpError{Op: op, Net: network, Source: source, Addr: addr, Err: err}
}

// network is the Net of every OpError, and the network that addresses without one
// of their own report.
const network = "raknet"

// contextError is the end of a context: its error, and its cause when that says more.
type contextError struct {
	err, cause error
	detail     error // what was being waited for, or nil
}

// contextErr describes why ctx ended. detail, which may be nil, says what was still
// missing.
func contextErr(ctx context.Context, detail error) error {
	return &contextError{ctx.Err(), context.Cause(ctx), detail}
}

func (e *contextError) Error() string {
	s := e.err.Error()
	if e.cause != nil && e.cause != e.err {
		s += ": " + e.cause.Error()
	}
	if e.detail != nil {
		s = e.detail.Error() + " (" + s + ")"
	}
	return s
}

func (e *contextError) Unwrap() []error {
	errs := []error{e.err}
	if e.cause != nil && e.cause != e.err {
		errs = append(errs, e.cause)
	}
	if e.detail != nil {
		errs = append(errs, e.detail)
	}
	return errs
}

// Is finds os.ErrDeadlineExceeded in a deadline of a context too.
func (e *contextError) Is(target error) bool { return target == os.ErrDeadlineExceeded && e.Timeout() }

// Timeout is true when the context's deadline passed.
func (e *contextError) Timeout() bool { return errors.Is(e.err, context.DeadlineExceeded) }

// Temporary is what net.Error asks for: a deadline of one call leaves the
// connection usable.
func (e *contextError) Temporary() bool { return e.Timeout() }
