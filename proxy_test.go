package raknet_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// header2 is what a proxy puts in front of a client's datagrams in version 2.
func header2(client netip.AddrPort) []byte {
	b := []byte("\r\n\r\n\x00\r\nQUIT\n\x21\x12")
	if !client.Addr().Is4() {
		b[13] = 0x22
	}
	server := netip.MustParseAddrPort(serverAddress)
	ip, to := client.Addr().AsSlice(), make([]byte, client.Addr().BitLen()/8)
	copy(to, server.Addr().AsSlice())
	b = binary.BigEndian.AppendUint16(b, uint16(2*len(ip)+4))
	b = append(append(b, ip...), to...)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, client.Port()), server.Port())
}

// header1 is the same in version 1.
func header1(client netip.AddrPort) []byte {
	return fmt.Appendf(nil, "PROXY UDP4 %v 10.9.8.7 %d 19132\r\n", client.Addr(), client.Port())
}

var proxies = []netip.Prefix{netip.MustParsePrefix("10.77.0.0/16")}

// relay carries datagrams between its clients and the listener, with a socket of its own for each
// client, and a header in front of what goes to the listener.
type relay struct {
	*world
	header func(netip.AddrPort) []byte
	first  bool                                  // headers in front of the handshake alone
	to     map[netip.AddrPort]*netsim.PacketConn // by client
}

// relayAddress is where the clients of a relay go.
const relayAddress = "10.77.7.7:19132"

// relay starts one.
func (w *world) relay(header func(netip.AddrPort) []byte, first bool) *relay {
	r := &relay{world: w, header: header, first: first, to: map[netip.AddrPort]*netsim.PacketConn{}}
	front := w.stranger(relayAddress).pc
	go func() {
		for b := make([]byte, 2048); ; {
			n, from, err := front.ReadFrom(b)
			if err != nil {
				return
			}
			client := from.(*net.UDPAddr).AddrPort()
			back := r.to[client]
			if back == nil {
				back, err = w.network.Listen(netip.MustParseAddrPort(fmt.Sprintf("10.77.7.7:%d", 20000+len(r.to))))
				if err != nil {
					return
				}
				r.to[client] = back
				go func() {
					defer back.Close()
					for b := make([]byte, 2048); ; {
						n, _, err := back.ReadFrom(b)
						if err != nil {
							return
						}
						if _, err = front.WriteTo(b[:n], from); err != nil {
							return
						}
					}
				}()
			}
			out := b[:n]
			if !r.first || b[0]&0x80 == 0 {
				out = append(r.header(client), out...)
			}
			_, _ = back.WriteTo(out, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(serverAddress)))
		}
	}()
	return r
}

func TestBehindATrustedProxyTheClientCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		header func(netip.AddrPort) []byte
		first  bool
	}{
		"version 2": {header2, false}, "version 1": {header1, false}, "in the handshake": {header2, true},
	} {
		var asked []raknet.ConnRequest
		var pinged []raknet.PingRequest
		conf := raknet.ListenConfig{
			TrustedProxies: proxies, MaxPerIP: 1,
			Admit: func(r *raknet.ConnRequest) error { asked = append(asked, *r); return nil },
			Pong:  func(p raknet.PingRequest) []byte { pinged = append(pinged, p); return []byte("pong") },
		}
		t.Run(name, func(t *testing.T) {
			story(t, good, conf, func(w *world) {
				w.relay(tc.header, tc.first)
				d := raknet.Dialer{UpstreamDialer: w.network}
				var clients, servers []*raknet.Conn
				for range 3 {
					client, err := d.Dial(relayAddress)
					require.NoError(w, err)
					defer client.Close()
					server, err := w.listener.AcceptContext(w.Context())
					require.NoError(w, err)
					clients, servers = append(clients, client), append(servers, server)
					require.Equal(w, client.LocalAddr().String(), server.RemoteAddr().String())
					require.IsType(w, (*net.UDPAddr)(nil), server.RemoteAddr())
					require.Equal(w, "10.77.7.7", server.ProxyAddr().(*net.UDPAddr).IP.String())
					require.Nil(w, client.ProxyAddr())
					r := asked[len(asked)-1]
					require.Equal(w, server.RemoteAddr().String(), r.Addr.String())
					require.Equal(w, server.RemoteAddr().String(), r.AddrPort.String())
					require.Equal(w, server.ProxyAddr().String(), r.Proxy.String())
				}
				for i := range clients {
					_, err := clients[i].Write(user(5000))
					require.NoError(w, err)
					b, err := servers[i].ReadPacket()
					require.NoError(w, err)
					require.Len(w, b, 5000)
					_, err = servers[i].Write(user(6000))
					require.NoError(w, err)
					b, err = clients[i].ReadPacket()
					require.NoError(w, err)
					require.Len(w, b, 6000)
				}

				p, err := d.PingInfo(w.Context(), relayAddress)
				require.NoError(w, err)
				require.Equal(w, "pong", string(p.Data))
				require.Equal(w, "10.77.7.7", pinged[0].Proxy.(*net.UDPAddr).IP.String())
				require.NotEqual(w, "10.77.7.7", pinged[0].Addr.(*net.UDPAddr).IP.String())

				if !tc.first {
					w.listener.Block(servers[0].RemoteAddr())
					w.pass(9 * time.Second)
					w.listener.BlockFor(servers[0].RemoteAddr(), 10*time.Second)
					<-servers[0].Context().Done()
					require.NoError(w, servers[1].Context().Err())
				}
			})
		})
	}
}

// Of one player behind a proxy one connection is enough, and others are not concerned.
func TestBoundsForAnAddressHoldForTheClientBehindAProxy(t *testing.T) {
	conf := raknet.ListenConfig{TrustedProxies: proxies, MaxHalfOpenPerIP: 2, PongRate: 3}
	story(t, good, conf, func(w *world) {
		one, other := netip.MustParseAddrPort("203.0.113.9:1"), netip.MustParseAddrPort("203.0.114.9:1")
		proxy := w.stranger("10.77.0.1:1")
		proxy.send(prefixed(header2(one), slicesOf(pingDatagram, 20)...)...)
		proxy.send(prefixed(header2(other), slicesOf(pingDatagram, 2)...)...)
		require.Len(w, proxy.hear(time.Second), 6+2)
		require.EqualValues(w, 14, w.listener.Stats().DroppedOffline["rate limited"])
		proxy.send(slicesOf(pingDatagram, 20)...)
		require.Len(w, proxy.hear(time.Second), 20, "the proxy itself is exempt")

		for i := range 5 {
			s := w.stranger(fmt.Sprintf("10.77.0.1:%d", i+100))
			client := netip.AddrPortFrom(one.Addr(), uint16(i+100))
			s.send(prefixed(header2(client), request1(1400))...)
			s.send(prefixed(header2(client), request2(w, s.hearOne(), int64(i)))...)
			require.Equal(w, byte(protocol.IDOpenConnectionReply2), s.hearOne()[0])
		}
		require.Equal(w, 2, w.listener.Stats().HalfOpen)
		require.EqualValues(w, 3, w.listener.Stats().Evicted)
	})
}

func slicesOf(b []byte, n int) (list [][]byte) {
	for range n {
		list = append(list, b)
	}
	return list
}

// A cookie is the client's, whichever proxy brings it.
func TestACookieBelongsToTheClientBehindAProxy(t *testing.T) {
	story(t, good, raknet.ListenConfig{TrustedProxies: proxies}, func(w *world) {
		client, other := netip.MustParseAddrPort("[2001:db8::9]:1"), netip.MustParseAddrPort("[2001:db8::9]:2")
		one, two := w.stranger("10.77.0.1:1"), w.stranger("10.77.0.2:2")
		one.send(prefixed(header2(client), request1(1400))...)
		second := request2(w, one.hearOne(), 1)
		two.send(prefixed(header2(other), second)...)
		require.Nil(w, two.hearOne())
		two.send(second)
		require.Nil(w, two.hearOne())
		two.send(prefixed(header2(client), second)...)
		var reply wire.OpenReply2
		require.NoError(w, reply.Parse(two.hearOne()))
		require.Equal(w, client, reply.Client, "the client learns its own address")
		require.EqualValues(w, 2, w.listener.Stats().BadCookies)
	})
}

func TestNobodyElseIsBelieved(t *testing.T) {
	for _, conf := range []raknet.ListenConfig{{}, {TrustedProxies: proxies}} {
		story(t, good, conf, func(w *world) {
			s := w.stranger("10.78.0.1:1")
			s.send(prefixed(header2(netip.MustParseAddrPort("203.0.113.9:1")), pingDatagram, request1(1400))...)
			s.send(prefixed(header1(netip.MustParseAddrPort("203.0.113.9:1")), pingDatagram, request1(1400))...)
			require.Empty(w, s.hear(time.Second))
			require.Zero(w, w.listener.Stats().Pings)
		})
	}
}

// A proxy that gives a port to another client, or somebody behind it who guesses, does not reach
// the connection that had the port.
func TestAConnectionHearsItsOwnClientOnly(t *testing.T) {
	story(t, good, raknet.ListenConfig{TrustedProxies: proxies}, func(w *world) {
		r := w.relay(header2, false)
		client, err := raknet.Dialer{UpstreamDialer: w.network}.Dial(relayAddress)
		require.NoError(w, err)
		defer client.Close()
		server, err := w.listener.AcceptContext(w.Context())
		require.NoError(w, err)
		back := r.to[client.LocalAddr().(*net.UDPAddr).AddrPort()]
		w.pass(time.Second)
		before := server.Stats()
		for range 200 {
			forged := append(header2(netip.MustParseAddrPort("203.0.113.9:1")), 0x84, 0xff, 0, 0, 0x60, 0xff)
			_, err = back.WriteTo(forged, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(serverAddress)))
			require.NoError(w, err)
		}
		w.pass(100 * time.Millisecond)
		require.Equal(w, before.DatagramsReceived, server.Stats().DatagramsReceived)
		require.EqualValues(w, 200, w.listener.Stats().DroppedOffline["proxy"])
		_, err = client.Write(user(10))
		require.NoError(w, err)
		_, err = server.ReadPacket()
		require.NoError(w, err)
	})
}

// The vectors about PROXY headers, played against a listener as they are written.
func TestProxyVectors(t *testing.T) {
	all, err := hostile.Load(hostile.ServerOffline)
	require.NoError(t, err)
	played := 0
	for _, v := range all {
		if !strings.HasPrefix(v.ID, "SO-proxy-") {
			continue
		}
		played++
		conf := raknet.ListenConfig{}
		if v.Config == "proxy-trust=loopback" {
			conf.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
		}
		limited := conf
		limited.PongRate = 1
		t.Run(v.ID, func(t *testing.T) {
			story(t, good, limited, func(w *world) {
				s := w.stranger("127.0.0.1:40010")
				s.send(v.Datagrams...)
				heard := s.hear(time.Second)
				if v.Expect == "drop" {
					require.Empty(w, heard)
					require.Len(w, w.listener.Stats().DroppedOffline, 1)
					return
				}
				require.Equal(w, "reply:1c", v.Expect)
				require.Len(w, heard, 1)
				require.Equal(w, byte(0x1c), heard[0][0])
				for range 10 {
					s.send(v.Datagrams...)
				}
				require.Len(w, s.hear(900*time.Millisecond), 2, "limits count the client: the proxy has none")
			})
		})
	}
	require.Equal(t, 4, played)
}
