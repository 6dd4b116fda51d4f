package udp

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

func transientErrno(err error) bool {
	switch errnoOf(err) {
	case windows.WSAECONNREFUSED, windows.WSAECONNRESET, windows.WSAECONNABORTED, windows.WSAENETRESET, // ICMP: nobody is there
		windows.WSAEHOSTUNREACH, windows.WSAEHOSTDOWN, windows.WSAENETUNREACH, windows.WSAENETDOWN, // no way there at present
		windows.WSAEMSGSIZE,      // an MTU probe does not fit, or what was received
		windows.WSAENOBUFS,       // the queue of the network card is full
		windows.WSAEACCES,        // a firewall; a broadcast address
		windows.WSAEADDRNOTAVAIL, // the address to send to or from is none
		windows.WSAEAFNOSUPPORT,  // an address of the other IP version
		windows.WSAEINVAL,        // an address that the system does not like
		windows.ERROR_PORT_UNREACHABLE, windows.ERROR_HOST_UNREACHABLE, windows.ERROR_NETWORK_UNREACHABLE,
		windows.WSAEWOULDBLOCK, windows.WSAEINTR:
		return true
	}
	return false
}

func tooLargeErrno(err error) bool {
	errno := errnoOf(err)
	return errno == windows.WSAEMSGSIZE || errno == windows.ERROR_MORE_DATA
}

func repeatErrno(err error) bool {
	errno := errnoOf(err)
	return errno == windows.WSAECONNREFUSED || errno == windows.WSAECONNRESET || errno == windows.ERROR_PORT_UNREACHABLE
}

// errnoOf returns the system's error number in err, zero if there is none.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	errors.As(err, &errno)
	return errno
}
