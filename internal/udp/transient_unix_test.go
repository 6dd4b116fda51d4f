//go:build unix

package udp

import "syscall"

const (
	refused  = syscall.ECONNREFUSED
	tooLarge = syscall.EMSGSIZE
	noRoute  = syscall.EHOSTUNREACH
)
