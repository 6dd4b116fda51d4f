package relay

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/ipv4"

	"github.com/raknet-go/raknet/internal/netsim"
)

// echo answers every datagram with the same, until the test ends.
func echo(t *testing.T) *net.UDPConn {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			if _, err := c.WriteTo(b[:n], from); err != nil {
				return
			}
		}
	}()
	return c
}

func dial(t *testing.T, r *Relay) *net.UDPConn {
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(r.Addr()))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetReadDeadline(time.Now().Add(30*time.Second)))
	return c
}

// The loop runs until the process of the tests ends: a relay has no other end.
func serve(t *testing.T, w Way) *Relay {
	r, err := New(Config{Target: echo(t).LocalAddr().String(), Up: w, Down: w, Own: true})
	require.NoError(t, err)
	go func() { _ = r.Serve() }()
	return r
}

func TestWhatNoEthernetTakesVanishes(t *testing.T) {
	c := dial(t, serve(t, Way{}))
	for _, size := range []int{ethernet - headers + 1, 8000, ethernet - headers} {
		_, err := c.Write(datagram(0, size))
		require.NoError(t, err)
	}
	got := make([]byte, 9000)
	n, err := c.Read(got)
	require.NoError(t, err)
	require.Equal(t, ethernet-headers, n)
}

func TestClientsGetTheirOwnAnswersNoSoonerThanTheRoundTrip(t *testing.T) {
	r := serve(t, Way{Link: netsim.Link{Delay: 20 * time.Millisecond}})
	a, b := dial(t, r), dial(t, r)
	sent := time.Now()
	for i, c := range []*net.UDPConn{a, b} {
		_, err := c.Write(datagram(i, 100))
		require.NoError(t, err)
	}
	for i, c := range []*net.UDPConn{a, b} {
		got := make([]byte, 2000)
		n, err := c.Read(got)
		require.NoError(t, err)
		require.Equal(t, string(datagram(i, 100)), string(got[:n]))
		require.GreaterOrEqual(t, time.Since(sent), 40*time.Millisecond)
	}
	rep := r.Report()
	require.EqualValues(t, 2, rep.Clients)
	require.EqualValues(t, 2, rep.Up.Delivered)
	require.EqualValues(t, 2, rep.Down.Delivered)
	require.EqualValues(t, 4, rep.Written)
	require.Zero(t, rep.Failed)
}

// What a system call of the sender made of one piece is one datagram after the other for
// the receiver, the short one at the end included.
func TestPiecesAreTakenApart(t *testing.T) {
	r := serve(t, Way{Link: netsim.Link{Delay: time.Millisecond}})
	c := dial(t, r)
	var piece []byte
	for i := range 10 {
		piece = append(piece, datagram(i, 1000)...)
	}
	piece = append(piece, datagram(10, 8)...)
	n, err := ipv4.NewPacketConn(c).WriteBatch([]ipv4.Message{{Buffers: [][]byte{piece}, OOB: Segment(1000)}}, 0)
	if err != nil || n != 1 {
		t.Skipf("this system does not make pieces: %v", err)
	}
	for i := range 11 {
		got := make([]byte, 2000)
		n, err := c.Read(got)
		require.NoError(t, err)
		size := 1000
		if i == 10 {
			size = 8
		}
		require.Equal(t, string(datagram(i, size)), string(got[:n]))
	}
	require.EqualValues(t, 11, r.Report().Up.Sent)
}

func TestNothingPassesInTheDark(t *testing.T) {
	r := serve(t, Way{})
	c := dial(t, r)
	r.Darken(time.Hour)
	_, err := c.Write(datagram(1, 100))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return r.Report().Up.Lost == 1 }, 10*time.Second, time.Millisecond)
	r.Darken(0)
	_, err = c.Write(datagram(2, 100))
	require.NoError(t, err)
	got := make([]byte, 2000)
	n, err := c.Read(got)
	require.NoError(t, err)
	require.Equal(t, string(datagram(2, 100)), string(got[:n]))
}
