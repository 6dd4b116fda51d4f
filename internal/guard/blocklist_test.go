package guard

import (
	"net/netip"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func TestBlocklistTellsWhoIsIn(t *testing.T) {
	var l Blocklist
	minute := start.Add(time.Minute)
	if l.Blocked(start, ip("192.0.2.1")) {
		t.Fatal("an empty list blocks")
	}
	l.Block(start, prefix("192.0.2.1/32"), minute)
	l.Block(start, prefix("198.51.100.77/24"), minute)
	l.Block(start, prefix("2001:db8:1:2::/64"), minute)
	l.Block(start, prefix("::ffff:203.0.113.9/128"), minute)
	l.Block(start, netip.Prefix{}, minute)
	for addr, want := range map[string]bool{
		"192.0.2.1": true, "192.0.2.2": false, "::ffff:192.0.2.1": true,
		"198.51.100.1": true, "198.51.101.1": false,
		"2001:db8:1:2:3::4": true, "2001:db8:1:2::1%eth0": true, "2001:db8:1:3::1": false,
		"203.0.113.9": true, "::": false, "::1": false,
	} {
		if got := l.Blocked(start, ip(addr)); got != want {
			t.Errorf("%s: blocked %t, want %t", addr, got, want)
		}
	}
	if l.Blocked(start, netip.Addr{}) {
		t.Error("an invalid address is blocked")
	}
	if l.Len() != 4 {
		t.Errorf("%d entries, want 4", l.Len())
	}
}

func TestBlocklistEnds(t *testing.T) {
	var l Blocklist
	p, a := prefix("192.0.2.0/24"), ip("192.0.2.9")
	t.Log("# a block ends by itself")
	l.Block(start, p, start.Add(time.Minute))
	if !l.Blocked(start.Add(time.Minute-1), a) || l.Blocked(start.Add(time.Minute), a) {
		t.Fatal("it does not end after a minute")
	}
	t.Log("# a second word replaces the first, longer or shorter")
	l.Block(start, p, monotime.Never)
	if !l.Blocked(start.Add(1e6*time.Hour), a) {
		t.Fatal("for good was not for good")
	}
	l.Block(start, p, start.Add(time.Second))
	if l.Blocked(start.Add(time.Second), a) {
		t.Fatal("it was not shortened")
	}
	t.Log("# it can be taken back, under any spelling of the prefix")
	l.Block(start, p, monotime.Never)
	if !l.Unblock(prefix("192.0.2.77/24")) || l.Unblock(p) || l.Blocked(start, a) || l.Len() != 0 {
		t.Fatal("it was not taken back once")
	}
	l.Block(start, p, monotime.Never)
	l.Block(start.Add(1), p, start.Add(1))
	if l.Len() != 0 || len(l.lengths) != 0 {
		t.Fatal("a block until now is no unblock")
	}
}

func TestBlocklistIsBounded(t *testing.T) {
	var l Blocklist
	nth := func(i int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
	}
	t.Log("# the fullest list drops the entry that would end soonest")
	for i := range MaxBlocked {
		l.Block(start, nth(i), start.Add(time.Hour+time.Duration(i^1)))
	}
	l.Block(start, nth(MaxBlocked), monotime.Never)
	if l.Len() != MaxBlocked || l.Blocked(start, nth(1).Addr()) {
		t.Fatal("the soonest did not make room")
	}
	for _, i := range []int{0, 2, MaxBlocked - 1, MaxBlocked} {
		if !l.Blocked(start, nth(i).Addr()) {
			t.Fatalf("entry %d is gone", i)
		}
	}
	t.Log("# and sweeps what has expired at once")
	later := start.Add(2 * time.Hour)
	l.Block(later, prefix("2001:db8::/32"), monotime.Never)
	if l.Len() != 2 || !l.Blocked(later, nth(MaxBlocked).Addr()) || !l.Blocked(later, ip("2001:db8::1")) {
		t.Fatalf("%d entries, want the two that still hold", l.Len())
	}
	if len(l.lengths) != 2 || len(l.index) != 2 {
		t.Fatal("the indexes were not swept")
	}
}

func TestBlockedAllocatesNothing(t *testing.T) {
	var l Blocklist
	l.Block(start, prefix("192.0.2.0/25"), monotime.Never)
	l.Block(start, prefix("2001:db8::/48"), monotime.Never)
	if n := testing.AllocsPerRun(1000, func() {
		l.Blocked(start, ip4)
		l.Blocked(start, ip6)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkBlocked(b *testing.B) {
	var l Blocklist
	l.Block(start, prefix("198.51.100.0/24"), monotime.Never)
	l.Block(start, prefix("203.0.113.1/32"), monotime.Never)
	for b.Loop() {
		l.Blocked(start, ip4)
	}
}
