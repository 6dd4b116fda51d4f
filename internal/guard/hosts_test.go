package guard

import (
	"net/netip"
	"testing"
)

func TestHostsAreCounted(t *testing.T) {
	var h Hosts
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	h.Remove(a) // who was never in
	if h.Of(a) != 0 || h.Add(a) != 1 || h.Add(netip.MustParseAddr("::ffff:192.0.2.1")) != 2 || h.Add(b) != 1 {
		t.Fatal("addresses are hosts")
	}
	if h.Add(netip.MustParseAddr("2001:db8::1")) != 1 || h.Add(netip.MustParseAddr("2001:db8::ffff:1")) != 2 || h.Add(netip.MustParseAddr("2001:db8:0:1::1")) != 1 {
		t.Fatal("networks of IPv6 are hosts")
	}
	h.Remove(a)
	h.Remove(b)
	if h.Of(a) != 1 || h.Of(b) != 0 || len(h.counts) != 3 {
		t.Fatalf("%v", h.counts)
	}
	for range 3 {
		h.Remove(a)
		h.Remove(netip.MustParseAddr("2001:db8::5"))
		h.Remove(netip.MustParseAddr("2001:db8:0:1::5"))
	}
	if len(h.counts) != 0 {
		t.Fatalf("%v are remembered", h.counts)
	}
}
