package proxyproto

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

// FuzzCut holds Cut against a parser that was written from the specification field by field and
// cares for nothing but being obvious.
func FuzzCut(f *testing.F) {
	for _, b := range [][]byte{
		nil,
		[]byte(payload),
		header2(commandProxy, client4, server4, 0),
		header2(commandProxy, client6, server6, 7),
		header2(commandProxy, mapped, server6, 0),
		header2(commandLocal, netip.AddrPort{}, server4, 0),
		header1("TCP4", client4, server4),
		header1("UDP6", client6, server6),
		[]byte("PROXY UNKNOWN\r\n" + payload),
		[]byte("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		client, rest, err := Cut(b)
		if !bytes.Equal(before, b) {
			t.Fatal("the datagram was changed")
		}
		wantClient, wantRest, ok := naive(b)
		if ok != (err == nil) || client != wantClient || !bytes.Equal(rest, wantRest) {
			t.Fatalf("%q\n got %v, %q, %v\nwant %v, %q, %t", b, client, rest, err, wantClient, wantRest, ok)
		}
		if client.IsValid() && (client.Port() == 0 || client.Addr().Is4In6() || client.Addr().Zone() != "") {
			t.Fatalf("%v is no client", client)
		}
	})
}

func naive(b []byte) (client netip.AddrPort, rest []byte, ok bool) {
	s := string(b)
	switch {
	case strings.HasPrefix(s, "\x0d\x0a\x0d\x0a\x00\x0d\x0a\x51\x55\x49\x54\x0a"):
		if len(s) < 16 {
			return client, nil, false
		}
		size := int(s[14])*256 + int(s[15])
		if len(s) < 16+size || s[12] != 0x20 && s[12] != 0x21 {
			return client, nil, false
		}
		fields, rest := s[16:16+size], b[16+size:]
		if s[12] == 0x20 {
			return client, rest, true
		}
		ipBytes := map[byte]int{0: 0, 1: 4, 2: 16, 3: 0}
		n, known := ipBytes[s[13]/16]
		if !known {
			return client, nil, false
		}
		if n == 0 {
			return client, rest, true
		}
		if len(fields) < 2*n+4 {
			return client, nil, false
		}
		ip, _ := netip.AddrFromSlice([]byte(fields[:n]))
		return named(ip, int(fields[2*n])*256+int(fields[2*n+1]), rest)
	case strings.HasPrefix(s, "PROXY "):
		end := strings.Index(s, "\r\n")
		if end < 0 || end > 105 {
			return client, nil, false
		}
		rest = b[end+2:]
		w := strings.Split(s[:end], " ")
		if w[1] == "UNKNOWN" {
			return client, rest, true
		}
		if len(w) != 6 {
			return client, nil, false
		}
		src, err1 := netip.ParseAddr(w[2])
		dst, err2 := netip.ParseAddr(w[3])
		sport, err3 := strconv.ParseUint(w[4], 10, 16)
		dport, err4 := strconv.ParseUint(w[5], 10, 16)
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			return client, nil, false
		}
		if strconv.FormatUint(sport, 10) != w[4] || strconv.FormatUint(dport, 10) != w[5] {
			return client, nil, false
		}
		if strings.Contains(w[2]+w[3], "%") {
			return client, nil, false
		}
		want4 := w[1] == "TCP4" || w[1] == "UDP4"
		if !want4 && w[1] != "TCP6" && w[1] != "UDP6" || src.Is4() != want4 || dst.Is4() != want4 {
			return client, nil, false
		}
		return named(src, int(sport), rest)
	}
	return client, b, true
}

func named(ip netip.Addr, port int, rest []byte) (netip.AddrPort, []byte, bool) {
	if ip.Is4In6() {
		ip = ip.Unmap()
	}
	if port == 0 || ip == netip.IPv4Unspecified() || ip == netip.IPv6Unspecified() || ip.IsMulticast() {
		return netip.AddrPort{}, nil, false
	}
	return netip.AddrPortFrom(ip, uint16(port)), rest, true
}
