//go:build !linux

package udp

import "net"

func newUDP(c *net.UDPConn) Socket { return newSingle(c) }
