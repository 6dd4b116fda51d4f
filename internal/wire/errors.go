package wire

import "errors"

// The errors of this package. All are fixed values, compared with == or errors.Is.
var (
	// ErrTruncated: the input ends before the packet does, or a count promises more than there is.
	ErrTruncated = errors.New("packet is truncated")
	// ErrID: the first byte is not the identifier of the packet asked for.
	ErrID = errors.New("packet has another identifier")
	// ErrMagic: an offline packet lacks the 16 marker bytes where they belong.
	ErrMagic = errors.New("offline marker is missing")
	// ErrAddressFamily: an address is announced as neither IPv4 nor IPv6.
	ErrAddressFamily = errors.New("unknown address family")
	// ErrSecurity: the peer speaks libcat security, which is not supported.
	ErrSecurity = errors.New("libcat security is not supported")
	// ErrEmptyFrame: a frame announces a payload of zero bits. The original drops the rest of such a datagram.
	ErrEmptyFrame = errors.New("frame is empty")
	// ErrChannel: a frame names an ordering channel above 31.
	ErrChannel = errors.New("ordering channel is out of range")
	// ErrSplit: a fragment's index is not below its count; this includes a count of zero.
	ErrSplit = errors.New("fragment index is out of range")
	// ErrRecord: an acknowledgement record is neither a single number nor a range.
	ErrRecord = errors.New("unknown acknowledgement record")
	// ErrRange: an acknowledgement range ends before it begins.
	ErrRange = errors.New("acknowledgement range is reversed")
	// ErrDatagram: a datagram is not of the kind asked for.
	ErrDatagram = errors.New("datagram is of another kind")
)
