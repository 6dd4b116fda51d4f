package proxyproto

import (
	"net/netip"
	"testing"
)

const payload = "\x01and what follows"

func TestAHeaderIsCutOffAndNamesTheClient(t *testing.T) {
	for name, tc := range map[string]struct {
		header []byte
		client netip.AddrPort
	}{
		"version 2, IPv4":                    {header2(commandProxy, client4, server4, 0), client4},
		"version 2, IPv4, with extensions":   {header2(commandProxy, client4, server4, 40), client4},
		"version 2, IPv6":                    {header2(commandProxy, client6, server6, 0), client6},
		"version 2, IPv4 in IPv6":            {header2(commandProxy, mapped, server6, 0), client4},
		"version 2, unspecified":             {header2(commandProxy, netip.AddrPort{}, server4, 0), netip.AddrPort{}},
		"version 2, the proxy for itself":    {header2(commandLocal, client4, server4, 0), netip.AddrPort{}},
		"version 1, IPv4":                    {header1("TCP4", client4, server4), client4},
		"version 1, IPv4, said of datagrams": {header1("UDP4", client4, server4), client4},
		"version 1, IPv6":                    {header1("TCP6", client6, server6), client6},
		"version 1, unknown":                 {[]byte("PROXY UNKNOWN\r\n"), netip.AddrPort{}},
		"version 1, unknown, with a rest":    {[]byte("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), netip.AddrPort{}},
		"none":                               {nil, netip.AddrPort{}},
	} {
		client, rest, err := Cut(append(tc.header, payload...))
		if err != nil || client != tc.client || string(rest) != payload {
			t.Errorf("%s: %v, %q, %v", name, client, rest, err)
		}
	}
}

func TestWhatIsNoHeaderIsLeftAlone(t *testing.T) {
	for _, b := range []string{"", "P", "PROXY", "proxy TCP4 ", "\r\n\r\n\x00\r\nQUIT", "\x01\x02", "\x84\x00\x00\x00"} {
		if client, rest, err := Cut([]byte(b)); err != nil || client.IsValid() || string(rest) != b {
			t.Errorf("%q: %v, %q, %v", b, client, rest, err)
		}
	}
}

func TestMalformedHeadersAreRefused(t *testing.T) {
	patch := func(b []byte, at int, v byte) []byte { b[at] = v; return b }
	proxied := func() []byte { return header2(commandProxy, client4, server4, 0) }
	for name, b := range map[string][]byte{
		"cut off in the fixed part":    proxied()[:14],
		"cut off in the addresses":     proxied()[:20],
		"a length beyond the datagram": patch(proxied(), 14, 0xff),
		"a length short of IPv4":       patch(patch(proxied(), 15, 11), 27, 0),
		"a length short of IPv6":       patch(header2(commandProxy, client6, server6, 0), 15, 35),
		"version 1 of the binary form": patch(proxied(), 12, 0x11),
		"version 3":                    patch(proxied(), 12, 0x31),
		"a command that is none":       patch(proxied(), 12, 0x22),
		"a family that is none":        patch(proxied(), 13, 0x42),
		"port 0":                       header2(commandProxy, netip.AddrPortFrom(client4.Addr(), 0), server4, 0),
		"no address":                   header2(commandProxy, netip.MustParseAddrPort("0.0.0.0:1"), server4, 0),
		"a group of hosts":             header2(commandProxy, netip.MustParseAddrPort("224.0.0.1:1"), server4, 0),
		"a line without an end":        []byte("PROXY TCP4 1.2.3.4 5.6.7.8 1 2"),
		"a line without addresses":     []byte("PROXY TCP4\r\n"),
		"a line without a port":        []byte("PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n"),
		"a line with more":             []byte("PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n"),
		"a space at the end":           []byte("PROXY TCP4 1.2.3.4 5.6.7.8 1 2 \r\n"),
		"an unknown transport":         []byte("PROXY SCTP 1.2.3.4 5.6.7.8 1 2\r\n"),
		"the wrong family":             []byte("PROXY TCP4 ::1 ::2 1 2\r\n"),
		"the other wrong family":       []byte("PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n"),
		"a zone":                       []byte("PROXY TCP6 fe80::1%eth0 ::2 1 2\r\n"),
		"a large port":                 []byte("PROXY TCP4 1.2.3.4 5.6.7.8 65536 2\r\n"),
		"a long port":                  []byte("PROXY TCP4 1.2.3.4 5.6.7.8 123456 2\r\n"),
		"a port with a leading zero":   []byte("PROXY TCP4 1.2.3.4 5.6.7.8 01 2\r\n"),
		"a port with a sign":           []byte("PROXY TCP4 1.2.3.4 5.6.7.8 +1 2\r\n"),
		"a second space":               []byte("PROXY TCP4  1.2.3.4 5.6.7.8 1 2\r\n"),
		"a line that is too long":      append(append([]byte("PROXY UNKNOWN "), make([]byte, maxLine)...), '\r', '\n'),
	} {
		if client, rest, err := Cut(b); err == nil || client.IsValid() || rest != nil {
			t.Errorf("%s: %v, %q, %v", name, client, rest, err)
		}
	}
}

func TestTheLongestLineIsRead(t *testing.T) {
	line := "PROXY UNKNOWN ffff:f...f:ffff"
	for len(line) < maxLine-2 {
		line += "f"
	}
	if _, rest, err := Cut([]byte(line + "\r\n" + payload)); err != nil || string(rest) != payload {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestBinaryHeadersCostNoMemory(t *testing.T) {
	b := append(header2(commandProxy, client6, server6, 9), payload...)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = Cut(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
