//go:build unix

package udp

import (
	"errors"
	"syscall"
)

func transientErrno(err error) bool {
	switch errnoOf(err) {
	case syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, // ICMP: nobody is there
		syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH, syscall.ENETDOWN, // no way there at present
		syscall.EPROTO, syscall.ENOPROTOOPT, // the rarer kinds of ICMP, on Linux
		syscall.EMSGSIZE,                // an MTU probe does not fit
		syscall.ENOBUFS, syscall.ENOMEM, // the queue of the network card is full
		syscall.EPERM, syscall.EACCES, // a firewall; a broadcast address
		syscall.EADDRNOTAVAIL, // the address to send from has gone
		syscall.EAFNOSUPPORT,  // an address of the other IP version
		syscall.EINVAL,        // an address that the system does not like
		syscall.EIO,           // the network card's offloading
		syscall.EAGAIN, syscall.EINTR:
		return true
	}
	return false
}

func tooLargeErrno(err error) bool { return errnoOf(err) == syscall.EMSGSIZE }

func repeatErrno(err error) bool {
	errno := errnoOf(err)
	return errno == syscall.ECONNREFUSED || errno == syscall.EPERM
}

// errnoOf returns the system's error number in err, zero if there is none.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	errors.As(err, &errno)
	return errno
}
