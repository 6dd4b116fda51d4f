package udp

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// exchanging is a reader during a vigil who has asked and been answered so often that the next wait is watched.
type exchanging struct {
	*watched
	w     *watch
	looks int
	slept int
}

func exchange(t *testing.T) *exchanging {
	e := &exchanging{watched: keep(t)}
	r := &e.p.(*batch).r
	e.w = &r.watch
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
	require.True(t, e.p.Wakeful(), "the vigil goes on")
	require.False(t, e.p.More())
}

func TestOnlyAnExchangeWithOnePeerIsWatched(t *testing.T) {
	e := exchange(t)
	next := func() bool { e.w.row = watchRow; return e.w.begins() }
	require.True(t, next())
	e.p.Alone(false)
	require.False(t, next(), "somebody else may have something to say")
	e.p.Alone(true)
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
	e.w.call = func(uintptr, *mmsghdr) (int, syscall.Errno) {
		e.looks++
		return 0, unix.EAGAIN
	}
	e.say("late")
	begin := time.Now()
	require.Equal(t, "late", e.read())
	require.Greater(t, time.Since(begin), watchTime)
	require.Positive(t, e.looks)
	require.Equal(t, 1, e.slept)
	t.Log("# and the next time at once")
	before := e.looks
	e.say("later")
	require.Equal(t, "later", e.read())
	require.Equal(t, before, e.looks)
	t.Log("# when many are in vain, for a long time")
	e.w.row, e.w.skip = watchRow, 0
	for range watchDoubt / vainDoubt {
		n, errno := e.w.look(0, nil)
		require.Zero(t, n)
		require.Zero(t, errno)
	}
	for range watchSkip {
		require.False(t, e.w.begins())
	}
	require.True(t, e.w.begins())
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
		e.w.look(0, nil)
		require.LessOrEqual(t, e.w.skip, int16(1), "after %d", i)
	}
}

// Whoever takes the processor from a look would not have kept it from a reader who is woken.
func TestNobodyWatchesWhereOthersNeedTheProcessor(t *testing.T) {
	e := exchange(t)
	e.w.call = func(uintptr, *mmsghdr) (int, syscall.Errno) {
		time.Sleep(watchLap + time.Microsecond)
		return 1, 0
	}
	for range watchDoubt / lapDoubt {
		require.Zero(t, e.w.skip)
		n, _ := e.w.look(0, nil)
		require.Equal(t, 1, n)
	}
	require.Equal(t, int16(watchSkip), e.w.skip)
}

func TestAWatchTellsOfErrors(t *testing.T) {
	e := exchange(t)
	e.w.call = func(uintptr, *mmsghdr) (int, syscall.Errno) { return 0, unix.ECONNREFUSED }
	_, err := e.p.ReadBatch(e.in)
	require.ErrorIs(t, err, unix.ECONNREFUSED)
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
