package udp

import (
	"errors"
	"io"
	"net"
	"os"
)

// IsTransient reports whether err, of ReadBatch or WriteBatch, says nothing about the
// health of the socket: a datagram was lost on this machine or a router complained about
// one, and the next may well go through. Senders count such a datagram as lost. Anyone on
// the path can cause these errors with a forged ICMP message, so they must not end a
// session.
func IsTransient(err error) bool {
	if err == nil || IsClosed(err) || errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	if errors.Is(err, ErrAddress) {
		return true
	}
	if transientErrno(err) {
		return true
	}
	var address *net.AddrError
	return errors.As(err, &address)
}

// IsTooLarge reports whether err means that a datagram was larger than this machine can
// send undivided: what becomes of an MTU probe that does not fit the first link.
func IsTooLarge(err error) bool {
	return tooLargeErrno(err)
}

// IsClosed reports whether err means that the socket, or the carrier below it, is closed
// for good, by whomever.
func IsClosed(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)
}

// worthAnotherTry reports whether a failed send is to be repeated at once. A connected
// socket reports a router's or the peer's refusal of an earlier datagram by failing to
// send a later one; some firewalls fail the first send of a fresh socket.
func worthAnotherTry(err error) bool {
	return repeatErrno(err)
}
