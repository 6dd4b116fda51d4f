package raknet

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/offline"
)

func TestAddressesAreTriedIPv4First(t *testing.T) {
	ip := netip.MustParseAddr
	var got []string
	for _, a := range order([]netip.Addr{ip("::1"), ip("::2"), ip("::3"), ip("1.1.1.1"), ip("::ffff:1.1.1.1"), ip("2.2.2.2")}, 7) {
		got = append(got, a.String())
	}
	require.Equal(t, []string{"1.1.1.1:7", "[::1]:7", "2.2.2.2:7", "[::2]:7", "[::3]:7"}, got)

	var pool []netip.Addr
	for i := range 100 {
		pool = append(pool, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	require.Len(t, order(pool, 1), maxTargets)
}

func TestResolve(t *testing.T) {
	got, err := resolve(t.Context(), "127.0.0.1:19132")
	require.NoError(t, err)
	require.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:19132")}, got)
	got, err = resolve(t.Context(), ":5")
	require.NoError(t, err)
	require.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:5"), netip.MustParseAddrPort("[::1]:5")}, got)
	got, err = resolve(t.Context(), "[::ffff:9.9.9.9]:5")
	require.NoError(t, err)
	require.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("9.9.9.9:5")}, got)
	_, err = resolve(t.Context(), "127.0.0.1")
	require.Error(t, err)
	_, err = resolve(t.Context(), "127.0.0.1:x")
	require.Error(t, err)
}

// scripted is how a target behaves.
type scripted struct {
	takes time.Duration
	err   error
}

// runRace races scripted targets and returns who won, when each one started, and the
// results that were thrown away.
func runRace(ctx context.Context, script map[string]scripted, names ...string) (winner string, started map[string]time.Duration, discarded []string, err error) {
	started = map[string]time.Duration{}
	begin := time.Now()
	starts := make(chan string, len(names))
	var targets []target
	for _, n := range names {
		targets = append(targets, target{name: n})
	}
	ats := make(chan time.Duration, len(names))
	winner, err = race(ctx, targets, func(ctx context.Context, t target) (string, error) {
		starts <- t.name
		ats <- time.Since(begin)
		s := script[t.name]
		select {
		case <-time.After(s.takes):
			return t.name, s.err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, func(s string) { discarded = append(discarded, s) })
	close(starts)
	close(ats)
	for n := range starts {
		started[n] = <-ats
	}
	return winner, started, discarded, err
}

func TestRace(t *testing.T) {
	failed := errors.New("nobody there")
	inBubble := func(f func(t *testing.T)) { synctest.Test(t, f) }

	inBubble(func(t *testing.T) { // the first is fast enough: nobody else is bothered
		w, started, _, err := runRace(t.Context(), map[string]scripted{"a": {takes: 900 * time.Millisecond}}, "a", "b")
		require.NoError(t, err)
		require.Equal(t, "a", w)
		require.Len(t, started, 1)
	})
	inBubble(func(t *testing.T) { // the first is slow
		w, started, _, err := runRace(t.Context(), map[string]scripted{"a": {takes: time.Hour}, "b": {takes: 10 * time.Millisecond}}, "a", "b", "c")
		require.NoError(t, err)
		require.Equal(t, "b", w)
		require.Equal(t, map[string]time.Duration{"a": 0, "b": fallbackDelay}, started)
	})
	inBubble(func(t *testing.T) { // the first fails: the second starts at once
		w, started, _, err := runRace(t.Context(), map[string]scripted{"a": {takes: time.Millisecond, err: failed}, "b": {takes: time.Second}}, "a", "b")
		require.NoError(t, err)
		require.Equal(t, "b", w)
		require.Equal(t, time.Millisecond, started["b"])
	})
	inBubble(func(t *testing.T) { // all fail: the first one's reason counts
		_, started, _, err := runRace(t.Context(), map[string]scripted{"a": {err: failed, takes: 3 * time.Second}, "b": {err: errors.New("other")}}, "a", "b")
		require.Equal(t, failed, err)
		require.Len(t, started, 2)
	})
	inBubble(func(t *testing.T) { // a server that answers is asked once
		full := &offline.RefusedError{Reason: offline.NoFreeSlots}
		_, started, _, err := runRace(t.Context(), map[string]scripted{"a": {err: full}}, "a", "b")
		require.Equal(t, full, err)
		require.Len(t, started, 1)
	})
	inBubble(func(t *testing.T) { // two win at the same moment: one is closed again
		w, _, discarded, err := runRace(t.Context(), map[string]scripted{"a": {takes: 2 * time.Second}, "b": {takes: time.Second}}, "a", "b")
		require.NoError(t, err)
		require.Contains(t, []string{"a", "b"}, w)
		require.NotContains(t, discarded, w)
	})
	inBubble(func(t *testing.T) { // the context ends
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, _, _, err := runRace(ctx, map[string]scripted{"a": {takes: time.Hour}, "b": {takes: time.Hour}}, "a", "b")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
	inBubble(func(t *testing.T) { // only one address
		w, _, _, err := runRace(t.Context(), map[string]scripted{"a": {takes: time.Hour}}, "a")
		require.NoError(t, err)
		require.Equal(t, "a", w)
	})
}
