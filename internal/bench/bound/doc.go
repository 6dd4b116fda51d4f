// Package bound is as much of RakNet as moving messages at full speed cannot do without:
// framing, splitting, order, acknowledgements and a fixed window, over UDP sockets. It
// recovers nothing: a lost datagram is an error. What a complete implementation reaches of its
// speed shows what the rest costs.
//
// Messages are framed straight into buffers that are laid out as the segments of one send
// and kept until they are acknowledged. Acknowledgements leave once for each batch received.
// Everything happens on the goroutines that call Send and Receive.
package bound

import "errors"

const (
	// payload is what a full datagram holds: an MTU of 1492 without the headers of IP and UDP.
	payload = 1464
	// window is how many datagrams are in flight at most. With the buffers that sockets here
	// have, none is dropped.
	window = 1024
	// most and segments are how many bytes and datagrams leave as one.
	most     = 65000
	segments = 63
	// batch is how many datagrams or runs are received with one call where that is possible.
	batch = 64

	socketBuffer = 4 << 20
	maxMessage   = 1 << 20
)

// How frames look: see package wire. All are reliable and ordered.
const (
	datagramHeader = 4
	frameHeader    = 10
	splitHeader    = 10
	mode           = 3 << 5
	splitFlag      = 0x10
	chunk          = payload - datagramHeader - frameHeader - splitHeader
	mask24         = 1<<24 - 1
)

var (
	errLost  = errors.New("a datagram was lost, and nothing recovers it")
	errFrame = errors.New("a frame came that was not sent")
	errWay   = errors.New("messages go from the client to the server only")
)

func put24(b []byte, v uint32) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }

func get24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

// near returns the number nearest to one that has these 24 bits.
func near(to, bits uint32) uint32 {
	d := (bits - to) & mask24
	if d >= 1<<23 {
		return to - (1<<24 - d)
	}
	return to + d
}
