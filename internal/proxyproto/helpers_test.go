package proxyproto

import (
	"encoding/binary"
	"net/netip"
)

// header2 writes a header of version 2 as a proxy would, with extensions of so many bytes.
func header2(command byte, src, dst netip.AddrPort, extra int) []byte {
	b := append([]byte(nil), signature...)
	b = append(b, 0x20|command)
	var body []byte
	switch {
	case !src.IsValid():
		b = append(b, 0x00)
	case src.Addr().Is4():
		b = append(b, 0x12)
	default:
		b = append(b, 0x22)
	}
	if src.IsValid() {
		body = append(body, src.Addr().AsSlice()...)
		body = append(body, dst.Addr().AsSlice()...)
		body = binary.BigEndian.AppendUint16(body, src.Port())
		body = binary.BigEndian.AppendUint16(body, dst.Port())
	}
	body = append(body, make([]byte, extra)...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(body)))
	return append(b, body...)
}

// header1 writes a line of version 1.
func header1(transport string, src, dst netip.AddrPort) []byte {
	line := []byte("PROXY " + transport + " " + src.Addr().String() + " " + dst.Addr().String())
	for _, port := range []uint16{src.Port(), dst.Port()} {
		line = append(line, ' ')
		line = append(line, netip.AddrPortFrom(netip.IPv4Unspecified(), port).String()[len("0.0.0.0:"):]...)
	}
	return append(line, '\r', '\n')
}

var (
	client4 = netip.MustParseAddrPort("203.0.113.9:40010")
	server4 = netip.MustParseAddrPort("127.0.0.1:19132")
	client6 = netip.MustParseAddrPort("[2001:db8::9]:40010")
	server6 = netip.MustParseAddrPort("[2001:db8::1]:19132")
	mapped  = netip.AddrPortFrom(netip.AddrFrom16(client4.Addr().As16()), 40010)
)
