package udp

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// asked opens a Poller and somebody who writes to it.
func asked(t *testing.T) (Poller, func(text string)) {
	s, err := Listen("127.0.0.1:0", Options{Path: Offload})
	p := opened(t, s, err).(Poller)
	require.NotNil(t, p.(*batch).q, "the socket is out of the poller's hands")
	client := opened(t, Wrap(listenUDP(t), Options{}), nil)
	return p, func(text string) { write(t, client, at(p), text) }
}

func listenUDP(t *testing.T) net.PacketConn {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	return c
}

func TestPollDoesNotWait(t *testing.T) {
	p, say := asked(t)
	in := make([]Inbound, 4)
	defer Release(in)
	n, err := p.Poll(in)
	require.NoError(t, err)
	require.Zero(t, n)
	require.False(t, p.More())
	say("a")
	say("b")
	say("c")
	var got string
	for n != 0 || got == "" {
		n, err = p.Poll(in) // over loopback what was sent is here
		require.NoError(t, err)
		for i := range in[:n] {
			got += string(in[i].Bytes())
		}
		require.Equal(t, n == placesMin, p.More(), "%d read", n)
	}
	require.Equal(t, "abc", got)
	require.NoError(t, p.SetReadDeadline(time.Unix(1, 0)))
	_, err = p.Poll(in)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, p.Close())
	_, err = p.Poll(in)
	require.True(t, IsClosed(err), "%v", err)
}

func TestWhatComesInTheSilenceIsToldAfterIt(t *testing.T) {
	p, say := asked(t)
	in := make([]Inbound, 4)
	defer Release(in)
	for range 3 {
		p.Silence(true)
		say("a")
		p.Silence(false)
		n, err := p.ReadBatch(in)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		// And again while somebody waits.
		p.Silence(true)
		read := make(chan int)
		go func() {
			n, _ := p.ReadBatch(in)
			read <- n
		}()
		say("b")
		p.Silence(false)
		require.Equal(t, 1, <-read)
	}
}

func TestAQuietSocketIsClosedForEverybody(t *testing.T) {
	p, _ := asked(t)
	q := p.(*batch).q
	ended := make(chan error)
	go func() {
		_, err := p.ReadBatch(make([]Inbound, 1))
		ended <- err
	}()
	require.NoError(t, p.Close())
	require.True(t, IsClosed(<-ended))
	require.True(t, IsClosed(p.Close()))
	require.True(t, IsClosed(p.SetReadDeadline(time.Time{})))
	_, err := p.WriteBatch([]Outbound{{Data: []byte("x"), To: at(p)}})
	require.True(t, IsClosed(err), "%v", err)
	require.True(t, IsClosed(q.Control(func(uintptr) { t.Error("the descriptor may be somebody else's") })))
	p.Silence(true)
}

// A write that finds no room tries again, and ends when the socket is closed.
func TestAQuietWriteWaitsForRoom(t *testing.T) {
	p, _ := asked(t)
	q := p.(*batch).q
	tries := 0
	require.NoError(t, q.Write(func(uintptr) bool { tries++; return tries == 3 }))
	require.Equal(t, 3, tries)
	ended := make(chan error)
	begun := make(chan struct{}, 1)
	go func() {
		ended <- q.Write(func(uintptr) bool {
			select {
			case begun <- struct{}{}:
			default:
			}
			return false
		})
	}()
	<-begun
	require.NoError(t, p.Close())
	require.True(t, IsClosed(<-ended))
}

// Where descriptors run out in the middle a socket stays as it is, and works.
func TestASocketThatCannotBeQuietWorksAllTheSame(t *testing.T) {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	client := opened(t, Wrap(listenUDP(t), Options{}), nil)
	for spare := range 3 {
		s := opened(t, Wrap(listenUDP(t), Options{Path: Offload}), nil)
		next, err := unix.Dup(0) // the lowest that is free
		require.NoError(t, err)
		require.NoError(t, unix.Close(next))
		low := limit
		low.Cur = uint64(next + spare)
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
		calm(s)
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
		if spare == 2 { // with less it may be quiet as well, if a descriptor became free meanwhile
			require.NotNil(t, s.(*batch).q)
		}
		write(t, client, at(s), "a")
		in := make([]Inbound, 1)
		n, err := s.ReadBatch(in)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		Release(in)
	}
}
