package raknet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/endpoint"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
)

// Whatever ends a connection, programs that only ask whether it is closed get their
// answer.
func TestEveryEndIsAClosedConnection(t *testing.T) {
	ends := []error{
		session.ErrClosed, session.ErrCloseTimeout, session.ErrDisconnected, session.ErrIdleTimeout,
		session.ErrReceiveOverflow, session.ErrEarlyOverflow, session.ErrViolations, session.ErrStalled,
		endpoint.ErrHandlerPanic, endpoint.ErrReplaced, endpoint.ErrUnaccepted, endpoint.ErrNoRoom,
		endpoint.ErrMemoryBudget, session.ErrIncomplete,
		net.ErrClosed, io.ErrUnexpectedEOF, fmt.Errorf("wrapped: %w", session.ErrIdleTimeout),
	}
	for _, end := range ends {
		cause := endCause(end)
		require.ErrorIs(t, cause, net.ErrClosed, "%v", end)
		require.Equal(t, end == session.ErrDisconnected, errors.Is(cause, io.EOF), "%v", end)
		op := opError("read", nil, nil, cause).(*net.OpError)
		require.False(t, op.Timeout(), "%v", end)
	}
	require.ErrorIs(t, endCause(fmt.Errorf("wrapped: %w", session.ErrIdleTimeout)), ErrIdleTimeout)
	require.ErrorIs(t, endCause(io.ErrUnexpectedEOF), io.ErrUnexpectedEOF, "what is not ours stays findable")

	var how *DisconnectError
	require.ErrorAs(t, endCause(net.ErrClosed), &how)
	require.False(t, how.Remote)
	require.ErrorAs(t, endCause(session.ErrDisconnected), &how)
	require.True(t, how.Remote)
}

func TestDialErrors(t *testing.T) {
	ctx := t.Context()
	for refusal, reason := range map[offline.Refusal]RejectReason{
		offline.NoFreeSlots: RejectNoFreeSlots, offline.Banned: RejectBanned, offline.AlreadyConnected: RejectAlreadyConnected,
		offline.RecentlyConnected: RejectRecentlyConnected, offline.InvalidPassword: RejectInvalidPassword, offline.SecurityRequired: RejectSecurityRequired,
	} {
		require.Equal(t, &RejectedError{reason}, dialError(ctx, &offline.RefusedError{Reason: refusal}))
	}
	require.Equal(t, &RejectedError{RejectSecurityRequired}, dialError(ctx, offline.ErrSecurityUnsupported))
	require.Equal(t, &RejectedError{RejectInvalidPassword}, dialError(ctx, session.ErrInvalidPassword))
	require.Equal(t, &RejectedError{RejectAttemptFailed}, dialError(ctx, session.ErrRefused))
	require.Equal(t, &VersionError{Client: 11, Server: 6}, dialError(ctx, &offline.VersionError{Client: 11, Server: 6}))
	require.Equal(t, ErrHandshakeTimeout, dialError(ctx, session.ErrHandshakeTimeout))
	require.True(t, opError("dial", nil, nil, ErrHandshakeTimeout).(*net.OpError).Timeout())
	require.Equal(t, io.ErrClosedPipe, dialError(ctx, io.ErrClosedPipe))
}

// Every message says what happened in words that need no source code, and looks
// good behind "read raknet 1.2.3.4:5: ".
func TestMessagesAreForReaders(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the cause"))
	all := []error{
		ErrBufferTooSmall, ErrMessageTooLarge, ErrEmptyMessage, ErrReservedID, ErrInvalidChannel, ErrInvalidReliability,
		ErrInvalidPriority, ErrTooManyReceipts, ErrReceiptLost, ErrNotSupported, ErrListenerClosed, ErrIdleTimeout,
		ErrUnacknowledged, ErrReceiveOverflow, ErrHandshakeTimeout, ErrHandlerPanic, ErrReplaced, ErrUnaccepted,
		ErrMemoryBudget, ErrUnfinishedMessage,
		ErrProtocolViolation, ErrIgnoreRequest, ErrNoAnswer,
		&VersionError{11, 8}, &DisconnectError{true}, &DisconnectError{false}, &causedError{io.ErrUnexpectedEOF},
		contextErr(ctx, nil), contextErr(ctx, ErrNoAnswer),
	}
	for r := RejectNoFreeSlots; r <= RejectAttemptFailed; r++ {
		all = append(all, &RejectedError{r})
		require.NotContains(t, r.String(), "reason ")
	}
	require.Equal(t, "reason 99", RejectReason(99).String())
	seen := map[string]bool{}
	for _, err := range all {
		text := err.Error()
		require.False(t, seen[text], "twice: %s", text)
		seen[text] = true
		require.False(t, strings.HasPrefix(text, "raknet"), text)
		require.NotRegexp(t, `[.!]$`, text)
		require.NotRegexp(t, `^[A-Z][a-z]`, text)
	}
	require.Contains(t, contextErr(ctx, ErrNoAnswer).Error(), "the cause")
}

func TestContextErrors(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	err := ofContext(ctx, context.Canceled)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, why)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Equal(t, io.EOF, ofContext(ctx, io.EOF), "not every error under an ended context is its own")

	late, cancelLate := context.WithDeadline(t.Context(), time0)
	defer cancelLate()
	err = opError("dial", nil, nil, dialError(late, context.DeadlineExceeded))
	var ne net.Error
	require.ErrorAs(t, err, &ne)
	require.True(t, ne.Timeout())
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.ErrorIs(t, err, ErrNoAnswer)
	require.NoError(t, opError("dial", nil, nil, nil))
}
