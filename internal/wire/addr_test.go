package wire

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddrGoldenVectors(t *testing.T) {
	for _, test := range []struct{ addr, bytes string }{
		{"127.0.0.1:19132", "04 80fffffe 4abc"},
		{"0.0.0.0:0", "04 ffffffff 0000"},
		{"255.255.255.255:65535", "04 00000000 ffff"},
		{"[::1]:19133", "06 1700 4abd 00000000 00000000000000000000000000000001 00000000"},
		{"[2001:db8::ff00:42:8329]:1", "06 1700 0001 00000000 20010db8000000000000ff0000428329 00000000"},
	} {
		addr, want := addrPort(test.addr), unhex(t, test.bytes)
		require.Equal(t, want, AppendAddr(nil, addr), test.addr)
		require.Equal(t, len(want), AddrSize(addr), test.addr)

		got, n, err := ParseAddr(append(want, 0xee))
		require.NoError(t, err, test.addr)
		require.Equal(t, len(want), n, test.addr)
		require.Equal(t, addr, got)

		for n := range want {
			_, _, err := ParseAddr(want[:n])
			require.ErrorIs(t, err, ErrTruncated, "%s, first %d bytes", test.addr, n)
		}
	}
}

func TestNoAddressIsTheUnassignedOne(t *testing.T) {
	require.Equal(t, unhex(t, "04 ffffffff 0000"), AppendAddr(nil, netip.AddrPort{}))
	require.Equal(t, 7, AddrSize(netip.AddrPort{}))
	// A port doesn't make an address.
	require.Equal(t, unhex(t, "04 ffffffff 0000"), AppendAddr(nil, netip.AddrPortFrom(netip.Addr{}, 19132)))
}

func TestMappedIPv4IsIPv4(t *testing.T) {
	mapped := addrPort("[::ffff:127.0.0.1]:19132")
	require.Equal(t, unhex(t, "04 80fffffe 4abc"), AppendAddr(nil, mapped))
	require.Equal(t, 7, AddrSize(mapped))

	got, n, err := ParseAddr(unhex(t, "06 1700 4abc 00000000 00000000000000000000ffff7f000001 00000000"))
	require.NoError(t, err)
	require.Equal(t, 29, n)
	require.Equal(t, addrPort("127.0.0.1:19132"), got)
}

func TestIPv6FamilyFlowAndScopeDoNotMatter(t *testing.T) {
	for _, family := range []string{
		"1700", // Windows
		"0a00", // Linux
		"1c1e", // macOS: a length and 30
		"0000", "ffff",
	} {
		got, n, err := ParseAddr(unhex(t, "06"+family+"4abd 01020304 20010db8000000000000000000000001 00000003"))
		require.NoError(t, err, family)
		require.Equal(t, 29, n)
		require.Equal(t, addrPort("[2001:db8::1]:19133"), got)
	}
	// A zone names an interface of the sender and stays there.
	require.Equal(t, AppendAddr(nil, addrPort("[fe80::1]:1")), AppendAddr(nil, addrPort("[fe80::1%eth0]:1")))
}

func TestUnknownAddressVersionsAreRefused(t *testing.T) {
	b := make([]byte, 40)
	for version := range 256 {
		b[0] = byte(version)
		_, n, err := ParseAddr(b)
		if version == 4 || version == 6 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrAddressFamily, "version %d", version)
		require.Zero(t, n)
	}
}

func TestCountAddrs(t *testing.T) {
	ipv4, ipv6 := addrPort("10.0.0.1:1"), addrPort("[::1]:1")
	mixed := AppendAddr(AppendAddr(AppendAddr(nil, ipv6), ipv4), ipv6)
	n, ok := countAddrs(mixed)
	require.True(t, ok)
	require.Equal(t, 3, n)

	n, ok = countAddrs(nil)
	require.True(t, ok)
	require.Zero(t, n)

	_, ok = countAddrs(mixed[:len(mixed)-1])
	require.False(t, ok)
	_, ok = countAddrs(append(mixed, 0))
	require.False(t, ok)
}
