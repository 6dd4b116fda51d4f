package raknet

import (
	"context"
	"errors"
	"net"

	"github.com/raknet-go/raknet/internal/endpoint"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
)

// endCause maps the internal reason for which a connection ended to the public one,
// which its methods and its context report from then on. Each satisfies
// errors.Is(err, net.ErrClosed).
func endCause(err error) error {
	if err == net.ErrClosed { // bare: closed on this side
		return errClosedHere
	}
	for _, m := range endCauses {
		if errors.Is(err, m.internal) {
			return m.public
		}
	}
	if errors.Is(err, net.ErrClosed) {
		return err
	}
	return &causedError{err}
}

var errClosedHere = &DisconnectError{Remote: false}

var endCauses = []struct{ internal, public error }{
	{session.ErrDisconnected, &DisconnectError{Remote: true}},
	{session.ErrClosed, errClosedHere},
	{session.ErrCloseTimeout, errClosedHere},
	{session.ErrIdleTimeout, ErrIdleTimeout},
	{session.ErrStalled, ErrUnacknowledged},
	{session.ErrReceiveOverflow, ErrReceiveOverflow},
	{session.ErrHandshakeTimeout, ErrHandshakeTimeout},
	{session.ErrViolations, ErrProtocolViolation},
	{session.ErrEarlyOverflow, ErrProtocolViolation},
	{session.ErrIncomplete, ErrUnfinishedMessage},
	{session.ErrInvalidPassword, &RejectedError{RejectInvalidPassword}},
	{session.ErrRefused, &RejectedError{RejectAttemptFailed}},
	{endpoint.ErrHandlerPanic, ErrHandlerPanic},
	{endpoint.ErrReplaced, ErrReplaced},
	{endpoint.ErrUnaccepted, ErrUnaccepted},
	{endpoint.ErrMemoryBudget, ErrMemoryBudget},
}

// causedError is the end of a connection for a reason from outside this module, such as
// an error of the socket.
type causedError struct{ err error }

func (e *causedError) Error() string   { return "connection lost: " + e.err.Error() }
func (e *causedError) Unwrap() []error { return []error{net.ErrClosed, e.err} }

// callError maps what a call into the endpoint returned to what the user gets.
func callError(err error) error {
	if err == net.ErrClosed {
		return errClosedHere
	}
	for _, m := range callErrors {
		if errors.Is(err, m.internal) {
			return m.public
		}
	}
	return err
}

var callErrors = []struct{ internal, public error }{
	{endpoint.ErrBufferTooSmall, ErrBufferTooSmall},
	{endpoint.ErrReceipts, ErrTooManyReceipts},
	{session.ErrControlID, ErrReservedID},
	{session.ErrEmpty, ErrEmptyMessage},
	{session.ErrChannel, ErrInvalidChannel},
	{session.ErrReliability, ErrInvalidReliability},
	{session.ErrPriority, ErrInvalidPriority},
	{session.ErrMessageTooLarge, ErrMessageTooLarge},
}

// dialError maps why a dial or ping failed to what the user gets.
func dialError(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return contextErr(ctx, ErrNoAnswer)
	}
	var version *offline.VersionError
	if errors.As(err, &version) {
		return &VersionError{Client: version.Client, Server: version.Server}
	}
	var refused *offline.RefusedError
	if errors.As(err, &refused) {
		return &RejectedError{Reason: rejectReason(refused.Reason)}
	}
	if errors.Is(err, offline.ErrSecurityUnsupported) {
		return &RejectedError{Reason: RejectSecurityRequired}
	}
	for _, m := range endCauses {
		if errors.Is(err, m.internal) {
			return m.public
		}
	}
	return err
}

// rejectReason is the public name of a refusal.
func rejectReason(r offline.Refusal) RejectReason {
	switch r {
	case offline.NoFreeSlots:
		return RejectNoFreeSlots
	case offline.Banned:
		return RejectBanned
	case offline.AlreadyConnected:
		return RejectAlreadyConnected
	case offline.RecentlyConnected:
		return RejectRecentlyConnected
	case offline.InvalidPassword:
		return RejectInvalidPassword
	case offline.SecurityRequired:
		return RejectSecurityRequired
	}
	return RejectAttemptFailed
}
