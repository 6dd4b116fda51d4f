package udp

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// kernelStub stands between a sender and the kernel. It notes how many datagrams each message
// would become, and decides on each call: an error for its first message, or how many
// messages may pass.
type kernelStub struct {
	decide func(first *sent, n int) (pass int, errno syscall.Errno)
	calls  [][]int
}

// sent is a message as it was handed to the kernel.
type sent struct {
	pieces, segment, size int
	local                 bool // from an address of the caller's choice
}

func (k *kernelStub) under(s Socket) *batch {
	b := s.(*batch)
	b.w.sys = k.call
	return b
}

func (k *kernelStub) call(trap, fd uintptr, v *vector, n int, wait bool) (int, syscall.Errno) {
	var all []int
	for i := range n {
		all = append(all, int(v.hdrs[i].Iovlen))
	}
	k.calls = append(k.calls, all)
	pass, errno := k.decide(messageAt(v, 0), n)
	if errno != 0 {
		return 0, errno
	}
	return batchCall(trap, fd, v, pass, wait)
}

func messageAt(v *vector, i int) *sent {
	h := &v.hdrs[i]
	m := &sent{pieces: int(h.Iovlen)}
	for _, iov := range unsafe.Slice(h.Iov, m.pieces) {
		m.size += int(iov.Len)
	}
	if h.Controllen == 0 {
		return m
	}
	list, err := unix.ParseSocketControlMessage(v.controlBytes(i)[:h.Controllen])
	if err != nil {
		panic(err)
	}
	for _, c := range list {
		if c.Header.Level == unix.IPPROTO_UDP && c.Header.Type == unix.UDP_SEGMENT {
			m.segment = int(binary.NativeEndian.Uint16(c.Data))
		}
		m.local = m.local || c.Header.Type == unix.IP_PKTINFO && c.Header.Level == unix.IPPROTO_IP
	}
	return m
}

func (k *kernelStub) take() (calls [][]int) {
	calls, k.calls = k.calls, nil
	return calls
}

// failSegments fails every segmented message.
func failSegments(errno syscall.Errno) func(*sent, int) (int, syscall.Errno) {
	return func(m *sent, n int) (int, syscall.Errno) {
		if m.segment > 0 {
			return 0, errno
		}
		return n, 0
	}
}

func passAll(_ *sent, n int) (int, syscall.Errno) { return n, 0 }

// row returns datagrams of the given sizes, each of a letter of its own.
func row(to Peer, sizes ...int) []Outbound {
	out := make([]Outbound, len(sizes))
	for i, n := range sizes {
		out[i] = Outbound{Data: bytes.Repeat([]byte{byte('a' + i%26)}, n), To: to}
	}
	return out
}

func times(n, size int) []int { return slices.Repeat([]int{size}, n) }

// arrives checks that the datagrams have arrived whole, in order and once.
func arrives(t *testing.T, s Socket, out ...Outbound) {
	t.Helper()
	for i, in := range read(t, s, len(out)) {
		require.Equal(t, string(out[i].Data), string(in.Bytes()), "datagram %d", i)
	}
}

// needsSegments skips a test where the kernel has none.
func needsSegments(t *testing.T, s Socket) {
	t.Helper()
	if b := s.(*batch); !b.w.segment || !b.r.joined {
		t.Skip("this kernel does neither GSO nor GRO")
	}
}

func TestWhichDatagramsLeaveTogether(t *testing.T) {
	a := Peer{AddrPort: netip.MustParseAddrPort("10.0.0.1:1")}
	b := Peer{AddrPort: netip.MustParseAddrPort("10.0.0.1:2")}
	here, there := netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")
	for what, c := range map[string]struct {
		out  []Outbound
		want int
	}{
		"one":                           {row(a, 100), 1},
		"alike":                         {row(a, 100, 100, 100), 3},
		"a shorter one ends the run":    {row(a, 100, 100, 50, 50), 3},
		"a longer one is the next":      {row(a, 100, 101, 101), 1},
		"an empty one is alone":         {row(a, 0, 0), 1},
		"an empty one is no end":        {row(a, 100, 100, 0), 2},
		"another port is another peer":  {append(row(a, 100, 100), row(b, 100)...), 2},
		"64 are as many as old kernels": {row(a, times(100, 10)...), 64},
		"and 65000 bytes":               {row(a, times(100, 1464)...), 44},
		"no receiver takes these":       {row(a, 8193, 8193), 1},
		"these it does":                 {row(a, 8192, 8192), 2},
		"and eight of the wide ones":    {row(a, times(10, 8120)...), 8},
		"from another address":          {[]Outbound{{Data: []byte("x"), To: a, Local: here}, {Data: []byte("x"), To: a, Local: there}}, 1},
		"from the same":                 {[]Outbound{{Data: []byte("x"), To: a, Local: here}, {Data: []byte("x"), To: a, Local: here}}, 2},
	} {
		require.Equal(t, c.want, together(c.out), what)
	}
}

func TestARunIsOneMessageAndArrivesAsOne(t *testing.T) {
	for _, address := range append(loopbacks(t), ":0") {
		server, client := carriers["listen"](t, address), carriers["listen"](t, address)
		needsSegments(t, client)
		k := &kernelStub{decide: passAll}
		k.under(client)
		out := row(at(server), append(times(44, 1464), 300, 700, 500, 500)...)
		out[47].Probe = true
		n, err := client.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, len(out), n)
		require.Equal(t, [][]int{{44, 1, 2}, {1}}, k.take(), "a probe goes alone")

		in := make([]Inbound, 8)
		defer Release(in)
		var got []Inbound
		for sum := 0; sum < len(out); {
			n, err := server.ReadBatch(in)
			require.NoError(t, err)
			for i := range in[:n] {
				if in[i].Segment == 1464 {
					require.Equal(t, 44*1464, in[i].N)
					require.Equal(t, 44*1464, in[i].Buf.N)
				}
				list := apart(in[i])
				got, sum = append(got, list...), sum+len(list)
			}
		}
		for i := range out {
			require.Equal(t, string(out[i].Data), string(got[i].Bytes()))
			require.Equal(t, at(client).AddrPort.Port(), got[i].From.AddrPort.Port())
		}
	}
}

func TestAFewSmallDatagramsDoNotOccupyALargeBuffer(t *testing.T) {
	server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
	needsSegments(t, client)
	out := row(at(server), 600, 600, 600, 248)
	_, err := client.WriteBatch(out)
	require.NoError(t, err)
	in := make([]Inbound, 1)
	defer Release(in)
	_, err = server.ReadBatch(in)
	require.NoError(t, err)
	require.Equal(t, 2048, in[0].N)
	require.Equal(t, 600, in[0].Segment)
	require.Len(t, in[0].Buf.B, 2048)
	require.Equal(t, strings.Repeat("d", 248), string(in[0].Bytes()[1800:]))
}

func TestACardWithoutChecksumsEndsSegmentsForGood(t *testing.T) {
	server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
	needsSegments(t, client)
	k := &kernelStub{decide: passAll}
	b := k.under(client)
	out := row(at(server), 100, 100, 100, 200, 200)
	for _, decide := range []func(*sent, int) (int, syscall.Errno){passAll, failSegments(unix.EIO), passAll} {
		k.decide = decide
		n, err := client.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, len(out), n)
		arrives(t, server, out...)
	}
	require.Equal(t, [][]int{
		{3, 2},
		{3, 2}, {1, 1, 1}, {1, 1}, // the same ones again, then the rest as from now on
		{1, 1, 1, 1, 1},
	}, k.calls)
	require.False(t, b.w.segment)
}

func TestAKernelThatDoesNotKnowSegments(t *testing.T) {
	for _, errno := range []syscall.Errno{unix.EINVAL, unix.EOPNOTSUPP, unix.ENOPROTOOPT} {
		server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
		needsSegments(t, client)
		b := (&kernelStub{decide: failSegments(errno)}).under(client)
		out := row(at(server), 100, 100, 100)
		n, err := client.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		arrives(t, server, out...)
		require.False(t, b.w.segment, "%v", errno)
	}
}

func TestOnePathThatRefusesSegmentsDoesNotEndThemForAll(t *testing.T) {
	server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
	needsSegments(t, client)
	k := &kernelStub{}
	b := k.under(client)
	out := row(at(server), 100, 100, 100)
	for i := range 5 * segmentPatience {
		k.decide = failSegments(unix.EINVAL)
		if i%segmentPatience == 0 {
			k.decide = passAll
		}
		n, err := client.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		arrives(t, server, out...)
		require.True(t, b.w.segment)
	}
	k.decide = failSegments(unix.EINVAL)
	_, err := client.WriteBatch(out)
	require.NoError(t, err)
	require.False(t, b.w.segment, "%d in a row", segmentPatience)
	arrives(t, server, out...)
}

func TestSegmentsTooLargeForThePathAreFragmentedOneByOne(t *testing.T) {
	server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
	needsSegments(t, client)
	k := &kernelStub{decide: failSegments(unix.EMSGSIZE)}
	b := k.under(client)
	out := row(at(server), 100, 100, 100)
	for range 2 * segmentPatience {
		n, err := client.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		arrives(t, server, out...)
	}
	require.True(t, b.w.segment)
}

func TestOneDatagramThatIsTooLargeInARow(t *testing.T) {
	server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
	needsSegments(t, client)
	// A path that takes 1200 bytes: segmented, and fragmenting forbidden.
	k := &kernelStub{decide: func(m *sent, n int) (int, syscall.Errno) {
		if m.segment > 1200 || m.pieces == 1 && m.size > 1200 {
			return 0, unix.EMSGSIZE
		}
		return min(n, 1), 0 // or the messages behind would pass unseen
	}}
	k.under(client)
	out := row(at(server), 1000, 1000, 1300, 1300, 1200, 1000)
	var refused []int
	for done := 0; done < len(out); {
		n, err := client.WriteBatch(out[done:])
		done += n
		if err != nil {
			require.True(t, IsTooLarge(err))
			refused = append(refused, done)
			done++
		}
	}
	require.Equal(t, []int{2, 3}, refused)
	arrives(t, server, out[0], out[1], out[4], out[5])
}

func TestAKernelThatTakesAFewMessagesAtATime(t *testing.T) {
	for few := 1; few <= 3; few++ {
		server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
		(&kernelStub{decide: func(_ *sent, n int) (int, syscall.Errno) { return min(n, few), 0 }}).under(client)
		out := row(at(server), append(times(70, 10), 5, 6, 7, 8, 9, 9, 9, 1, 2)...)
		n, err := client.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, len(out), n)
		arrives(t, server, out...)
	}
}

func TestAnErrorBehindARunIsAboutItsOwnDatagram(t *testing.T) {
	server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
	(&kernelStub{decide: func(m *sent, n int) (int, syscall.Errno) {
		if m.size == 77 {
			return 0, unix.ENOBUFS
		}
		return 1, 0
	}}).under(client)
	out := row(at(server), 100, 100, 100, 77, 100, 100)
	out[3].Probe = true // alone
	n, err := client.WriteBatch(out)
	require.ErrorIs(t, err, unix.ENOBUFS)
	require.True(t, IsTransient(err))
	require.Equal(t, 3, n)
	n, err = client.WriteBatch(out[4:])
	require.NoError(t, err)
	require.Equal(t, 2, n)
	arrives(t, server, append(out[:3:3], out[4:]...)...)
}

func TestAKernelThatTakesNothingAndSaysNothing(t *testing.T) {
	client := carriers["listen"](t, "127.0.0.1:0").(*batch)
	client.w.sys = func(_, _ uintptr, _ *vector, _ int, _ bool) (int, syscall.Errno) { return 0, 0 }
	n, err := client.WriteBatch(row(at(client), 1, 1))
	require.ErrorIs(t, err, errNothingSent, "or it would be asked for ever")
	require.Zero(t, n)
}

func TestAnAddressThatHasGoneDoesNotEndSegments(t *testing.T) {
	server, client := carriers["listen"](t, "0.0.0.0:0"), carriers["listen"](t, "127.0.0.1:0")
	needsSegments(t, server)
	(&kernelStub{decide: func(m *sent, n int) (int, syscall.Errno) {
		if m.local {
			return 0, unix.EINVAL // some kernels say that of it
		}
		return n, 0
	}}).under(server)
	out := row(at(client), 100, 100, 100)
	for i := range out {
		out[i].Local = netip.MustParseAddr("192.0.2.77")
	}
	for range 2 * segmentPatience {
		n, err := server.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		arrives(t, client, out...)
	}
	require.True(t, server.(*batch).w.segment)
}

func TestASocketIsLeftAsItWasByTheProbe(t *testing.T) {
	s := carriers["listen"](t, "127.0.0.1:0").(*batch)
	require.NoError(t, s.rc.Control(func(fd uintptr) {
		v, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_SEGMENT)
		require.NoError(t, err)
		require.Zero(t, v, "or every send would be cut")
	}))
}
