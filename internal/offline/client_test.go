package offline

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// clientTest tells a story about one client: what it is told, what it sends.
type clientTest struct {
	*testing.T
	c   Client
	now monotime.Time
}

func newClientTest(t *testing.T, cfg ClientConfig) *clientTest {
	ct := &clientTest{T: t, now: start}
	cfg.GUID, cfg.ServerAddr = clientGUID, serverAddr
	ct.c.Init(start, &cfg)
	return ct
}

// describe names a datagram: "r1 v11 1492" or "r2 1400 cookie=5".
func (t *clientTest) describe(pkt []byte) string {
	t.Helper()
	if pkt[0] == byte(protocol.IDOpenConnectionRequest1) {
		var r wire.OpenRequest1
		require.NoError(t, r.Parse(pkt))
		return fmt.Sprintf("r1 v%d %d", r.Version, r.MTU)
	}
	var r wire.OpenRequest2
	withCookie := len(pkt) == 39
	require.NoError(t, r.Parse(pkt, withCookie))
	require.Equal(t, serverAddr, r.Server)
	require.Equal(t, t.c.guid, r.GUID)
	if withCookie {
		return fmt.Sprintf("r2 %d cookie=%d", r.MTU, r.Cookie)
	}
	return fmt.Sprintf("r2 %d", r.MTU)
}

// wantSent asserts everything that the client sends now.
func (t *clientTest) wantSent(want ...string) {
	t.Helper()
	var got []string
	for _, pkt := range drain(&t.c, t.now) {
		got = append(got, t.describe(pkt))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("at %v: sent %q, want %q", time.Duration(t.now), got, want)
	}
}

// advance lets time pass in one step, after asserting that nothing was due earlier.
func (t *clientTest) advance(d time.Duration) {
	t.Helper()
	end := t.now.Add(d)
	if next := t.c.Deadline(); next < end {
		t.Fatalf("at %v: due at %v, before %v", time.Duration(t.now), time.Duration(next), time.Duration(end))
	}
	t.now = end
	t.c.Advance(t.now)
}

// tick lets half a second pass: the interval of every packet.
func (t *clientTest) tick() {
	t.Helper()
	t.advance(ms(500))
}

// early lets the time pass after which the first request 2 is repeated to a server nearby.
func (t *clientTest) early() {
	t.Helper()
	t.advance(ms(500) / leastPatience)
}

func (t *clientTest) reply1(r wire.OpenReply1) { t.c.Receive(t.now, r.Append(nil)) }
func (t *clientTest) reply2(r wire.OpenReply2) { t.c.Receive(t.now, r.Append(nil)) }

func (t *clientTest) refuse(id byte) {
	t.c.Receive(t.now, (&wire.Refusal{ID: id, GUID: serverGUID}).Append(nil))
}

func (t *clientTest) mismatch(version byte) {
	t.c.Receive(t.now, (&wire.IncompatibleVersion{Version: version}).Append(nil))
}

func (t *clientTest) wantPending() {
	t.Helper()
	_, done, err := t.c.Result()
	require.False(t, done)
	require.NoError(t, err)
}

func (t *clientTest) wantError(want error) {
	t.Helper()
	_, done, err := t.c.Result()
	require.True(t, done)
	require.Equal(t, want, err)
	require.Equal(t, monotime.Never, t.c.Deadline())
	require.False(t, t.c.NeedFreshPort())
	t.wantSent()
}

func (t *clientTest) wantResult(want Negotiated) {
	t.Helper()
	n, done, err := t.c.Result()
	require.True(t, done)
	require.NoError(t, err)
	if want.RoundTrip == 0 {
		want.RoundTrip = n.RoundTrip // a test of its own says what it should be
	}
	want.Took = n.Took // so does the same
	require.Equal(t, want, n)
	require.Equal(t, monotime.Never, t.c.Deadline())
	t.wantSent()
}

var granted = wire.OpenReply1{GUID: 7, Security: true, Cookie: 5, MTU: 1400}

func TestARoundTripOfSeveralRequestsIsNobodysGuess(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	ct.wantSent("r1 v11 1492")
	ct.reply1(granted)
	ct.wantSent("r2 1400 cookie=5")
	ct.now = ct.now.Add(ms(500))
	ct.c.Advance(ct.now)
	ct.wantSent("r2 1400 cookie=5")
	ct.now = ct.now.Add(ms(20))
	ct.reply2(wire.OpenReply2{GUID: 8, Client: clientAddr, MTU: 1400})
	n, _, _ := ct.c.Result()
	require.Zero(t, n.RoundTrip)
	require.Equal(t, ms(520), n.Took, "it is not more than that")
}

func TestAForgottenClientWantsAFreshPort(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	ct.c.Forgotten(ms(10))
	require.Zero(t, ct.c.Spent(), "nothing was granted yet")
	for _, spent := range []int{700, 1400} {
		ct.wantSent("r1 v11 1492")
		ct.reply1(granted)
		ct.wantSent("r2 1400 cookie=5")
		ct.now = ct.now.Add(ms(20))
		ct.reply2(wire.OpenReply2{GUID: 8, Client: clientAddr, MTU: 1400})
		n, done, err := ct.c.Result()
		require.NoError(t, err)
		require.True(t, done)
		require.Equal(t, ms(20), n.RoundTrip)
		require.Equal(t, ms(20), n.Took)
		ct.c.Forgotten(ms(700))
		require.True(t, ct.c.NeedFreshPort())
		_, done, _ = ct.c.Result()
		require.False(t, done)
		require.Equal(t, ms(spent), ct.c.Spent())
		ct.c.Restart(ct.now, 9)
		require.False(t, ct.c.NeedFreshPort())
	}
}

func TestClientDials(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	require.Equal(t, start, ct.c.Deadline())
	ct.wantSent("r1 v11 1492")
	require.Equal(t, start.Add(ms(500)), ct.c.Deadline())
	ct.now = ct.now.Add(ms(20))
	ct.reply1(granted)
	ct.wantSent("r2 1400 cookie=5")
	ct.now = ct.now.Add(ms(20))
	ct.reply2(wire.OpenReply2{GUID: 8, Client: clientAddr, MTU: 1400})
	ct.wantResult(Negotiated{MTU: 1400, Version: 11, ServerGUID: 8, ClientAddr: clientAddr, RoundTrip: ms(20)})

	t.Log("# what comes later changes nothing")
	ct.refuse(0x14)
	ct.mismatch(9)
	ct.reply1(granted)
	ct.c.ProbeTooLarge(ct.now)
	ct.c.Restart(ct.now, 1)
	ct.c.Advance(ct.now.Add(time.Hour))
	ct.wantResult(Negotiated{MTU: 1400, Version: 11, ServerGUID: 8, ClientAddr: clientAddr})
}

func TestClientProbesLikeVanillaAndBeginsAgain(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	for range 2 {
		for _, mtu := range []int{1492, 1200, 576} {
			for range 4 {
				ct.wantSent(fmt.Sprintf("r1 v11 %d", mtu))
				ct.tick()
			}
		}
	}
	ct.wantSent("r1 v11 1492")
	ct.wantPending()
}

func TestClientProbeSizes(t *testing.T) {
	for _, tt := range []struct {
		max  int
		want []int
	}{
		{0, []int{1492, 1200, 576}}, {1492, []int{1492, 1200, 576}}, {9000, []int{1492, 1200, 576}},
		{1400, []int{1400, 1200, 576}}, {1200, []int{1200, 576}}, {1000, []int{1000, 576}},
		{576, []int{576}}, {500, []int{500}}, {100, []int{400}}, {-1, []int{400}},
	} {
		var c Client
		c.Init(start, &ClientConfig{MaxMTU: tt.max})
		if got := c.sizes[:c.nsizes]; !slices.Equal(got, tt.want) {
			t.Errorf("MaxMTU %d: %v, want %v", tt.max, got, tt.want)
		}
	}
}

func TestClientOwnSchedule(t *testing.T) {
	ct := newClientTest(t, ClientConfig{Schedule: Schedule{Interval: ms(100), PerSize: 1, Reply2: ms(150)}})
	ct.wantSent("r1 v11 1492")
	ct.advance(ms(100))
	ct.wantSent("r1 v11 1200")
	ct.reply1(granted)
	ct.wantSent("r2 1200 cookie=5")
	ct.advance(ms(100))
	ct.wantSent("r2 1200 cookie=5")
	require.False(t, ct.c.NeedFreshPort())
	ct.advance(ms(50))
	require.True(t, ct.c.NeedFreshPort())
	ct.wantSent()
	ct.advance(ms(50))
	ct.wantSent("r2 1200 cookie=5")
}

func TestClientSkipsSizesThatTheHostRefuses(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	ct.wantSent("r1 v11 1492")
	ct.c.ProbeTooLarge(ct.now)
	ct.wantSent("r1 v11 1200")
	for range 4 {
		ct.tick()
		_, probe := ct.c.Transmit(ct.now, nil)
		require.True(t, probe)
	}
	t.Log("# the smallest waits for its turn instead of spinning")
	ct.c.ProbeTooLarge(ct.now)
	ct.wantSent()
	for range 3 {
		ct.tick()
		ct.wantSent("r1 v11 576")
	}
	t.Log("# and the refused one stays out when the ladder begins again")
	ct.tick()
	ct.wantSent("r1 v11 1200")
	t.Log("# a limit learned after reply 1 still counts")
	ct.reply1(granted)
	ct.wantSent("r2 1200 cookie=5")
	ct.c.ProbeTooLarge(ct.now)
	ct.tick()
	ct.wantSent("r2 576 cookie=5")
	ct.reply2(wire.OpenReply2{MTU: 1400, Client: clientAddr})
	ct.wantResult(Negotiated{MTU: 576, Version: 11, ClientAddr: clientAddr})
}

func TestClientRepeatsRequest2(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	ct.wantSent("r1 v11 1492")
	ct.reply1(granted)
	ct.wantSent("r2 1400 cookie=5")
	t.Log("# soon for the first time, since the server is near")
	ct.early()
	ct.wantSent("r2 1400 cookie=5")
	for range 2 {
		ct.tick()
		ct.wantSent("r2 1400 cookie=5")
		require.False(t, ct.c.NeedFreshPort())
	}
	t.Log("# then a new cookie is asked for, and after two seconds a fresh port wanted")
	ct.tick()
	require.False(t, ct.c.NeedFreshPort())
	ct.wantSent("r2 1400 cookie=5", "r1 v11 1492")
	ct.advance(2*time.Second - 3*ms(500) - ms(500)/leastPatience)
	require.True(t, ct.c.NeedFreshPort())
	ct.wantSent()
	t.Log("# the answer to that counts at once, on the old port")
	fresh := granted
	fresh.Cookie = 6
	ct.reply1(fresh)
	ct.wantSent("r2 1400 cookie=6")
	ct.tick()
	ct.wantSent("r2 1400 cookie=6")
	ct.reply2(wire.OpenReply2{MTU: 1400, Client: clientAddr})
	ct.wantResult(Negotiated{MTU: 1400, Version: 11, ClientAddr: clientAddr})
}

// Request 2 is repeated sooner to a server that is near, but not if it answers slowly, nor if nobody knows how
// near it is.
func TestTheFirstRepetitionOfRequest2FollowsTheRoundTrip(t *testing.T) {
	for trip, want := range map[time.Duration]time.Duration{
		0: ms(500) / leastPatience, ms(20): ms(500) / leastPatience, ms(30): ms(240), ms(62): ms(496), ms(63): ms(500), ms(400): ms(500),
	} {
		ct := newClientTest(t, ClientConfig{})
		drain(&ct.c, ct.now)
		ct.advance(trip)
		ct.reply1(granted)
		drain(&ct.c, ct.now)
		require.Equal(t, want, ct.c.Deadline().Sub(ct.now), "after %v", trip)
		ct.advance(want)
		drain(&ct.c, ct.now)
		require.Equal(t, ms(500), ct.c.Deadline().Sub(ct.now))
	}
	ct := newClientTest(t, ClientConfig{})
	drain(&ct.c, ct.now)
	ct.tick()
	drain(&ct.c, ct.now)
	ct.reply1(granted)
	drain(&ct.c, ct.now)
	require.Equal(t, ms(500), ct.c.Deadline().Sub(ct.now))
}

func TestClientAnswersEachReply1Once(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	ct.wantSent("r1 v11 1492")
	ct.tick()
	ct.wantSent("r1 v11 1492")
	ct.reply1(granted)
	ct.wantSent("r2 1400 cookie=5")
	t.Log("# the answers to probes that were under way say the same and are no news")
	ct.reply1(granted)
	ct.reply1(granted)
	ct.wantSent()
	t.Log("# a server that stopped asking for cookies is believed")
	ct.reply1(wire.OpenReply1{GUID: 7, MTU: 1300})
	ct.wantSent("r2 1300")
}

func TestClientRestartsFromAFreshPort(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	for range 5 {
		drain(&ct.c, ct.now)
		ct.tick()
	}
	ct.reply1(granted)
	ct.wantSent("r2 1200 cookie=5", "r1 v11 1200")
	for range 4 {
		ct.tick()
		drain(&ct.c, ct.now)
	}
	require.True(t, ct.c.NeedFreshPort())
	ct.now = start // the new socket has a clock of its own
	ct.c.Restart(ct.now, 99)
	t.Log("# it goes on with the size that was answered")
	require.False(t, ct.c.NeedFreshPort())
	ct.wantSent("r1 v11 1200")
	t.Log("# a reply 2 to the old port's request is none to this one's")
	ct.reply2(wire.OpenReply2{MTU: 1200})
	ct.wantPending()
	ct.reply1(granted)
	ct.wantSent("r2 1200 cookie=5")
	ct.reply2(wire.OpenReply2{GUID: 8, Client: clientAddr, MTU: 1200})
	ct.wantResult(Negotiated{MTU: 1200, Version: 11, ServerGUID: 8, ClientAddr: clientAddr})
}

func TestClientTakenForConnectedWhenReply2WasLost(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	drain(&ct.c, ct.now)
	ct.reply1(granted)
	ct.wantSent("r2 1400 cookie=5")
	ct.early()
	ct.wantSent("r2 1400 cookie=5")
	ct.refuse(0x12)
	ct.wantPending()
	require.True(t, ct.c.NeedFreshPort())
	t.Log("# reply 2 was only late")
	ct.reply2(wire.OpenReply2{MTU: 1400, Client: clientAddr})
	ct.wantResult(Negotiated{MTU: 1400, Version: 11, ClientAddr: clientAddr})
}

func TestClientIsRefused(t *testing.T) {
	for id, reason := range map[byte]Refusal{0x12: AlreadyConnected, 0x14: NoFreeSlots, 0x17: Banned} {
		t.Log("# at request 1:", reason)
		ct := newClientTest(t, ClientConfig{})
		drain(&ct.c, ct.now)
		ct.refuse(id)
		ct.wantError(&RefusedError{reason})
		t.Log("# at the first request 2:", reason)
		ct = newClientTest(t, ClientConfig{})
		drain(&ct.c, ct.now)
		ct.reply1(granted)
		drain(&ct.c, ct.now)
		ct.refuse(id)
		if id == 0x12 {
			continue // the next test's story
		}
		ct.wantError(&RefusedError{reason})
	}
}

func TestClientTakenForConnectedAtItsFirstRequest2(t *testing.T) {
	refused := func(restarts int) *clientTest {
		ct := newClientTest(t, ClientConfig{})
		for i := range restarts + 1 {
			if i > 0 {
				ct.c.Restart(ct.now, clientGUID)
			}
			drain(&ct.c, ct.now)
			ct.reply1(granted)
			ct.wantSent("r2 1400 cookie=5")
			ct.refuse(0x12)
			ct.wantPending()
			ct.wantSent()
			require.Equal(t, i < refusalRetries, ct.c.NeedFreshPort())
		}
		return ct
	}
	for _, restarts := range []int{0, refusalRetries} {
		t.Logf("# after %d restarts: the refusal overtook reply 2", restarts)
		ct := refused(restarts)
		ct.now = ct.now.Add(ms(499))
		ct.reply2(wire.OpenReply2{MTU: 1400, Client: clientAddr})
		ct.wantResult(Negotiated{MTU: 1400, Version: 11, ClientAddr: clientAddr})
		t.Logf("# after %d restarts: it is meant, a repetition does not put it off", restarts)
		ct = refused(restarts)
		ct.advance(ms(250))
		ct.refuse(0x12)
		ct.wantPending()
		ct.advance(ms(250))
		ct.wantError(&RefusedError{AlreadyConnected})
	}
}

func TestClientAsksAgainWhenItConnectedRecently(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	drain(&ct.c, ct.now)
	ct.reply1(granted)
	for range refusalRetries {
		ct.wantSent("r2 1400 cookie=5")
		ct.refuse(0x1a)
		ct.wantPending()
		ct.wantSent()
		ct.tick()
	}
	ct.refuse(0x1a)
	ct.wantError(&RefusedError{RecentlyConnected})
}

func TestClientVersions(t *testing.T) {
	t.Run("an automatic version follows the server's", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{})
		ct.wantSent("r1 v11 1492")
		ct.tick()
		ct.wantSent("r1 v11 1492")
		ct.mismatch(8)
		ct.wantSent("r1 v8 1492")
		t.Log("# the second probe of version 11 is turned away as well")
		ct.mismatch(8)
		ct.wantPending()
		ct.wantSent()
		ct.reply1(granted)
		ct.wantSent("r2 1400 cookie=5")
		ct.mismatch(8)
		ct.reply2(wire.OpenReply2{MTU: 1400, Client: clientAddr})
		ct.wantResult(Negotiated{MTU: 1400, Version: 8, ClientAddr: clientAddr})
	})
	t.Run("but only once", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{})
		ct.mismatch(8)
		ct.mismatch(9)
		ct.wantError(&VersionError{Client: 8, Server: 9})
	})
	t.Run("and only to one that is known", func(t *testing.T) {
		for _, version := range []byte{0, 5, 12, 255} {
			ct := newClientTest(t, ClientConfig{})
			ct.mismatch(version)
			ct.wantError(&VersionError{Client: 11, Server: version})
		}
	})
	t.Run("a server that names what it was asked in is asked in one after the other", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{})
		ct.wantSent("r1 v11 1492")
		ct.tick()
		ct.wantSent("r1 v11 1492")
		ct.mismatch(11)
		ct.wantSent("r1 v10 1492")
		t.Log("# the second probe of version 11 is turned away as well")
		ct.mismatch(11)
		ct.wantPending()
		ct.wantSent()
		ct.mismatch(10)
		ct.wantSent("r1 v9 1492")
		ct.reply1(granted)
		ct.wantSent("r2 1400 cookie=5")
		ct.reply2(wire.OpenReply2{MTU: 1400, Client: clientAddr})
		ct.wantResult(Negotiated{MTU: 1400, Version: 9, ClientAddr: clientAddr})
	})
	t.Run("down to the oldest", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{})
		for version := byte(11); version >= 6; version-- {
			ct.wantSent(fmt.Sprintf("r1 v%d 1492", version))
			ct.mismatch(version)
		}
		ct.wantError(&VersionError{Client: 11, Server: 11})
	})
	t.Run("unless it means what it says", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{})
		ct.wantSent("r1 v11 1492")
		ct.mismatch(11)
		ct.wantSent("r1 v10 1492")
		ct.mismatch(11)
		ct.wantError(&VersionError{Client: 11, Server: 11})
	})
	t.Run("a chosen version stays", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{Version: 10})
		ct.wantSent("r1 v10 1492")
		ct.mismatch(11)
		ct.wantError(&VersionError{Client: 10, Server: 11})
	})
	t.Run("with the marker before the version", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{})
		pkt := append(wire.AppendMagic([]byte{0x19}), 9, 0, 0, 0, 0, 0, 0, 0, 1)
		ct.c.Receive(ct.now, pkt)
		ct.wantSent("r1 v9 1492")
	})
}

func TestClientKeepsItsMTU(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		reply1, reply2, want int
	}{
		{"as granted", 1400, 1400, 1400},
		{"reply 2 has the last word", 1400, 1350, 1350},
		{"up to what was probed", 1400, 1492, 1492},
		{"and not beyond", 1492, 65535, 1492},
		{"nothing beyond the probe in reply 1", 1551, 1551, 1492},
		{"reply 2 without an MTU", 1400, 0, 1400},
		{"reply 2 below a header", 1400, 27, 1400},
		{"reply 2 below the smallest", 1400, 399, 1400},
		{"the smallest", 400, 400, 400},
	} {
		ct := newClientTest(t, ClientConfig{})
		drain(&ct.c, ct.now)
		ct.reply1(wire.OpenReply1{GUID: 7, MTU: tt.reply1})
		ct.wantSent(fmt.Sprintf("r2 %d", min(tt.reply1, 1492)))
		ct.reply2(wire.OpenReply2{MTU: tt.reply2})
		if n, done, err := ct.c.Result(); !done || err != nil || n.MTU != tt.want {
			t.Errorf("%s: %+v, %t, %v, want %d", tt.name, n, done, err, tt.want)
		}
	}
}

func TestClientBehindAProtectionBox(t *testing.T) {
	t.Run("that answers a broken MTU", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{})
		drain(&ct.c, ct.now)
		ct.reply1(wire.OpenReply1{GUID: 7, Security: true, Cookie: 3, MTU: 0})
		ct.wantSent("r2 1492 cookie=3", "r1 v11 1492")
		t.Log("# once; after that the box has had its reaction")
		ct.reply1(wire.OpenReply1{GUID: 7, Security: true, Cookie: 4, MTU: 20})
		ct.wantSent()
		ct.tick()
		ct.wantSent("r1 v11 1492")
		t.Log("# and the server behind it takes over")
		ct.reply1(granted)
		ct.wantSent("r2 1400 cookie=5")
		t.Log("# a late one of the box's is no news")
		ct.reply1(wire.OpenReply1{MTU: 0})
		ct.wantSent()
		ct.reply2(wire.OpenReply2{MTU: 1400})
		ct.wantResult(Negotiated{MTU: 1400, Version: 11, ClientAddr: unassignedAddr(t)})
	})
	t.Run("that has no GUID", func(t *testing.T) {
		ct := newClientTest(t, ClientConfig{})
		drain(&ct.c, ct.now)
		ct.reply1(wire.OpenReply1{MTU: 1400})
		ct.wantSent("r2 1400", "r1 v11 1492")
		t.Log("# a server may be called 0, too")
		ct.reply2(wire.OpenReply2{MTU: 1400})
		ct.wantResult(Negotiated{MTU: 1400, Version: 11, ClientAddr: unassignedAddr(t)})
	})
}

func unassignedAddr(t *testing.T) netip.AddrPort {
	var r wire.OpenReply2
	require.NoError(t, r.Parse((&wire.OpenReply2{}).Append(nil)))
	return r.Client
}

func TestClientMeetsLibcat(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	drain(&ct.c, ct.now)
	key := append(granted.Append(nil), make([]byte, 294)...)
	key[100] = 1
	ct.c.Receive(ct.now, key)
	ct.wantError(ErrSecurityUnsupported)

	ct = newClientTest(t, ClientConfig{})
	drain(&ct.c, ct.now)
	ct.reply1(granted)
	drain(&ct.c, ct.now)
	ct.reply2(wire.OpenReply2{MTU: 1400, Encryption: true})
	ct.wantError(ErrSecurityUnsupported)

	for _, id := range []byte{0x0a, 0x0b} {
		ct = newClientTest(t, ClientConfig{})
		pkt := (&wire.Refusal{ID: id}).Append(nil)
		t.Log("# these have no marker: only the exact length counts")
		ct.c.Receive(ct.now, append(slices.Clone(pkt), 0))
		ct.wantPending()
		ct.c.Receive(ct.now, pkt)
		ct.wantError(&RefusedError{SecurityRequired})
	}
}

func TestClientIgnoresTheRest(t *testing.T) {
	ct := newClientTest(t, ClientConfig{})
	ct.wantSent("r1 v11 1492")
	for _, pkt := range [][]byte{
		nil, {}, {0x84, 0, 0, 0, 0x60}, {0xc0, 0, 1, 1, 0, 0, 0}, {0x00, 0, 0, 0, 0, 0, 0, 0, 0}, {0x15}, {0x11},
		request1(11, 1492), plainRequest2(1492), pong(1, "x"), ping(1, true), make([]byte, 1500), {0x06}, {0x08}, {0x12}, {0x19},
		(&wire.OpenReply2{MTU: 1400}).Append(nil), // to no request 2
		granted.Append(nil)[:31],
	} {
		ct.c.Receive(ct.now, pkt)
		ct.wantPending()
		ct.wantSent()
	}
	require.Equal(t, start.Add(ms(500)), ct.c.Deadline())
}

func TestClientErrorsSayWhy(t *testing.T) {
	require.Equal(t, "incompatible protocol version: client 11, server 9", (&VersionError{11, 9}).Error())
	require.Equal(t, "connection refused: no free slots", (&RefusedError{NoFreeSlots}).Error())
}

func TestClientTransmitAllocatesNothing(t *testing.T) {
	var c Client
	now := start
	c.Init(now, &ClientConfig{ServerAddr: client6})
	dst := make([]byte, 0, 1464)
	if n := testing.AllocsPerRun(100, func() {
		now = now.Add(ms(500))
		c.Advance(now)
		c.Transmit(now, dst)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
