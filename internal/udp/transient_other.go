//go:build !unix && !windows

package udp

// Systems without a UDP of their own have carriers that the user brought; what their
// errors mean is not known.

func transientErrno(error) bool { return false }
func tooLargeErrno(error) bool  { return false }
func repeatErrno(error) bool    { return false }
