package proxyproto

import (
	"encoding/binary"
	"net/netip"
)

// The fields of version 2: after the signature come the version and the command, the
// address family and the transport, the length of all that follows, and the addresses. What
// is left of the length are extensions, which say nothing that matters here.
const (
	headerSize = 16

	commandLocal = 0x0
	commandProxy = 0x1

	familyUnspecified = 0x0
	familyIPv4        = 0x1
	familyIPv6        = 0x2
	familyUnix        = 0x3

	addressesIPv4 = 12
	addressesIPv6 = 36
)

func cut2(b []byte) (client netip.AddrPort, rest []byte, err error) {
	if len(b) < headerSize || b[12]>>4 != 2 {
		return client, nil, ErrHeader
	}
	length := int(binary.BigEndian.Uint16(b[14:]))
	if len(b)-headerSize < length {
		return client, nil, ErrHeader
	}
	body, rest := b[headerSize:headerSize+length], b[headerSize+length:]
	switch b[12] & 0x0f {
	case commandLocal:
		return client, rest, nil
	case commandProxy:
	default:
		return client, nil, ErrHeader
	}
	// Some proxies say "stream" in front of datagrams, too: the low half does not matter.
	switch b[13] >> 4 {
	case familyUnspecified, familyUnix:
		return client, rest, nil
	case familyIPv4:
		if length < addressesIPv4 {
			return client, nil, ErrHeader
		}
		client, err = usable(netip.AddrFrom4([4]byte(body)), binary.BigEndian.Uint16(body[8:]))
	case familyIPv6:
		if length < addressesIPv6 {
			return client, nil, ErrHeader
		}
		client, err = usable(netip.AddrFrom16([16]byte(body)), binary.BigEndian.Uint16(body[32:]))
	default:
		err = ErrHeader
	}
	if err != nil {
		return client, nil, err
	}
	return client, rest, nil
}
