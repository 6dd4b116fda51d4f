package guard

import (
	"flag"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

var seed = flag.Uint64("seed", 1, "seed of the random tests")

func at(addr string, port int) netip.AddrPort {
	return netip.AddrPortFrom(ip(addr), uint16(port))
}

func TestHalfOpenOfOneHost(t *testing.T) {
	var h HalfOpen
	h.Init(0, 0)
	for i := range DefaultHalfOpenPerIP {
		if _, evict := h.Add(0, at("192.0.2.1", 1000+i)); evict {
			t.Fatalf("entry %d displaced another", i)
		}
	}
	t.Log("# one more displaces the host's oldest, which may be one that came again")
	if _, evict := h.Add(0, at("192.0.2.1", 1000)); evict || h.Len() != 32 {
		t.Fatal("an entry that is in was added again")
	}
	if got, evict := h.Add(0, at("192.0.2.1", 2000)); !evict || got != at("192.0.2.1", 1000) {
		t.Fatalf("displaced %v (%t), want port 1000", got, evict)
	}
	t.Log("# other hosts are not concerned")
	if _, evict := h.Add(0, at("192.0.2.2", 1000)); evict {
		t.Fatal("another host displaced something")
	}
	t.Log("# one that leaves makes room")
	if !h.Remove(at("192.0.2.1", 1010)) || h.Remove(at("192.0.2.1", 1010)) {
		t.Fatal("it did not leave once")
	}
	if _, evict := h.Add(0, at("192.0.2.1", 2001)); evict {
		t.Fatal("there was room")
	}
	if got, _ := h.Add(0, at("192.0.2.1", 2002)); got != at("192.0.2.1", 1001) {
		t.Fatalf("displaced %v, want port 1001", got)
	}
}

func TestHalfOpenIPv6HostIsAPrefix(t *testing.T) {
	var h HalfOpen
	h.Init(2, 0)
	h.Add(0, at("2001:db8::1", 1))
	h.Add(0, at("2001:db8::2", 1))
	if got, evict := h.Add(0, at("2001:db8::3", 1)); !evict || got != at("2001:db8::1", 1) {
		t.Fatalf("displaced %v (%t)", got, evict)
	}
	if _, evict := h.Add(0, at("2001:db8:0:1::1", 1)); evict {
		t.Fatal("another /64 displaced something")
	}
}

func TestHalfOpenTotal(t *testing.T) {
	var h HalfOpen
	h.Init(-1, 3)
	for i := range 3 {
		h.Add(0, at("192.0.2.1", i))
	}
	for i := range 3 {
		if got, evict := h.Add(0, at("198.51.100.1", i)); !evict || got != at("192.0.2.1", i) {
			t.Fatalf("displaced %v (%t), want the oldest, port %d", got, evict, i)
		}
	}
	t.Log("# no caps, no limits")
	h.Init(-1, -1)
	for i := range 10000 {
		if _, evict := h.Add(0, at("192.0.2.1", i)); evict {
			t.Fatal("displaced something")
		}
	}
	if h.Len() != 10000 {
		t.Fatalf("%d in", h.Len())
	}
}

// TestHalfOpenAgainstASlice plays a random game against the obvious implementation.
func TestHalfOpenAgainstASlice(t *testing.T) {
	t.Logf("-seed=%d", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 0))
	const perHost, total = 3, 10
	var h HalfOpen
	h.Init(perHost, total)
	var model []netip.AddrPort // those that did not go on, oldest first, and then those that did
	on, since, now := make(map[netip.AddrPort]bool), make(map[netip.AddrPort]monotime.Time), monotime.Time(0)
	victim := func(mates func(netip.AddrPort) bool) int {
		first := slices.IndexFunc(model, func(b netip.AddrPort) bool { return mates(b) && on[b] })
		if first >= 0 && now.Sub(since[model[first]]) >= halfOpenTime {
			return first
		}
		return slices.IndexFunc(model, mates)
	}
	drop := func(i int) {
		delete(on, model[i])
		model = slices.Delete(model, i, i+1)
	}
	add := func(a netip.AddrPort) {
		i := len(model)
		if !on[a] {
			i = slices.IndexFunc(model, func(b netip.AddrPort) bool { return on[b] })
		}
		if i < 0 {
			i = len(model)
		}
		model = slices.Insert(model, i, a)
	}
	for step := range 20000 {
		a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(rnd.IntN(6))}), uint16(rnd.IntN(6)))
		i := slices.Index(model, a)
		now = now.Add(time.Duration(rnd.Int64N(int64(halfOpenTime / 4))))
		switch rnd.IntN(6) {
		case 0, 1:
			if got := h.Remove(a); got != (i >= 0) {
				t.Fatalf("step %d: removed %t", step, got)
			}
			if i >= 0 {
				drop(i)
			}
		case 2:
			h.GoesOn(now, a)
			if i >= 0 && !on[a] {
				drop(i)
				on[a], since[a] = true, now
				add(a)
			}
		default:
			var want netip.AddrPort
			if i < 0 {
				mates := func(b netip.AddrPort) bool { return b.Addr() == a.Addr() }
				n := 0
				for _, b := range model {
					if mates(b) {
						n++
					}
				}
				if n >= perHost {
					j := victim(mates)
					want = model[j]
					drop(j)
				} else if len(model) >= total {
					j := victim(func(netip.AddrPort) bool { return true })
					want = model[j]
					drop(j)
				}
				add(a)
			}
			if got, evict := h.Add(now, a); got != want || evict != want.IsValid() {
				t.Fatalf("step %d: displaced %v (%t), want %v", step, got, evict, want)
			}
		}
		if h.Len() != len(model) {
			t.Fatalf("step %d: %d in, want %d", step, h.Len(), len(model))
		}
	}
	if len(h.nodes) > total {
		t.Fatalf("%d nodes for at most %d entries", len(h.nodes), total)
	}
	for _, a := range slices.Clone(model) {
		h.Remove(a)
	}
	if h.Len() != 0 || len(h.byHost) != 0 || h.all != (halfOpenLists{}) {
		t.Fatal("something was left behind")
	}
}

func TestWhoCameOnIsDisplacedLast(t *testing.T) {
	var h HalfOpen
	h.Init(3, 0)
	now := monotime.Time(0)
	for i := range 3 {
		h.Add(now, at("192.0.2.1", i))
	}
	h.GoesOn(now, at("192.0.2.1", 0))
	h.GoesOn(now, at("192.0.2.1", 0)) // which it may do again
	h.GoesOn(now, at("192.0.2.1", 9)) // and who is not in does nothing
	for i, want := range []int{1, 2, 10, 11} {
		if got, _ := h.Add(now, at("192.0.2.1", 10+i)); got != at("192.0.2.1", want) {
			t.Fatalf("displaced %v, want port %d", got, want)
		}
	}
	t.Log("# where all did there is no room for others until the first had its time")
	room := func(want bool) {
		t.Helper()
		if h.HasRoom(now, ip("192.0.2.1")) != want || !h.HasRoom(now, ip("192.0.2.2")) {
			t.Fatal("room for others")
		}
	}
	now = now.Add(halfOpenTime / 2)
	h.GoesOn(now, at("192.0.2.1", 13))
	room(true)
	h.GoesOn(now, at("192.0.2.1", 12))
	room(false)
	now = now.Add(halfOpenTime/2 - 1)
	room(false)
	now = now.Add(1)
	room(true)
	for i, want := range []int{0, 20} { // 0 went on first; then there is one who did not
		if got, _ := h.Add(now, at("192.0.2.1", 20+i)); got != at("192.0.2.1", want) {
			t.Fatalf("displaced %v, want port %d", got, want)
		}
	}
}

// Some who stay where they are must not leave one place for all the others.
func TestWhoHadTimeIsDisplacedFirst(t *testing.T) {
	for _, caps := range [][2]int{{3, 0}, {-1, 3}} {
		var h HalfOpen
		h.Init(caps[0], caps[1])
		for i := range 2 {
			h.Add(0, at("192.0.2.1", i))
			h.GoesOn(0, at("192.0.2.1", i))
		}
		now := monotime.Time(0).Add(halfOpenTime)
		for i, want := range []int{-1, 0, 1, 10} {
			got, evict := h.Add(now, at("192.0.2.1", 10+i))
			if evict != (want >= 0) || evict && got != at("192.0.2.1", want) {
				t.Fatalf("%v: displaced %v (%t), want port %d", caps, got, evict, want)
			}
		}
	}
}

// Behind a proxy it is the client's host that counts; an exempt one is bounded in all only.
func TestHalfOpenOfClientsBehindAProxy(t *testing.T) {
	var h HalfOpen
	h.Init(2, 5)
	client, exempt := netip.MustParseAddr("203.0.113.9"), netip.MustParseAddr("203.0.113.10")
	for i := 1; i <= 2; i++ {
		if _, evict := h.AddFor(0, at("192.0.2.1", i), client, false); evict {
			t.Fatalf("%d displaced somebody", i)
		}
	}
	if got, evict := h.AddFor(0, at("192.0.2.2", 9), client, false); !evict || got != at("192.0.2.1", 1) {
		t.Fatalf("%v, %t", got, evict)
	}
	for i := 1; i <= 3; i++ {
		if _, evict := h.AddFor(0, at("192.0.2.3", i), exempt, true); evict {
			t.Fatalf("%d displaced somebody", i)
		}
	}
	if got, evict := h.AddFor(0, at("192.0.2.3", 4), exempt, true); !evict || got != at("192.0.2.1", 2) {
		t.Fatalf("%v, %t: the oldest of all goes", got, evict)
	}
}
