package udp

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// watched is a reader of whose socket a vigil begins whenever the test wants.
type watched struct {
	t   *testing.T
	p   Poller
	v   *vigil
	say func(text string)
	in  []Inbound
}

// keep opens one, for processors of which half are one.
func keep(t *testing.T) *watched {
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	require.Zero(t, vigils.Load(), "nobody else keeps one")
	t.Cleanup(func() { require.Zero(t, vigils.Load(), "the place is free again") })
	p, say := asked(t)
	w := &watched{t, p, &p.(*batch).r.vigil, say, make([]Inbound, 4)}
	t.Cleanup(func() { Release(w.in) })
	return w
}

// begin pretends that the waits before were short.
func (w *watched) begin() {
	w.v.quick, w.v.since = vigilAfter, time.Now().Add(time.Hour)
	w.v.came(1)
}

func (w *watched) read() string {
	w.t.Helper()
	n, err := w.p.ReadBatch(w.in)
	require.NoError(w.t, err)
	require.Equal(w.t, 1, n)
	return string(w.in[0].Bytes())
}

// fails starts a read and tells how it fails.
func (w *watched) fails() <-chan error {
	ended := make(chan error)
	go func() {
		_, err := w.p.ReadBatch(make([]Inbound, 1))
		ended <- err
	}()
	return ended
}

func TestAVigilBeginsAfterShortWaits(t *testing.T) {
	w := keep(t)
	for i := range vigilAfter {
		require.False(t, w.v.on.Load(), "after %d", i)
		w.v.since = time.Now().Add(time.Hour) // of a wait that took no time
		w.v.came(1)
	}
	require.True(t, w.v.on.Load())
	t.Log("# in which everything comes that came before")
	w.say("a")
	require.Equal(t, "a", w.read())
	require.True(t, w.v.on.Load())
	w.v.end()
	t.Log("# a long wait between makes the count begin anew, and what came without a wait says nothing")
	for range vigilAfter - 1 {
		w.v.since = time.Now().Add(time.Hour)
		w.v.came(1)
		w.v.came(1)
	}
	w.v.since = time.Now().Add(-time.Hour)
	w.v.came(1)
	w.v.since = time.Now().Add(time.Hour)
	w.v.came(1)
	require.False(t, w.v.on.Load())
}

func TestAReaderWhoWaitsInVainGoesBackToThePoller(t *testing.T) {
	w := keep(t)
	for _, patient := range []bool{true, false, true} { // one that may wait in the call that receives, and one that may not
		w.v.q.patient = patient
		w.begin()
		require.True(t, w.v.on.Load())
		got := make(chan string)
		go func() { got <- w.read() }()
		for w.v.on.Load() { // nothing comes: it ends by itself
			runtime.Gosched()
		}
		w.say("late")
		require.Equal(t, "late", <-got)
	}
}

func TestAReaderWhoWaitedLongGoesBackToThePoller(t *testing.T) {
	w := keep(t)
	w.begin()
	w.v.since = time.Now().Add(time.Hour)
	w.v.came(1)
	require.True(t, w.v.on.Load(), "after a wait that took no time")
	w.v.since = time.Now().Add(-vigilTime)
	w.v.came(1)
	require.False(t, w.v.on.Load())
	w.say("a")
	require.Equal(t, "a", w.read())
}

// The socket is one whose calls wait, for the vigil's sake. Nobody else's do.
func TestOnlyVigilsWaitInTheSystem(t *testing.T) {
	w := keep(t)
	q := w.v.q
	require.True(t, q.patient)
	flags, err := unix.FcntlInt(uintptr(q.fd), unix.F_GETFL, 0)
	require.NoError(t, err)
	require.Zero(t, flags&unix.O_NONBLOCK)
	tick, err := unix.GetsockoptTimeval(q.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO)
	require.NoError(t, err)
	require.Positive(t, tick.Nano(), "without a time it would wait for ever")
	var calls []bool
	r := &w.p.(*batch).r
	r.sys = func(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno) {
		calls = append(calls, wait)
		return batchCall(trap, fd, v, n, wait)
	}
	t.Log("# not who looks")
	for range 3 {
		n, err := w.p.Poll(w.in)
		require.NoError(t, err)
		require.Zero(t, n)
	}
	require.Equal(t, []bool{false, false, false}, calls)
	t.Log("# nor who asks and then waits in the poller")
	calls = nil
	w.say("a")
	require.Equal(t, "a", w.read())
	require.NotContains(t, calls, true)
	t.Log("# but who keeps one")
	calls = nil
	w.begin()
	w.say("b")
	require.Equal(t, "b", w.read())
	require.Equal(t, []bool{true}, calls)
	w.v.end()
}

// A system that knows no calls that wait is not asked again.
func TestASystemThatCannotWaitIsNotAskedTo(t *testing.T) {
	for _, why := range []syscall.Errno{unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSYS, unix.EPERM} {
		w := keep(t)
		asked := 0
		w.p.(*batch).r.sys = func(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno) {
			if wait {
				asked++
				return 0, why
			}
			return batchCall(trap, fd, v, n, wait)
		}
		w.begin()
		w.say("a")
		require.Equal(t, "a", w.read())
		require.False(t, w.v.on.Load())
		w.begin()
		w.say("b")
		require.Equal(t, "b", w.read())
		require.Equal(t, 1, asked)
		w.v.end()
	}
}

// A signal ends a wait, or they could keep an interrupt from being seen.
func TestASignalEndsAWait(t *testing.T) {
	w := keep(t)
	signals := 0
	w.p.(*batch).r.sys = func(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno) {
		if wait {
			signals++
			return 0, unix.EINTR
		}
		return batchCall(trap, fd, v, n, wait)
	}
	w.begin()
	ended := w.fails()
	require.NoError(t, w.p.SetReadDeadline(time.Unix(1, 0)))
	require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
	require.LessOrEqual(t, signals, 1)
}

// Where one message comes at a time and is waited for, there is room for one; where more have come already, for more.
func TestAReaderOfLoneMessagesMakesRoomForOne(t *testing.T) {
	w := keep(t)
	r := &w.p.(*batch).r
	var rooms []int
	r.sys = func(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno) {
		rooms = append(rooms, n)
		return batchCall(trap, fd, v, n, wait)
	}
	w.begin()
	w.v.lone = true // as after a read that waited for one
	for _, text := range []string{"a", "b", "c"} {
		w.say(text)
	}
	require.Equal(t, "a", w.read())
	w.v.lone = false // it did not have to wait
	n, err := w.p.ReadBatch(w.in)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []int{1, placesMin}, rooms)
	for _, story := range []struct {
		messages int
		took     time.Duration
		lone     bool
	}{{1, vigilTime, true}, {1, vigilWait, false}, {2, vigilTime, false}, {1, vigilTime, true}} {
		w.v.judge(story.messages, story.took)
		require.Equal(t, story.lone, w.v.lone, "%+v", story)
	}
	w.v.end()
}

func TestWhatComesDuringAVigilEndsTheWait(t *testing.T) {
	w := keep(t)
	for range 100 {
		w.begin()
		got := make(chan string)
		go func() { got <- w.read() }()
		w.say("a")
		require.Equal(t, "a", <-got)
		w.v.end()
	}
}

// A glance is a wait with an end, and not the end of the vigil. Without one it does not wait at all.
func TestAGlanceIsAShortWait(t *testing.T) {
	w := keep(t)
	for _, on := range []bool{false, true} {
		if on {
			w.begin()
		}
		require.Equal(t, on, w.p.Wakeful())
		n, err := w.p.Glance(w.in, time.Millisecond)
		require.NoError(t, err)
		require.Zero(t, n)
		require.Equal(t, on, w.p.Wakeful())
		w.say("a")
		n, err = w.p.Glance(w.in, time.Minute)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, "a", string(w.in[0].Bytes()))
	}
	t.Log("# it waits as well when the read before happened to take all there was")
	w.p.(*batch).r.filled = true
	began := time.Now()
	n, err := w.p.Glance(w.in, time.Millisecond)
	require.NoError(t, err)
	require.Zero(t, n)
	require.GreaterOrEqual(t, time.Since(began), time.Millisecond)
	require.NoError(t, w.p.SetReadDeadline(time.Unix(1, 0)))
	_, err = w.p.Glance(w.in, time.Minute)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, w.p.Close())
	_, err = w.p.Glance(w.in, time.Minute)
	require.True(t, IsClosed(err), "%v", err)
}

func TestOnlyHalfOfTheProcessorsKeepVigils(t *testing.T) {
	w := keep(t)
	other, _ := asked(t)
	w.begin()
	require.True(t, w.v.on.Load())
	o := &watched{t, other, &other.(*batch).r.vigil, nil, nil}
	o.begin()
	require.False(t, o.v.on.Load())
	w.v.end()
	o.begin()
	require.True(t, o.v.on.Load())
	o.v.end()
	runtime.GOMAXPROCS(1)
	w.begin()
	require.False(t, w.v.on.Load(), "the only processor is for those who have work")
}

func TestAVigilEndsWithItsSocket(t *testing.T) {
	w := keep(t)
	w.begin()
	ended := w.fails()
	require.NoError(t, w.p.Close())
	require.True(t, IsClosed(<-ended))
	require.Zero(t, vigils.Load())
}

func TestADeadlineInterruptsAVigil(t *testing.T) {
	w := keep(t)
	w.begin()
	ended := w.fails()
	require.NoError(t, w.p.SetReadDeadline(time.Unix(1, 0)))
	require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
}

func TestAReaderOfManyPiecesNaps(t *testing.T) {
	w := keep(t)
	w.begin()
	for range heavyAfter {
		require.False(t, w.v.naps())
		w.v.weigh(heavyBytes, false)
	}
	begin := time.Now()
	require.True(t, w.v.naps())
	require.GreaterOrEqual(t, time.Since(begin), heavyNap)
	t.Log("# what came meanwhile is read, and what comes later is waited for")
	w.say("a")
	require.Equal(t, "a", w.read())
	t.Log("# a small read ends it")
	require.False(t, w.v.naps())
	for range heavyAfter {
		w.v.weigh(heavyBytes, false)
	}
	w.say("b")
	require.Equal(t, "b", w.read())
	t.Log("# and so do pieces that the kernel joined")
	for range heavyAfter {
		w.v.weigh(heavyBytes, false)
	}
	w.v.weigh(heavyBytes, true)
	require.False(t, w.v.naps())
}

// Who naps keeps no vigil, and its end leaves the silence to the nap.
func TestSilenceEndsAVigil(t *testing.T) {
	w := keep(t)
	w.begin()
	w.p.Silence(true)
	require.False(t, w.v.on.Load())
	w.say("a")
	w.p.Silence(false)
	require.Equal(t, "a", w.read())
}

// A dialed socket is out of the poller's hands as well, and still tells what the system does.
func TestADialedSocketIsQuiet(t *testing.T) {
	nobody := opened(t, Wrap(listenUDP(t), Options{}), nil)
	to := at(nobody).AddrPort
	require.NoError(t, nobody.Close())
	s, err := Dial(to, Options{Path: Batch})
	s = opened(t, s, err)
	require.NotNil(t, s.(*batch).q)
	peer, ok := s.RemotePeer()
	require.True(t, ok)
	require.Equal(t, to, peer.AddrPort)
	_, err = s.WriteBatch([]Outbound{{Data: []byte("x")}})
	require.NoError(t, err)
	_, err = s.ReadBatch(make([]Inbound, 1))
	require.True(t, IsTransient(err), "nobody listens there: %v", err)
	t.Log("# also when the file that waits is asked to stop")
	require.NoError(t, s.SetReadDeadline(time.Unix(1, 0)))
	_, err = s.ReadBatch(make([]Inbound, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestOnlySoManyDialedSocketsAreQuiet(t *testing.T) {
	server := opened(t, Wrap(listenUDP(t), Options{}), nil)
	before := quietDialed.Swap(maxQuietDialed - 1)
	defer quietDialed.Store(before)
	for range 2 {
		last, err := Dial(at(server).AddrPort, Options{Path: Batch})
		require.NoError(t, err)
		more, err := Dial(at(server).AddrPort, Options{Path: Batch})
		require.NoError(t, err)
		require.NotNil(t, last.(*batch).q)
		require.Nil(t, more.(*batch).q)
		require.NoError(t, more.Close())
		require.NoError(t, last.Close())
		require.EqualValues(t, maxQuietDialed-1, quietDialed.Load())
	}
}
