package udp

import (
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

type addrPorter struct {
	net.Addr
	ap netip.AddrPort
}

func (a addrPorter) AddrPort() netip.AddrPort { return a.ap }

func TestPeersAreKeyedByWhatTheirAddressSays(t *testing.T) {
	ap := netip.MustParseAddrPort
	for _, c := range []struct {
		addr net.Addr
		want netip.AddrPort
	}{
		{&net.UDPAddr{IP: net.IPv4(1, 2, 3, 4), Port: 5}, ap("1.2.3.4:5")},
		{&net.UDPAddr{IP: net.ParseIP("fe80::1"), Port: 5, Zone: "eth0"}, ap("[fe80::1%eth0]:5")},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:1.2.3.4"), Port: 5}, ap("1.2.3.4:5")},
		{addrPorter{name("x"), ap("[::ffff:1.2.3.4]:5")}, ap("1.2.3.4:5")},
		{name("[2001:db8::1]:5"), ap("[2001:db8::1]:5")},
		{nil, netip.AddrPort{}},
		{(*net.UDPAddr)(nil), netip.AddrPort{}},
	} {
		p := PeerOf(c.addr)
		require.Equal(t, c.want, p.AddrPort)
		require.False(t, Synthetic(p.AddrPort.Addr()))
		if p.AddrPort.IsValid() {
			require.Equal(t, c.addr, p.Addr)
		}
	}
}

func TestOtherAddressesGetASyntheticKey(t *testing.T) {
	a, b := PeerOf(name("a")), PeerOf(name("b"))
	require.Equal(t, a, PeerOf(name("a")))
	require.NotEqual(t, a.AddrPort, b.AddrPort)
	require.NotEqual(t, a.AddrPort, PeerOf(addrPorter{Addr: &net.UnixAddr{Name: "a", Net: "unixgram"}}).AddrPort)
	for _, p := range []Peer{a, b} {
		require.True(t, Synthetic(p.AddrPort.Addr()))
		require.NotZero(t, p.AddrPort.Port())
	}
	require.True(t, netip.MustParsePrefix("100::/8").Contains(a.AddrPort.Addr()))
}

func TestACarrierWithItsOwnAddresses(t *testing.T) {
	var all sync.Map
	server := opened(t, Wrap(newCarrier(&all, "server"), Options{}), nil)
	client := opened(t, Wrap(newCarrier(&all, "client"), Options{}), nil)

	write(t, client, PeerOf(name("server")), "hello")
	in := read(t, server, 1)[0]
	require.Equal(t, PeerOf(name("client")), in.From)
	write(t, server, in.From, "welcome")
	require.Equal(t, "welcome", string(read(t, client, 1)[0].Bytes()))

	_, err := server.WriteBatch([]Outbound{{To: Peer{AddrPort: in.From.AddrPort}}})
	require.ErrorIs(t, err, ErrAddress, "the key alone is no way to the peer")

	dialled := opened(t, WrapConn(line{carrier: newCarrier(&all, "dialled"), far: "server"}, Options{}), nil)
	peer, connected := dialled.RemotePeer()
	require.True(t, connected)
	require.Equal(t, PeerOf(name("server")), peer)
	write(t, dialled, Peer{}, "me too")
	write(t, server, read(t, server, 1)[0].From, "you too")
	require.Equal(t, "you too", string(read(t, dialled, 1)[0].Bytes()))
}
