package offline

import (
	"net/netip"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/wire"
)

var bothVersions = []byte{11, 10}

func TestCookieLivesForOneToTwoEpochs(t *testing.T) {
	j := cookieJar{key: siphash.Key{7}}
	for _, tt := range []struct {
		name   string
		issued monotime.Time
		good   time.Duration // the last moment
	}{
		{"early in its epoch", 0, 60*time.Second - 1},
		{"late in its epoch", monotime.Time(30*time.Second) - 1, 30 * time.Second},
		{"after a year", monotime.Time(365 * 24 * time.Hour), 60*time.Second - 1},
	} {
		cookie := j.issue(tt.issued, clientAddr, 11)
		for age := time.Duration(0); age <= tt.good; age += time.Second {
			if _, ok := j.recognise(tt.issued.Add(age), clientAddr, cookie, bothVersions); !ok {
				t.Fatalf("%s: not recognised after %v", tt.name, age)
			}
		}
		if _, ok := j.recognise(tt.issued.Add(tt.good), clientAddr, cookie, bothVersions); !ok {
			t.Errorf("%s: not recognised in its last moment", tt.name)
		}
		for _, age := range []time.Duration{tt.good + 1, 90 * time.Second, time.Hour} {
			if _, ok := j.recognise(tt.issued.Add(age), clientAddr, cookie, bothVersions); ok {
				t.Errorf("%s: recognised at age %v", tt.name, age)
			}
		}
	}
}

func TestCookieCarriesTheVersion(t *testing.T) {
	j := cookieJar{key: siphash.Key{7}}
	for _, version := range bothVersions {
		cookie := j.issue(start, clientAddr, version)
		for _, later := range []time.Duration{0, 30 * time.Second} {
			if got, ok := j.recognise(start.Add(later), clientAddr, cookie, bothVersions); !ok || got != version {
				t.Errorf("version %d came back as %d (%t)", version, got, ok)
			}
		}
		if _, ok := j.recognise(start, clientAddr, cookie, []byte{9}); ok {
			t.Errorf("version %d was recognised where only 9 is spoken", version)
		}
	}
}

func TestCookieBelongsToAnAddressAndAKey(t *testing.T) {
	j := cookieJar{key: siphash.Key{7}}
	cookie := j.issue(start, clientAddr, 11)
	for _, tt := range []struct {
		addr string
		want bool
	}{
		{"127.0.0.1:40000", true},
		{"[::ffff:127.0.0.1]:40000", true}, // a dual-stack socket's view of it
		{"127.0.0.1:40001", false},
		{"127.0.0.2:40000", false},
		{"[::127.0.0.1]:40000", false},
		{"[::1]:40000", false},
	} {
		if _, ok := j.recognise(start, netip.MustParseAddrPort(tt.addr), cookie, bothVersions); ok != tt.want {
			t.Errorf("%s: recognised %t, want %t", tt.addr, ok, tt.want)
		}
	}
	if _, ok := (&cookieJar{key: siphash.Key{8}}).recognise(start, clientAddr, cookie, bothVersions); ok {
		t.Error("another key recognises it")
	}
	if _, ok := j.recognise(start, netip.AddrPort{}, cookie, bothVersions); ok {
		t.Error("an invalid address has it")
	}
}

// Two sockets with one key must agree, so the layout of the hashed bytes is pinned.
func TestCookieIsAPureFunction(t *testing.T) {
	a, b := cookieJar{key: siphash.Key{7}}, cookieJar{key: siphash.Key{7}}
	if a.issue(start, client6, 11) != b.issue(start.Add(29*time.Second), client6, 11) {
		t.Fatal("one epoch, one key, one address, two cookies")
	}
	seen := make(map[uint32]bool)
	for epoch := range 1000 {
		seen[a.issue(start.Add(time.Duration(epoch)*cookieEpoch), client6, 11)] = true
	}
	if len(seen) < 999 {
		t.Fatalf("only %d cookies in 1000 epochs", len(seen))
	}
}

func TestARingRecognisesWhatAnyOfItsKeysIssued(t *testing.T) {
	var one, other CookieRing
	if c := one.Issue(start, clientAddr, 11); c != 0 {
		t.Fatalf("%x without a key", c)
	}
	if _, ok := one.Recognise(start, clientAddr, 0, bothVersions); ok {
		t.Fatal("recognised without a key")
	}
	keys := []siphash.Key{{1}, {2}, {3}, {4}, {5}}
	one.Set(keys)
	other.Set(keys[1:2])
	for i, k := range keys {
		var single CookieRing
		single.Set([]siphash.Key{k})
		v, ok := one.Recognise(start, clientAddr, single.Issue(start, clientAddr, 10), bothVersions)
		if want := i < MaxCookieKeys; ok != want || ok && v != 10 {
			t.Errorf("key %d: version %d, %t", i, v, ok)
		}
	}
	cookie := one.Issue(start, clientAddr, 11)
	if _, ok := other.Recognise(start, clientAddr, cookie, bothVersions); ok {
		t.Error("the first key issues, and the other does not have it")
	}
	elsewhere := netip.AddrPortFrom(clientAddr.Addr(), clientAddr.Port()+1)
	if _, ok := one.Recognise(start, elsewhere, cookie, bothVersions); ok {
		t.Error("a cookie belongs to an address")
	}
	if _, ok := one.Recognise(start, clientAddr, cookie, []byte{10}); ok {
		t.Error("a cookie belongs to a version")
	}
	keys[0] = siphash.Key{9}
	if _, ok := one.Recognise(start, clientAddr, cookie, bothVersions); !ok {
		t.Error("the keys were not copied")
	}
}

func TestAServerLeavesCookiesToOthers(t *testing.T) {
	ring := new(CookieRing)
	ring.Set([]siphash.Key{{1}})
	one, other := newServer(ServerConfig{Cookie: ring}), newServer(ServerConfig{Cookie: ring, Key: siphash.Key{8}})
	cookie := cookieFor(t, one, start, clientAddr, 10)
	p := wire.OpenRequest2{HasCookie: true, Cookie: cookie, Server: serverAddr, MTU: 1400, GUID: clientGUID}
	if _, out := other.Handle(start, clientAddr, p.Append(nil), nil); out.Kind != Accept || out.Version != 10 {
		t.Fatalf("%+v", out)
	}
	p.Cookie++
	if _, out := other.Handle(start, clientAddr, p.Append(nil), nil); out.Kind != Drop || out.Reason != DropCookie {
		t.Fatalf("%+v", out)
	}
}
