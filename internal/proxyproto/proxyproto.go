package proxyproto

import (
	"bytes"
	"errors"
	"net/netip"
)

// ErrHeader means that a datagram begins like a PROXY header and does not go on like one.
var ErrHeader = errors.New("malformed PROXY header")

// signature begins every header of version 2: bytes that no other protocol begins with.
var signature = []byte("\r\n\r\n\x00\r\nQUIT\n")

// prefix begins every header of version 1.
var prefix = []byte("PROXY ")

// Cut takes the header off a datagram, if it has one, and returns what follows. client is
// whose datagram it is, with an IPv4 address never in IPv6-mapped form; it is not valid if the
// header names nobody (LOCAL, UNSPEC and UNKNOWN, by which a proxy speaks for itself, and
// addresses that are not of the internet) or if there is none.
func Cut(datagram []byte) (client netip.AddrPort, rest []byte, err error) {
	switch {
	case bytes.HasPrefix(datagram, signature):
		return cut2(datagram)
	case bytes.HasPrefix(datagram, prefix):
		return cut1(datagram)
	}
	return netip.AddrPort{}, datagram, nil
}

// usable returns the address of a client that can be answered.
func usable(ip netip.Addr, port uint16) (netip.AddrPort, error) {
	ip = ip.Unmap()
	if port == 0 || ip.IsUnspecified() || ip.IsMulticast() {
		return netip.AddrPort{}, ErrHeader
	}
	return netip.AddrPortFrom(ip, port), nil
}
