package guard

import (
	"net/netip"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/siphash"
)

const start = monotime.Time(1)

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func newLimiter(c LimiterConfig) *Limiter {
	c.Key = siphash.Key{1, 2, 3}
	l := new(Limiter)
	l.Init(start, &c)
	return l
}

// spend takes tokens until none is left and returns how many there were.
func spend(l *Limiter, now monotime.Time, addr netip.Addr) int {
	for n := range 100000 {
		if !l.Allow(now, addr) {
			return n
		}
	}
	return -1
}

func TestLimiterOfOnePrefix(t *testing.T) {
	l := newLimiter(LimiterConfig{})
	t.Log("# a prefix that was silent has its whole burst")
	if got := spend(l, start, ip("192.0.2.7")); got != 40 {
		t.Fatalf("%d tokens at first, want 40", got)
	}
	t.Log("# its neighbours in the /24 share it, the next /24 does not")
	if l.Allow(start, ip("192.0.2.200")) {
		t.Fatal("the same /24 had another bucket")
	}
	if !l.Allow(start, ip("192.0.3.7")) {
		t.Fatal("another /24 was held back")
	}
	t.Log("# the IPv6-mapped form is the same address")
	if l.Allow(start, ip("::ffff:192.0.2.7")) {
		t.Fatal("the mapped form had another bucket")
	}
	t.Log("# 20 grow back per second, up to the burst")
	if got := spend(l, start.Add(time.Second), ip("192.0.2.7")); got != 20 {
		t.Fatalf("%d tokens after a second, want 20", got)
	}
	if got := spend(l, start.Add(time.Hour), ip("192.0.2.7")); got != 40 {
		t.Fatalf("%d tokens after an hour, want 40", got)
	}
}

func TestLimiterOfIPv6(t *testing.T) {
	l := newLimiter(LimiterConfig{})
	spend(l, start, ip("2001:db8:0:ff00::1"))
	if l.Allow(start, ip("2001:db8:0:ffff::2%eth0")) {
		t.Fatal("the same /56 had another bucket")
	}
	if !l.Allow(start, ip("2001:db8:1::1")) {
		t.Fatal("another /56 was held back")
	}
}

func TestLimiterOfEverybody(t *testing.T) {
	l := newLimiter(LimiterConfig{})
	t.Log("# a flood from ever new prefixes gets the common burst and rate, no more")
	flood := func(now monotime.Time, from int) (granted int) {
		for i := range 20000 {
			i += from
			if l.Allow(now, netip.AddrFrom4([4]byte{10 + byte(i>>16), byte(i >> 8), byte(i), 1})) {
				granted++
			}
		}
		return granted
	}
	if got := flood(start, 0); got != 4000 {
		t.Fatalf("%d granted at once, want 4000", got)
	}
	if got := flood(start.Add(time.Second), 1<<17); got != 2000 {
		t.Fatalf("%d granted a second later, want 2000", got)
	}
}

func TestLimiterPrefixOverItsBudgetTakesNothingFromOthers(t *testing.T) {
	l := newLimiter(LimiterConfig{GlobalRate: 1, GlobalBurst: 50})
	if got := spend(l, start, ip("192.0.2.7")); got != 40 {
		t.Fatalf("%d tokens, want 40", got)
	}
	for range 1000 {
		l.Allow(start, ip("192.0.2.7"))
	}
	if got := spend(l, start, ip("198.51.100.1")); got != 10 {
		t.Fatalf("%d tokens left of the common budget, want 10", got)
	}
	t.Log("# and the common budget, once empty, takes nothing from a prefix")
	l.Allow(start, ip("203.0.113.1"))
	if got := spend(l, start.Add(49*time.Second), ip("203.0.113.1")); got != 40 {
		t.Fatalf("%d tokens, want the full burst of 40", got)
	}
}

func TestLimiterSettings(t *testing.T) {
	for _, tt := range []struct {
		name  string
		c     LimiterConfig
		first int
	}{
		{"own numbers", LimiterConfig{Rate: 1, Burst: 3}, 3},
		{"no limit per prefix", LimiterConfig{Rate: -1}, 4000},
		{"no limit at all", LimiterConfig{Rate: -1, GlobalRate: -1}, -1},
		{"absurdly fast", LimiterConfig{Rate: 1<<31 - 1, Burst: 7}, 7},
		{"absurdly deep", LimiterConfig{Rate: 1, Burst: 1<<31 - 1, GlobalRate: -1}, -1},
	} {
		if got := spend(newLimiter(tt.c), start, ip("192.0.2.1")); got != tt.first {
			t.Errorf("%s: %d tokens at first, want %d", tt.name, got, tt.first)
		}
	}
}

func TestLimiterTakesAnAddressThatIsNone(t *testing.T) {
	l := newLimiter(LimiterConfig{})
	if got := spend(l, start, netip.Addr{}); got != 40 {
		t.Fatalf("%d tokens, want 40", got)
	}
}

func TestLimiterSlotsDependOnTheKey(t *testing.T) {
	position := func(key siphash.Key) uint64 {
		n := network(ip("192.0.2.1"), limitBits4, limitBits6).As16()
		return siphash.Sum(&key, n[:]) % limiterSlots
	}
	if position(siphash.Key{1}) == position(siphash.Key{2}) {
		t.Fatal("two keys put a prefix into one slot")
	}
}

func TestLimiterAllocatesNothing(t *testing.T) {
	l := newLimiter(LimiterConfig{})
	now := start
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(time.Millisecond)
		l.Allow(now, ip6)
		l.Allow(now, ip4)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

var ip4, ip6 = ip("192.0.2.1"), ip("2001:db8::1")

func BenchmarkLimiter(b *testing.B) {
	l := newLimiter(LimiterConfig{})
	now := start
	for b.Loop() {
		now++
		l.Allow(now, ip4)
	}
}

// Who has no budget of its own spends everybody's.
func TestLimiterOfTheExempt(t *testing.T) {
	var l Limiter
	l.Init(0, &LimiterConfig{Rate: 1, Burst: 1, GlobalRate: 5, GlobalBurst: 5})
	for i := range 5 {
		if !l.AllowAny(1) {
			t.Fatalf("refused after %d", i)
		}
	}
	if l.AllowAny(1) || l.Allow(1, netip.MustParseAddr("192.0.2.1")) {
		t.Fatal("there is nothing left")
	}
}
