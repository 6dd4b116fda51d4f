package netsim

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pair returns a network with two hosts, closed at the end of the test.
func pair(t *testing.T, l Link) (n *Network, a, b *PacketConn) {
	t.Helper()
	n = New(1)
	n.SetDefault(l)
	t.Cleanup(func() { n.Close() })
	return n, listen(t, n, ""), listen(t, n, "")
}

func listen(t *testing.T, n *Network, address string) *PacketConn {
	t.Helper()
	addr, _ := netip.ParseAddrPort(address)
	c, err := n.Listen(addr)
	require.NoError(t, err)
	return c
}

func send(t *testing.T, from, to *PacketConn, data string) {
	t.Helper()
	_, err := from.WriteTo([]byte(data), to.LocalAddr())
	require.NoError(t, err)
}

func receive(t *testing.T, c net.PacketConn) (string, net.Addr) {
	t.Helper()
	b := make([]byte, 2048)
	n, from, err := c.ReadFrom(b)
	require.NoError(t, err)
	return string(b[:n]), from
}

func TestADatagramTakesExactlyItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t, Link{Delay: 25 * time.Millisecond})
		start := time.Now()
		send(t, a, b, "ping")
		got, from := receive(t, b)
		require.Equal(t, "ping", got)
		require.Equal(t, a.LocalAddr(), from)
		require.Equal(t, 25*time.Millisecond, time.Since(start))
		_, err := b.WriteTo([]byte("pong"), from)
		require.NoError(t, err)
		receive(t, a)
		require.Equal(t, 50*time.Millisecond, time.Since(start))
	})
}

func TestEachDirectionHasItsOwnLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t, Link{Delay: time.Second})
		n.SetLink(a.AddrPort(), netip.AddrPort{}, Link{Delay: 2 * time.Second})
		n.SetLink(netip.AddrPort{}, b.AddrPort(), Link{Delay: 3 * time.Second})
		took := func(from, to *PacketConn) time.Duration {
			start := time.Now()
			send(t, from, to, "x")
			receive(t, to)
			return time.Since(start).Round(time.Second)
		}
		require.Equal(t, 2*time.Second, took(a, b), "from a goes before to b")
		require.Equal(t, time.Second, took(b, a), "nothing said: the default")
		n.SetLink(a.AddrPort(), b.AddrPort(), Link{Delay: 4 * time.Second})
		require.Equal(t, 4*time.Second, took(a, b), "both ends said")
	})
}

func TestSoonerArrivalsOvertakeTheTimerOfLaterOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t, Link{Delay: time.Second})
		send(t, a, b, "late")
		n.SetDefault(Link{}) // what is under way stays; the next one waits for it, as last says
		c := listen(t, n, "")
		start := time.Now()
		send(t, c, b, "soon")
		got, _ := receive(t, b)
		require.Equal(t, "soon", got)
		require.Zero(t, time.Since(start))
		got, _ = receive(t, b)
		require.Equal(t, "late", got)
	})
}

func TestTheFilterDropsWhatItWasScriptedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t, Link{})
		count := 0
		n.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
			require.Equal(t, a.AddrPort(), from)
			require.Equal(t, b.AddrPort(), to)
			count++
			return count == 2
		})
		for i := range 3 {
			send(t, a, b, fmt.Sprint(i))
		}
		first, _ := receive(t, b)
		second, _ := receive(t, b)
		require.Equal(t, "0 2", first+" "+second)
		require.EqualValues(t, 1, n.Count().Filtered)
	})
}

func TestEveryDatagramIsAccountedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t, Link{Delay: 10 * time.Millisecond, Jitter: time.Millisecond, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1,
			Bandwidth: 1 << 20, Queue: 4 << 10, MTU: 1000})
		for i := range 1000 {
			_, err := a.WriteTo(make([]byte, i+1), b.LocalAddr())
			require.NoError(t, err)
			if i%3 == 0 {
				time.Sleep(time.Millisecond) // the bubble's time: moves the clock
			}
		}
		_, err := a.WriteTo([]byte("x"), &net.UDPAddr{IP: net.IPv4(1, 2, 3, 4), Port: 5})
		require.NoError(t, err)
		time.Sleep(time.Second)
		for range 10 {
			receive(t, b)
		}
		c := n.Count()
		require.Equal(t, c.Sent+c.Duplicated, c.Received+c.Lost+c.TooLarge+c.QueueFull+c.Filtered+c.NoSocket+c.BufferFull+c.Unread, "%+v", c)
		require.EqualValues(t, 1001, c.Sent)
		for name, v := range map[string]uint64{"lost": c.Lost, "too large": c.TooLarge, "queue full": c.QueueFull, "no socket": c.NoSocket,
			"buffer full": c.BufferFull, "unread": c.Unread, "duplicated": c.Duplicated, "reordered": c.Reordered} {
			require.NotZero(t, v, name)
		}
		require.NoError(t, b.Close())
		require.Equal(t, c, n.Count(), "closing loses no count")
	})
}

func TestTheNetworkRepeatsItself(t *testing.T) {
	run := func(t *testing.T) (log string) {
		synctest.Test(t, func(t *testing.T) {
			_, a, b := pair(t, Link{Delay: 10 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.2, Duplicate: 0.2, Reorder: 0.2})
			start := time.Now()
			for i := range 100 {
				send(t, a, b, fmt.Sprint(i))
			}
			require.NoError(t, b.SetReadDeadline(start.Add(time.Second)))
			for p := make([]byte, 10); ; {
				n, _, err := b.ReadFrom(p)
				if err != nil {
					return
				}
				log += fmt.Sprintf("%s at %v\n", p[:n], time.Since(start))
			}
		})
		return log
	}
	require.Equal(t, run(t), run(t))
}

func TestAddressesAreGivenOutAndGivenBack(t *testing.T) {
	n := New(1)
	defer n.Close()
	first, second := listen(t, n, "0.0.0.0:0"), listen(t, n, "[::]:19132")
	require.Equal(t, "10.0.0.1:49152", first.LocalAddr().String())
	require.Equal(t, "[fd00::2]:19132", second.LocalAddr().String())
	_, err := n.Listen(first.AddrPort())
	require.ErrorIs(t, err, errInUse)
	require.NoError(t, first.Close())
	_, err = n.Listen(first.AddrPort())
	require.NoError(t, err)

	pc, err := n.ListenPacket("udp", ":19132")
	require.NoError(t, err)
	require.Equal(t, "10.0.0.3:19132", pc.LocalAddr().String())
	require.NoError(t, n.Close())
	_, err = n.ListenPacket("udp", ":1")
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestAForeignKindOfAddress(t *testing.T) {
	n := New(1)
	defer n.Close()
	server, err := n.ListenName("the server")
	require.NoError(t, err)
	_, err = n.ListenName("the server")
	require.ErrorIs(t, err, errInUse)
	client, err := n.ListenPacket("", "some client")
	require.NoError(t, err)
	_, err = client.WriteTo([]byte("hi"), Name("the server"))
	require.NoError(t, err)
	_, from := receive(t, server)
	require.Equal(t, Name("some client"), from)
	_, err = client.WriteTo([]byte("hi"), Name("nobody"))
	require.ErrorIs(t, err, errNoHost)
	_, err = client.WriteTo([]byte("hi"), &net.TCPAddr{})
	require.ErrorIs(t, err, errNotAddr)
}
