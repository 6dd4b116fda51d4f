package proxyproto

import (
	"bytes"
	"net/netip"
)

// maxLine is the longest line of version 1, its end included.
const maxLine = 107

// cut1 reads a line such as "PROXY TCP4 203.0.113.9 192.0.2.1 40000 19132\r\n". The protocol
// was made for streams and knows TCP4, TCP6 and UNKNOWN; those who use it for datagrams
// also write UDP4 and UDP6.
func cut1(b []byte) (client netip.AddrPort, rest []byte, err error) {
	end := bytes.Index(b[:min(len(b), maxLine)], []byte("\r\n"))
	if end < 0 {
		return client, nil, ErrHeader
	}
	line, rest := b[len(prefix):end], b[end+2:]
	transport, line := word(line)
	is4 := false
	switch string(transport) {
	case "UNKNOWN":
		return client, rest, nil
	case "TCP4", "UDP4":
		is4 = true
	case "TCP6", "UDP6":
	default:
		return client, nil, ErrHeader
	}
	spaces := bytes.Count(line, []byte(" ")) + 1 // with the one behind the transport
	source, line := word(line)
	destination, line := word(line)
	sourcePort, line := word(line)
	destinationPort, _ := word(line)
	from, ok1 := address(source, is4)
	_, ok2 := address(destination, is4)
	port, ok3 := number(sourcePort)
	_, ok4 := number(destinationPort)
	if !ok1 || !ok2 || !ok3 || !ok4 || spaces != 4 {
		return client, nil, ErrHeader
	}
	if client, err = usable(from, port); err != nil {
		return client, nil, err
	}
	return client, rest, nil
}

// word splits a line at its first space.
func word(line []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(line, []byte(" "))
	return first, rest
}

// address reads one of the family that the line promised, without a zone.
func address(text []byte, is4 bool) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(string(text))
	return ip, err == nil && ip.Is4() == is4 && ip.Zone() == ""
}

// number reads a port in the only form that the protocol allows: no sign and no leading zero.
func number(text []byte) (uint16, bool) {
	if len(text) == 0 || len(text) > 5 || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	n := 0
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		n = 10*n + int(digit-'0')
	}
	return uint16(n), n <= 65535
}
