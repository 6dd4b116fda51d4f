package guard

import (
	"net/netip"
	"testing"
)

func TestNetworks(t *testing.T) {
	for _, tt := range []struct{ addr, limit, host string }{
		{"192.0.2.77", "192.0.2.0", "192.0.2.77"},
		{"::ffff:192.0.2.77", "192.0.2.0", "192.0.2.77"},
		{"2001:db8:1:23ff:4::5", "2001:db8:1:2300::", "2001:db8:1:23ff::"},
		{"fe80::1%eth0", "fe80::", "fe80::"},
	} {
		if got := network(ip(tt.addr), limitBits4, limitBits6); got != ip(tt.limit) {
			t.Errorf("%s is limited as %s, want %s", tt.addr, got, tt.limit)
		}
		if got := network(ip(tt.addr), hostBits4, hostBits6); got != ip(tt.host) {
			t.Errorf("%s is host %s, want %s", tt.addr, got, tt.host)
		}
	}
	if got := network(netip.Addr{}, limitBits4, limitBits6); got.IsValid() {
		t.Errorf("an invalid address is in %s", got)
	}
}
