package udp

import (
	"encoding/binary"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestABusySocketReadsMoreAndMoreAtOnce(t *testing.T) {
	for _, path := range []Path{Offload, Batch} {
		server, client := listener(Options{Path: path})(t, "127.0.0.1:0"), carriers["single"](t, "127.0.0.1:0")
		require.IsType(t, &batch{}, server)
		if path == Offload {
			needsSegments(t, server)
		}
		write(t, client, at(server), make([]string, 256)...)
		in := make([]Inbound, 100)
		defer Release(in)
		want := placesMin
		for left := 256; left > 0; want = min(2*want, maxBatch) {
			n, err := server.ReadBatch(in)
			require.NoError(t, err)
			require.Equal(t, min(want, left), n)
			left -= n
		}
		require.NoError(t, server.SetReadDeadline(time.Unix(1, 0)))
		_, err := server.ReadBatch(in)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		for _, i := range in {
			require.Nil(t, i.Buf)
			require.Nil(t, i.small)
			require.Nil(t, i.big, "an idle socket holds nothing")
		}
	}
}

// Runs of datagrams need large buffers, of which few do for one call.
func TestASocketThatReceivesRunsReadsFewOfThem(t *testing.T) {
	server, client := listener(Options{Path: Offload})(t, "127.0.0.1:0"), listener(Options{Path: Offload})(t, "127.0.0.1:0")
	needsSegments(t, server)
	write(t, client, at(server), make([]string, 64)...)
	in := make([]Inbound, 100)
	defer Release(in)
	for left := 64; left > 0; {
		n, err := server.ReadBatch(in)
		require.NoError(t, err)
		left -= n
	}
	require.Greater(t, server.(*batch).r.places, placesJoined)
	run := make([]string, 40)
	for i := range run {
		run[i] = strings.Repeat("x", 1000)
	}
	write(t, client, at(server), run...)
	_, err := server.ReadBatch(in)
	require.NoError(t, err)
	require.NotZero(t, in[0].Segment)
	require.Equal(t, placesJoined, server.(*batch).r.places)

	// Short runs, such as messages of 10 KB are sent in, do not fill the buffers.
	for range 4 {
		for range 64 {
			write(t, client, at(server), run[:8]...)
		}
		for left := 64; left > 0; {
			n, err := server.ReadBatch(in)
			require.NoError(t, err)
			require.LessOrEqual(t, n, placesMost)
			left -= n
		}
	}
	require.Equal(t, placesMost, server.(*batch).r.places)
}

func TestRepliesLeaveFromTheAddressThatWasHit(t *testing.T) {
	for _, bound := range []string{"0.0.0.0:0", ":0"} {
		t.Run(bound, func(t *testing.T) {
			server := carriers["listen"](t, bound)
			for hit, source := range map[string]string{
				"127.0.0.1":       "127.0.0.1",
				"127.9.9.9":       "127.9.9.9",
				"127.255.255.255": "127.0.0.1", // a broadcast: answered from the interface's own address
			} {
				client := carriers["listen"](t, "127.0.0.1:0")
				write(t, client, Peer{AddrPort: netip.AddrPortFrom(netip.MustParseAddr(hit), at(server).AddrPort.Port())}, "hello")
				in := read(t, server, 1)[0]
				require.Equal(t, source, in.Local.String(), hit)
				_, err := server.WriteBatch([]Outbound{{Data: []byte("welcome"), To: in.From, Local: in.Local}})
				require.NoError(t, err)
				require.Equal(t, source, read(t, client, 1)[0].From.AddrPort.Addr().String(), hit)
			}
		})
	}
}

func TestAnAddressThatHasGoneIsLeftToTheSystem(t *testing.T) {
	server, client := carriers["listen"](t, "0.0.0.0:0"), carriers["listen"](t, "127.0.0.1:0")
	for _, gone := range []string{"192.0.2.77", "2001:db8::77"} {
		_, err := server.WriteBatch([]Outbound{{Data: []byte("x"), To: at(client), Local: netip.MustParseAddr(gone)}})
		require.NoError(t, err)
		require.Equal(t, "127.0.0.1", read(t, client, 1)[0].From.AddrPort.Addr().String())
	}
}

func TestOnlyProbesForbidFragmentation(t *testing.T) {
	for _, address := range append(loopbacks(t), ":0") {
		s := carriers["listen"](t, address).(*batch)
		modes := func() (modes []int) {
			require.NoError(t, s.rc.Control(func(fd uintptr) {
				for _, o := range dfOptions {
					v, err := o.get(fd)
					if err != nil {
						v = -1
					}
					modes = append(modes, v)
				}
			}))
			return modes
		}
		before := modes()
		// The datagram fits no packet: nothing leaves, but the options are set.
		n, err := s.WriteBatch([]Outbound{{Data: make([]byte, 70000), To: at(s), Probe: true}})
		if address == "[::1]:0" {
			require.Equal(t, unix.IPV6_PMTUDISC_PROBE, modes()[1])
		} else {
			require.Equal(t, unix.IP_PMTUDISC_PROBE, modes()[0])
		}
		require.Zero(t, n)
		require.True(t, IsTooLarge(err), "%v", err)
		write(t, s, at(s), "an ordinary datagram")
		require.Equal(t, before, modes(), address)
	}
}

func TestWhatComesFromPortZeroIsDropped(t *testing.T) {
	raw, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		t.Skip("only root may forge a datagram:", err)
	}
	defer unix.Close(raw)
	server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
	forged := make([]byte, 8, 9) // source port 0, no checksum
	binary.BigEndian.PutUint16(forged[2:], at(server).AddrPort.Port())
	forged = append(forged, 'x')
	binary.BigEndian.PutUint16(forged[4:], uint16(len(forged)))
	write(t, client, at(server), "a")
	require.NoError(t, unix.Sendto(raw, forged, 0, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	write(t, client, at(server), "b")
	in := read(t, server, 2)
	require.Equal(t, "ab", string(in[0].Bytes())+string(in[1].Bytes()))
}

func TestZonesAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	var z zones
	var sa unix.RawSockaddrInet6
	for _, text := range []string{"[fe80::1%lo]:1", "[fe80::1%4294967295]:1", "[fe80::1]:1", "[2001:db8::1]:65535", "1.2.3.4:258"} {
		a := netip.MustParseAddrPort(text)
		z.setAddress(&sa, a, true)
		require.Equal(t, a, new(zones).address(&sa), text)
	}
	z.setAddress(&sa, netip.MustParseAddrPort("1.2.3.4:258"), false)
	require.Equal(t, "1.2.3.4:258", z.address(&sa).String())
	require.Equal(t, [2]byte{1, 2}, [2]byte(binary.NativeEndian.AppendUint16(nil, sa.Port)))
}

func TestControlMessagesThatMakeNoSenseAreNoAddress(t *testing.T) {
	v := vector{control: true}
	v.grow(1, 1)
	b := v.controlBytes(0)
	n := putPacketInfo(b, netip.MustParseAddr("127.0.0.1"))
	require.Equal(t, "127.0.0.1", parseControl(b[:n]).local.String())
	for cut := range n - 4 {
		require.False(t, parseControl(b[:cut]).local.IsValid(), "%d bytes", cut)
	}
	clear(b)
	require.False(t, parseControl(b).local.IsValid())
	n = putPacketInfo(b, netip.MustParseAddr("ff02::1"))
	require.False(t, parseControl(b[:n]).local.IsValid(), "multicast is no address to answer from")
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	for name, listen := range carriers {
		if name == "plain" || name == "packetconn" {
			continue // the addresses that net.PacketConn deals in do
		}
		for _, address := range append(loopbacks(t), ":0") {
			server, client := listen(t, address), listen(t, address)
			in, out := make([]Inbound, 8), make([]Outbound, 8)
			for i := range out {
				out[i] = Outbound{Data: make([]byte, 1000), To: at(server)}
			}
			allocs := testing.AllocsPerRun(100, func() {
				if _, err := client.WriteBatch(out); err != nil {
					t.Fatal(err)
				}
				for got := 0; got < len(out); {
					n, err := server.ReadBatch(in)
					if err != nil {
						t.Fatal(err)
					}
					for i := range in[:n] {
						got += datagrams(&in[i])
					}
				}
			})
			require.Zero(t, allocs, "%s %s", name, address)
			Release(in)
		}
	}
}

// datagrams returns how many are in an entry.
func datagrams(in *Inbound) int {
	if in.Segment == 0 {
		return 1
	}
	return (in.N + in.Segment - 1) / in.Segment
}
