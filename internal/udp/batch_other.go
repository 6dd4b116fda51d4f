//go:build !linux

package udp

import "net"

// newBatch has no batches to offer here.
func newBatch(c *net.UDPConn, _ Options) Socket { return newSingle(c) }

// calm does nothing here.
func calm(s Socket) Socket { return s }

// calmDialed does nothing here.
func calmDialed(s Socket) Socket { return s }
