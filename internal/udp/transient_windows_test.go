package udp

import "golang.org/x/sys/windows"

const (
	refused  = windows.WSAECONNRESET
	tooLarge = windows.WSAEMSGSIZE
	noRoute  = windows.WSAEHOSTUNREACH
)
