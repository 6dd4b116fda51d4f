package forge

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// enough is how many datagrams of each attack are looked at.
const enough = 1000

func stranger(t *testing.T, name string) *Stranger {
	t.Helper()
	for _, s := range Strangers() {
		if s.Name == name {
			return &s
		}
	}
	t.Fatalf("there is no %q", name)
	return nil
}

func TestAttacksHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	add := func(name string) {
		require.NotEmpty(t, name)
		require.False(t, seen[name], name)
		seen[name] = true
	}
	for _, s := range Strangers() {
		add(s.Name)
	}
	for _, f := range Forgeries() {
		add(f.Name)
	}
	for _, p := range append(Peers(), NeverAcks(), NeverRead()) {
		add(p.Name)
	}
	vectors, err := Vectors()
	require.NoError(t, err)
	for _, v := range vectors {
		add(v.Name)
	}
}

// An attack is the same each time, whatever the datagram is appended to.
func TestAttacksAreRepeatable(t *testing.T) {
	for _, s := range Strangers() {
		for i := range uint64(enough) {
			d := s.Make(i, nil)
			require.Equal(t, d, s.Make(i, []byte("before"))[6:], s.Name)
			require.LessOrEqual(t, len(d), protocol.MaxMTU-protocol.UDPOverhead, s.Name)
			require.NotEmpty(t, d, s.Name)
		}
	}
}

func TestPingsArePings(t *testing.T) {
	for _, name := range []string{"pings", "spoofed pings"} {
		for i := range uint64(enough) {
			var p wire.UnconnectedPing
			d := stranger(t, name).Make(i, nil)
			require.NoError(t, p.Parse(d))
			require.Equal(t, int64(i), p.Time)
			require.Len(t, d, 33, "as vanilla clients send them")
		}
	}
}

func TestRequestsAreTheSmallestThatAreAnswered(t *testing.T) {
	var p wire.OpenRequest1
	d := stranger(t, "spoofed request 1").Make(3, nil)
	require.NoError(t, p.Parse(d))
	require.Equal(t, wire.OpenRequest1{Version: protocol.VersionCurrent, MTU: protocol.MinMTU}, p)
	require.Len(t, d, protocol.MinMTU-protocol.UDPOverhead)
}

func TestWrongVersionsAreNobodys(t *testing.T) {
	for i := range uint64(enough) {
		var p wire.OpenRequest1
		require.NoError(t, p.Parse(WrongVersion(i, nil)))
		require.GreaterOrEqual(t, p.Version, byte(100))
	}
}

func TestBadCookiesAreGuesses(t *testing.T) {
	cookies := map[uint32]bool{}
	for i := range uint64(enough) {
		var p wire.OpenRequest2
		require.NoError(t, p.Parse(BadCookie(i, nil), true))
		cookies[p.Cookie] = true
	}
	require.Greater(t, len(cookies), enough-2)
}

func TestStraysAreOfEveryKind(t *testing.T) {
	kinds := map[wire.DatagramKind]int{}
	for i := range uint64(enough) {
		kinds[wire.Classify(NoSession(i, nil))]++
	}
	require.Len(t, kinds, 3)
	require.Zero(t, kinds[wire.KindInvalid]+kinds[wire.KindOffline])
}

func TestGarbageHasNoPattern(t *testing.T) {
	first, lengths := map[byte]bool{}, map[int]bool{}
	for i := range uint64(10 * enough) {
		d := Garbage(i, nil)
		first[d[0]], lengths[len(d)] = true, true
	}
	require.Len(t, first, 256)
	require.Len(t, lengths, 600)
}

func TestACookieIsFollowed(t *testing.T) {
	r := wire.OpenReply1{GUID: 1, Security: true, Cookie: 0xdeadbeef, MTU: 400}
	var p wire.OpenRequest2
	require.NoError(t, p.Parse(stranger(t, "half-open").Follow(r.Append(nil), nil), true))
	require.Equal(t, uint32(0xdeadbeef), p.Cookie)
	require.Equal(t, 400, p.MTU)
	require.Empty(t, FollowCookie([]byte("no reply"), nil))
}

func TestNoTwoSourcesAreEqual(t *testing.T) {
	const sources = 1_000_000
	var seen [1 << 24 / 64]uint64
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	networks := map[[2]byte]bool{}
	again := 0
	for i := range uint64(sources) {
		a := Source(i)
		if !loopback.Contains(a) || a == netip.MustParseAddr("127.0.0.1") {
			t.Fatal(a)
		}
		b := a.As4()
		n := int(b[1])<<16 | int(b[2])<<8 | int(b[3])
		if seen[n/64]>>(n%64)&1 == 1 {
			again++
		}
		seen[n/64] |= 1 << (n % 64)
		networks[[2]byte{b[1], b[2]}] = true
	}
	require.LessOrEqual(t, again, 3, "those that stand in for addresses of special meaning")
	require.Greater(t, len(networks), 1<<15)
}
