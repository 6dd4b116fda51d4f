package guard

import (
	"net/netip"
	"testing"
)

func TestNetworksTellWhoIsIn(t *testing.T) {
	var n Networks
	if !n.Empty() || n.Has(netip.MustParseAddr("10.0.0.1")) {
		t.Fatal("nobody was let in")
	}
	n.Init(netip.MustParsePrefix("10.1.2.3/8"), netip.MustParsePrefix("::ffff:192.0.2.0/120"), netip.MustParsePrefix("2001:db8::/32"), netip.Prefix{})
	if n.Empty() {
		t.Fatal("somebody was")
	}
	for addr, want := range map[string]bool{
		"10.200.0.1": true, "11.0.0.1": false, "::ffff:10.0.0.1": true,
		"192.0.2.255": true, "192.0.3.0": false, "::ffff:192.0.2.1": true,
		"2001:db8::1": true, "2001:db8::1%eth0": true, "2001:db9::1": false,
	} {
		if n.Has(netip.MustParseAddr(addr)) != want {
			t.Errorf("%s: want %t", addr, want)
		}
	}
	if n.Has(netip.Addr{}) {
		t.Error("an address that is none is in")
	}
	a := netip.MustParseAddr("2001:db8::1")
	if got := testing.AllocsPerRun(100, func() { n.Has(a) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
