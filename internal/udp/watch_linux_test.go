package udp

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// exchanging is a reader during a vigil who has asked and been answered so often that the next wait is watched. For the watch
// time passes by lap with each look that finds nothing, and otherwise not at all.
type exchanging struct {
	*watched
	w     *watch
	clock time.Time
	lap   time.Duration
	looks int
	gave  int
	slept int
}

func exchange(t *testing.T) *exchanging {
	e := &exchanging{watched: keep(t), clock: time.Now(), lap: watchTime / 10}
	r := &e.p.(*batch).r
	e.w = &r.watch
	e.w.now = func() time.Time { return e.clock }
	e.w.yield = func() { e.clock = e.clock.Add(e.lap) }
	e.w.give = func() { e.gave++ }
	e.w.call = func(fd uintptr, h *mmsghdr) (int, syscall.Errno) {
		e.looks++
		return lookCall(fd, h)
	}
	r.sys = func(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno) {
		if wait {
			e.slept++
		}
		return batchCall(trap, fd, v, n, wait)
	}
	e.p.Alone(true)
	e.begin()
	t.Cleanup(e.v.end)
	for range watchAfter {
		require.False(t, e.w.begins())
		e.asks()
	}
	return e
}

// asks pretends that something small was sent and answered.
func (e *exchanging) asks() {
	e.w.sent(1, 100)
	e.w.begins()
	e.w.ended(1, 100)
}

func TestWhoIsAnsweredAtOnceLooksForIt(t *testing.T) {
	e := exchange(t)
	e.w.call = func(fd uintptr, h *mmsghdr) (int, syscall.Errno) {
		if e.looks++; e.looks == 3 {
			e.say("answer")
		}
		return lookCall(fd, h)
	}
	require.Equal(t, "answer", e.read())
	require.Equal(t, 3, e.looks)
	require.Zero(t, e.slept)
	require.False(t, e.p.More())
	require.False(t, e.w.atOnce)
}

// A look takes one datagram. Where it was there already there may be more, which are read as ever.
func TestWhatCameBeforeTheLookMayBeMore(t *testing.T) {
	e := exchange(t)
	for _, text := range []string{"a", "b", "c"} {
		e.say(text)
	}
	e.w.sent(1, 100)
	require.Equal(t, "a", e.read())
	require.True(t, e.w.atOnce)
	e.w.sent(1, 100)
	e.keepOn()
	n, err := e.p.ReadBatch(e.in)
	require.NoError(t, err)
	require.Equal(t, placesMin, n)
	require.True(t, e.p.More())
	require.Equal(t, 1, e.looks)
	require.Zero(t, e.w.row, "this is no exchange")
	t.Log("# and one that there is alone is one of an exchange")
	Release(e.in)
	e.say("last")
	e.p.(*batch).r.filled, e.w.row, e.w.atOnce = false, watchAfter, true
	e.w.sent(1, 100)
	e.keepOn()
	e.w.call = func(fd uintptr, h *mmsghdr) (int, syscall.Errno) {
		e.looks++
		e.say("d")
		return lookCall(fd, h)
	}
	require.Equal(t, "last", e.read())
	require.EqualValues(t, watchAfter+1, e.w.row)
	e.w.sent(1, 100)
	e.keepOn()
	require.Equal(t, "d", e.read())
	require.Equal(t, 2, e.looks)
}

// keepOn keeps the vigil, however slow the machine is that the test runs on.
func (e *exchanging) keepOn() {
	if !e.v.on.Load() {
		e.begin()
	}
}

func TestOnlyAnExchangeWithOnePeerIsWatched(t *testing.T) {
	e := exchange(t)
	next := func() bool { e.w.row = watchRow; return e.w.begins() }
	require.True(t, next())
	e.p.Alone(false)
	require.False(t, next(), "somebody else may have something to say")
	e.p.Alone(true)
	require.True(t, next())
	e.p.Alone(false)
	e.p.Alone(true)
	require.False(t, e.w.begins(), "nor does it count what others said")
	for _, story := range []struct {
		what                 string
		sends                [][2]int // datagrams, and bytes of the longest
		messages, bytes      int
		watched, watchedThen bool // after two of them, after ten
	}{
		{"a message and an answer", [][2]int{{1, 100}}, 1, 100, true, true},
		{"with an ACK", [][2]int{{2, 100}}, 1, 100, true, true},
		{"an ACK alone", nil, 1, 20, true, false},
		{"a transfer from here", [][2]int{{1, watchBytes + 1}}, 1, 20, true, false},
		{"one of many pieces", [][2]int{{3, 100}}, 1, 20, true, false},
		{"one of many calls", [][2]int{{1, 100}, {1, 100}}, 1, 20, true, false},
		{"a transfer to here", [][2]int{{1, 20}}, 1, watchBytes + 1, false, false},
		{"of many pieces", [][2]int{{1, 20}}, 2, 100, false, false},
	} {
		e.w.row = watchRow
		for i := range 10 {
			for _, s := range story.sends {
				e.w.sent(s[0], s[1])
			}
			e.w.begins()
			e.w.ended(story.messages, story.bytes)
			if i == 1 {
				require.Equal(t, story.watched, e.w.begins(), story.what)
			}
		}
		require.Equal(t, story.watchedThen, e.w.begins(), story.what)
	}
}

// What the socket sends is what counts, whoever sends it.
func TestWhatIsSentIsWhatWasAsked(t *testing.T) {
	e := exchange(t)
	other := opened(t, Wrap(listenUDP(t), Options{}), nil)
	for _, story := range []struct {
		sizes []int
		asked int32
	}{{[]int{5}, askedLittle}, {[]int{20, 1000}, askedLittle}, {[]int{20, watchBytes + 1}, askedMuch}, {[]int{5, 5, 5}, askedMuch}} {
		var out []Outbound
		for _, n := range story.sizes {
			out = append(out, Outbound{Data: make([]byte, n), To: at(other)})
		}
		e.w.asked.Store(0)
		_, err := e.p.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, story.asked, e.w.asked.Load(), "%v", story.sizes)
	}
}

func TestWhoWatchesInVainSleeps(t *testing.T) {
	e := exchange(t)
	e.nothing()
	e.say("late")
	require.Equal(t, "late", e.read())
	require.InDelta(t, watchTime/e.lap, e.looks, 3)
	require.Equal(t, 1, e.slept)
	t.Log("# and the next time at once")
	e.keepOn()
	e.w.row, e.looks = watchRow, 0
	e.say("later")
	require.Equal(t, "later", e.read())
	require.Zero(t, e.looks)
	t.Log("# when many are in vain, for a long time")
	e.w.row, e.w.skip = watchRow, 0
	for range watchDoubt / vainDoubt {
		n, errno := e.w.look(0, nil, e.clock)
		require.Zero(t, n)
		require.Zero(t, errno)
	}
	for range watchSkip {
		require.False(t, e.w.begins())
	}
	require.True(t, e.w.begins())
}

// nothing makes looks find nothing.
func (e *exchanging) nothing() {
	e.w.call = func(uintptr, *mmsghdr) (int, syscall.Errno) {
		e.looks++
		return 0, unix.EAGAIN
	}
}

// Who finds what it looks for has fewer doubts, so that a few in vain do not matter.
func TestWhoFindsMostlyGoesOnWatching(t *testing.T) {
	e := exchange(t)
	found := false
	e.w.call = func(uintptr, *mmsghdr) (int, syscall.Errno) {
		if found {
			return 1, 0
		}
		return 0, unix.EAGAIN
	}
	for i := range 100 * (vainDoubt + 1) {
		found = i%(vainDoubt+1) != 0
		e.w.skip = 0
		e.w.look(0, nil, e.clock)
		require.LessOrEqual(t, e.w.skip, int16(1), "after %d", i)
	}
}

// Whoever takes the processor from a look would not have kept it from a reader who is woken.
func TestNobodyWatchesWhereOthersNeedTheProcessor(t *testing.T) {
	for _, found := range []bool{true, false} {
		e := exchange(t)
		e.nothing()
		e.lap = watchLap + 1
		if found {
			e.w.call = func(uintptr, *mmsghdr) (int, syscall.Errno) {
				e.clock = e.clock.Add(e.lap)
				return 1, 0
			}
		}
		e.w.look(0, nil, e.clock)
		require.EqualValues(t, lapSkip, e.w.skip, "once, for a short time")
		for e.w.skip < watchSkip {
			require.LessOrEqual(t, e.w.doubt, int8(watchDoubt))
			e.w.look(0, nil, e.clock)
		}
		e.v.end()
	}
}

// To goroutines it offers the processor once in a while, and if they take it for long, that counts as well.
func TestAWatchLetsGoroutinesHaveTheProcessor(t *testing.T) {
	e := exchange(t)
	e.nothing()
	const looks = 1000
	for range looks {
		e.w.look(0, nil, e.clock)
	}
	require.InDelta(t, looks*watchTime/watchGive, e.gave, looks*float64(watchTime)/float64(watchGive)/4)
	e.w.doubt, e.w.skip, e.w.gave = 0, 0, time.Time{}
	e.w.give = func() { e.clock = e.clock.Add(watchLap + 1) }
	e.w.look(0, nil, e.clock)
	require.EqualValues(t, lapSkip, e.w.skip)
}

func TestAWatchTellsOfErrors(t *testing.T) {
	e := exchange(t)
	e.w.call = func(uintptr, *mmsghdr) (int, syscall.Errno) { return 0, unix.ECONNREFUSED }
	_, err := e.p.ReadBatch(e.in)
	require.ErrorIs(t, err, unix.ECONNREFUSED)
}

// Systems that do not know the call are not asked again, and nobody is told.
func TestASystemThatKnowsNoLooksIsNotAskedTo(t *testing.T) {
	e := exchange(t)
	e.w.call = func(uintptr, *mmsghdr) (int, syscall.Errno) {
		e.looks++
		return 0, unix.ENOSYS
	}
	for _, text := range []string{"a", "b"} {
		e.say(text)
		e.keepOn()
		e.w.row = watchRow
		require.Equal(t, text, e.read())
	}
	require.Equal(t, 1, e.looks)
}

func TestAWatchIsInterrupted(t *testing.T) {
	for _, how := range []string{"deadline", "close"} {
		e := exchange(t)
		interrupted := make(chan struct{})
		e.w.call = func(fd uintptr, h *mmsghdr) (int, syscall.Errno) {
			if e.looks++; e.looks == 1 {
				go func() {
					defer close(interrupted)
					if how == "close" {
						e.p.Close()
					} else {
						e.p.SetReadDeadline(time.Unix(1, 0))
					}
				}()
			}
			return lookCall(fd, h)
		}
		ended := e.fails()
		if how == "close" {
			require.True(t, IsClosed(<-ended))
		} else {
			require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
		}
		<-interrupted
	}
}
