//go:build unix || windows

package udp

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestErrorsAreSortedByWhatTheySayOfTheSocket(t *testing.T) {
	wrap := func(err error) error {
		return &net.OpError{Op: "write", Net: "udp", Err: os.NewSyscallError("sendto", err)}
	}
	for _, c := range []struct {
		err                         error
		transient, tooLarge, closed bool
	}{
		{nil, false, false, false},
		{io.EOF, false, false, true},
		{io.ErrClosedPipe, false, false, true},
		{fmt.Errorf("wrapped: %w", net.ErrClosed), false, false, true},
		{os.ErrDeadlineExceeded, false, false, false},
		{io.ErrUnexpectedEOF, false, false, false},
		{ErrAddress, true, false, false},
		{&net.OpError{Err: &net.AddrError{Err: "non-IPv4 address"}}, true, false, false},
		{wrap(refused), true, false, false},
		{wrap(tooLarge), true, true, false},
		{tooLarge, true, true, false},
		{wrap(noRoute), true, false, false},
		{wrap(syscall.EBADF), false, false, false},
	} {
		if got := IsTransient(c.err); got != c.transient {
			t.Errorf("IsTransient(%v) = %v", c.err, got)
		}
		if got := IsTooLarge(c.err); got != c.tooLarge {
			t.Errorf("IsTooLarge(%v) = %v", c.err, got)
		}
		if got := IsClosed(c.err); got != c.closed {
			t.Errorf("IsClosed(%v) = %v", c.err, got)
		}
	}
}
