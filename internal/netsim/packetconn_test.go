package netsim

import (
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestADeadlineEndsAReadAtItsMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t, Link{})
		start := time.Now()
		require.NoError(t, b.SetReadDeadline(start.Add(time.Second)))
		_, _, err := b.ReadFrom(nil)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))

		send(t, a, b, "x")
		_, _, err = b.ReadFrom(nil)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a passed deadline goes before what waits")
		require.NoError(t, b.SetReadDeadline(time.Time{}))
		got, _ := receive(t, b)
		require.Equal(t, "x", got)
	})
}

func TestADeadlineMovesForThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, b := pair(t, Link{})
		start := time.Now()
		require.NoError(t, b.SetReadDeadline(start.Add(time.Hour)))
		done := make(chan error)
		go func() {
			_, _, err := b.ReadFrom(nil)
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, b.SetReadDeadline(start.Add(time.Minute)))
		require.ErrorIs(t, <-done, os.ErrDeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(start))
	})
}

func TestAKickUnblocksAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t, Link{})
		done := make(chan error)
		go func() {
			_, _, err := b.ReadFrom(nil)
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, b.SetDeadline(time.Unix(1, 0)))
		require.ErrorIs(t, <-done, os.ErrDeadlineExceeded)
		_, err := b.WriteTo(nil, a.LocalAddr())
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "SetDeadline is for both directions")
	})
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t, Link{Delay: time.Second})
		require.NoError(t, b.SetDeadline(time.Now().Add(time.Hour)))
		send(t, a, b, "still under way")
		done := make(chan error)
		for range 2 {
			go func() {
				_, _, err := b.ReadFrom(nil)
				done <- err
			}()
		}
		synctest.Wait()
		require.NoError(t, n.Close())
		for range 2 {
			require.ErrorIs(t, <-done, net.ErrClosed)
		}
		_, err := a.WriteTo(nil, b.LocalAddr())
		require.ErrorIs(t, err, net.ErrClosed)
		require.ErrorIs(t, a.SetDeadline(time.Time{}), net.ErrClosed)
		require.ErrorIs(t, a.Close(), net.ErrClosed)
	})
}

func TestSeveralReadersShareWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t, Link{Delay: time.Millisecond})
		got := make(chan string, 10)
		for range 5 {
			go func() {
				p := make([]byte, 10)
				n, _, _ := b.ReadFrom(p)
				got <- string(p[:n])
			}()
		}
		synctest.Wait()
		for _, s := range []string{"a", "b", "c", "d", "e"} {
			send(t, a, b, s)
		}
		seen := ""
		for range 5 {
			seen += <-got
		}
		require.Len(t, seen, 5)
	})
}

func TestTheReceiveBufferIsBounded(t *testing.T) {
	n, a, b := pair(t, Link{})
	for range 200 {
		send(t, a, b, string(make([]byte, 1464)))
	}
	require.EqualValues(t, 92, n.Count().Unread, "as many full datagrams as Linux keeps")
	require.NoError(t, b.SetReadBuffer(1<<30))
	for range 200 {
		send(t, a, b, "x")
	}
	require.EqualValues(t, 292, n.Count().Unread)
	for range 292 {
		receive(t, b)
	}
	require.EqualValues(t, 292, n.Count().Received)
	require.Zero(t, b.waiting)
}

func TestDatagramsKeepTheirBordersAndTheirBytes(t *testing.T) {
	_, a, b := pair(t, Link{})
	p := []byte("abcdef")
	_, err := a.WriteTo(p, b.LocalAddr())
	require.NoError(t, err)
	copy(p, "XXXXXX")
	send(t, a, b, "")
	send(t, a, b, "next")
	short := make([]byte, 3)
	n, _, err := b.ReadFrom(short)
	require.NoError(t, err)
	require.Equal(t, "abc", string(short[:n]), "written bytes are copied, what does not fit is lost")
	got, _ := receive(t, b)
	require.Empty(t, got, "an empty datagram is one")
	got, _ = receive(t, b)
	require.Equal(t, "next", got)
}
