package udp

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	w.v.came()
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
		w.v.came()
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
		w.v.came()
		w.v.came()
	}
	w.v.since = time.Now().Add(-time.Hour)
	w.v.came()
	w.v.since = time.Now().Add(time.Hour)
	w.v.came()
	require.False(t, w.v.on.Load())
}

func TestAReaderWhoWaitsInVainGoesBackToThePoller(t *testing.T) {
	w := keep(t)
	for range 3 {
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
