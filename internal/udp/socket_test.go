package udp

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/pool"
)

// carriers are all ways to get a Socket on a UDP port of this machine.
var carriers = map[string]func(t *testing.T, address string) Socket{
	"listen": func(t *testing.T, address string) Socket {
		s, err := Listen(address)
		return opened(t, s, err)
	},
	"single": func(t *testing.T, address string) Socket {
		c, err := net.ListenPacket("udp", address)
		require.NoError(t, err)
		return opened(t, newSingle(c.(*net.UDPConn)), nil)
	},
	"packetconn": func(t *testing.T, address string) Socket {
		c, err := net.ListenPacket("udp", address)
		require.NoError(t, err)
		return opened(t, Wrap(struct{ net.PacketConn }{c}), nil)
	},
}

// dialers are all ways to get a connected Socket.
var dialers = map[string]func(t *testing.T, to string) Socket{
	"wrapconn": func(t *testing.T, to string) Socket { return opened(t, WrapConn(dialUDP(t, to)), nil) },
	"wrap":     func(t *testing.T, to string) Socket { return opened(t, Wrap(dialUDP(t, to)), nil) },
	"single":   func(t *testing.T, to string) Socket { return opened(t, newSingle(dialUDP(t, to)), nil) },
	"conn": func(t *testing.T, to string) Socket {
		return opened(t, WrapConn(struct{ net.Conn }{dialUDP(t, to)}), nil)
	},
}

func dialUDP(t *testing.T, to string) *net.UDPConn {
	t.Helper()
	c, err := net.Dial("udp", to)
	require.NoError(t, err)
	return c.(*net.UDPConn)
}

func opened(t *testing.T, s Socket, err error) Socket {
	t.Helper()
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	require.NoError(t, s.SetReadDeadline(time.Now().Add(5*time.Second)))
	return s
}

// loopbacks are the addresses to test with.
func loopbacks(t *testing.T) []string {
	if c, err := net.ListenPacket("udp", "[::1]:0"); err == nil {
		c.Close()
		return []string{"127.0.0.1:0", "[::1]:0"}
	}
	t.Log("no IPv6 here")
	return []string{"127.0.0.1:0"}
}

// at returns the peer at s, as seen from this machine.
func at(s Socket) Peer {
	p := PeerOf(s.LocalAddr())
	p.Addr = nil
	if p.AddrPort.Addr().IsUnspecified() {
		p.AddrPort = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), p.AddrPort.Port())
	}
	return p
}

// write sends each text to one peer.
func write(t *testing.T, s Socket, to Peer, texts ...string) {
	t.Helper()
	out := make([]Outbound, len(texts))
	for i, text := range texts {
		out[i] = Outbound{Data: []byte(text), To: to}
	}
	n, err := s.WriteBatch(out)
	require.NoError(t, err)
	require.Equal(t, len(texts), n)
}

// read returns the next count datagrams.
func read(t *testing.T, s Socket, count int) []Inbound {
	t.Helper()
	var got []Inbound
	for len(got) < count {
		in := make([]Inbound, count-len(got))
		n, err := s.ReadBatch(in)
		require.NoError(t, err)
		require.NotZero(t, n)
		got = append(got, in[:n]...)
		for _, unused := range in[n:] {
			release(unused)
		}
	}
	t.Cleanup(func() {
		for _, in := range got {
			release(in)
		}
	})
	return got
}

func release(in Inbound) {
	if in.Buf != nil {
		in.Buf.Release()
	}
}

func TestABatchIsEchoed(t *testing.T) {
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = fmt.Sprintf("datagram %d", i)
	}
	for name, listen := range carriers {
		for _, address := range loopbacks(t) {
			t.Run(name+" "+address, func(t *testing.T) {
				server, client := listen(t, address), listen(t, address)
				write(t, client, at(server), texts...)
				var echo []Outbound
				for i, in := range read(t, server, len(texts)) {
					require.Equal(t, texts[i], string(in.Bytes()))
					require.Equal(t, in.N, in.Buf.N)
					require.Zero(t, in.Segment)
					require.Equal(t, at(client).AddrPort, in.From.AddrPort)
					echo = append(echo, Outbound{Data: in.Bytes(), To: in.From, Local: in.Local, Probe: i%10 == 0})
				}
				n, err := server.WriteBatch(echo)
				require.NoError(t, err)
				require.Equal(t, len(echo), n)
				for i, in := range read(t, client, len(texts)) {
					require.Equal(t, texts[i], string(in.Bytes()))
				}
			})
		}
	}
}

func TestAConnectedSocketTalksToItsPeer(t *testing.T) {
	for name, dial := range dialers {
		for _, address := range loopbacks(t) {
			t.Run(name+" "+address, func(t *testing.T) {
				server, stranger := carriers["listen"](t, address), carriers["listen"](t, address)
				client := dial(t, server.LocalAddr().String())
				peer, connected := client.RemotePeer()
				require.True(t, connected)
				require.Equal(t, at(server).AddrPort, peer.AddrPort)

				write(t, client, Peer{}, "a", "b", "c")
				in := read(t, server, 3)
				require.Equal(t, at(client).AddrPort, in[0].From.AddrPort)
				write(t, stranger, in[0].From, "not for you")
				write(t, server, in[0].From, "x", "y")
				in = read(t, client, 2)
				require.Equal(t, "x", string(in[0].Bytes()))
				require.Equal(t, peer, in[1].From)
			})
		}
	}
}

func TestAWildcardSocketServesBothVersions(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			server := listen(t, ":0")
			for _, address := range loopbacks(t) {
				client := carriers["listen"](t, address)
				to := at(client).AddrPort.Addr()
				write(t, client, Peer{AddrPort: netip.AddrPortFrom(to, at(server).AddrPort.Port())}, "hello")
				in := read(t, server, 1)[0]
				require.Equal(t, at(client).AddrPort, in.From.AddrPort, "not in mapped form")
				_, err := server.WriteBatch([]Outbound{{Data: []byte("welcome"), To: in.From, Local: in.Local}})
				require.NoError(t, err)
				require.Equal(t, to, read(t, client, 1)[0].From.AddrPort.Addr())
			}
		})
	}
}

func TestAnEmptyDatagramIsOneAndAnOversizeOneIsNone(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			server, client := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
			huge := string(make([]byte, 3000))
			write(t, client, at(server), "a", huge, huge, "", "b", huge, "c")
			text := ""
			for _, in := range read(t, server, 4) {
				text += "<" + string(in.Bytes()) + ">"
			}
			require.Equal(t, "<a><><b><c>", text)
		})
	}
	for name, dial := range dialers {
		t.Run("connected "+name, func(t *testing.T) {
			server := carriers["listen"](t, "127.0.0.1:0")
			client := dial(t, server.LocalAddr().String())
			write(t, server, at(client), string(make([]byte, 3000)), "", "a")
			in := read(t, client, 2)
			require.Equal(t, "<><a>", "<"+string(in[0].Bytes())+"><"+string(in[1].Bytes())+">")
		})
	}
}

func TestTheCallersBuffersAreUsedAndKept(t *testing.T) {
	before := pool.InUse()
	server, client := carriers["listen"](t, "127.0.0.1:0"), carriers["listen"](t, "127.0.0.1:0")
	in := []Inbound{{Buf: pool.Get(100)}, {}}
	mine := in[0].Buf
	write(t, client, at(server), "hi")
	n, err := server.ReadBatch(in)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Same(t, mine, in[0].Buf)
	require.Equal(t, "hi", string(in[0].Bytes()))
	for _, i := range in {
		release(i)
	}
	require.Equal(t, before, pool.InUse())
}

func TestADeadlineUnblocksAReader(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			server, client := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
			done := make(chan error)
			go func() {
				in := make([]Inbound, 2)
				_, err := server.ReadBatch(in)
				release(in[0])
				release(in[1])
				done <- err
			}()
			require.NoError(t, server.SetReadDeadline(time.Unix(1, 0)))
			err := <-done
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			require.False(t, IsTransient(err))
			require.NoError(t, server.SetReadDeadline(time.Now().Add(5*time.Second)))
			write(t, client, at(server), "and it goes on")
			read(t, server, 1)
		})
	}
}

func TestCloseUnblocksAReader(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			s := listen(t, "127.0.0.1:0")
			done := make(chan error)
			go func() {
				in := make([]Inbound, 1)
				_, err := s.ReadBatch(in)
				release(in[0])
				done <- err
			}()
			require.NoError(t, s.Close())
			err := <-done
			require.True(t, IsClosed(err), "%v", err)
			require.False(t, IsTransient(err))
			_, err = s.WriteBatch([]Outbound{{To: Peer{AddrPort: netip.MustParseAddrPort("127.0.0.1:1")}}})
			require.True(t, IsClosed(err), "%v", err)
		})
	}
}

func TestRefusalIsOverWithTheNextSend(t *testing.T) {
	for name, dial := range dialers {
		t.Run(name, func(t *testing.T) {
			server := carriers["listen"](t, "127.0.0.1:0")
			address := server.LocalAddr().String()
			client := dial(t, address)
			require.NoError(t, server.Close())
			write(t, client, Peer{}, "nobody hears this")
			write(t, client, Peer{}, "nor this, but no error either")
			if runtime.GOOS != "windows" { // where the net package has it switched off
				in := make([]Inbound, 1)
				_, err := client.ReadBatch(in)
				release(in[0])
				require.True(t, IsTransient(err), "%v", err)
			}

			reborn := carriers["listen"](t, address)
			write(t, client, Peer{}, "now")
			require.Equal(t, "now", string(read(t, reborn, 1)[0].Bytes()))
		})
	}
}

func TestAnErrorIsAboutTheFirstDatagramNotSent(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			server, client := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
			ok := Outbound{Data: []byte("ok"), To: at(server)}
			for what, bad := range map[string]Outbound{
				"too large":  {Data: make([]byte, 65508), To: at(server), Probe: true},
				"no address": {Data: []byte("x")},
				"port 0":     {Data: []byte("x"), To: Peer{AddrPort: netip.MustParseAddrPort("127.0.0.1:0")}},
				"IPv6":       {Data: []byte("x"), To: Peer{AddrPort: netip.MustParseAddrPort("[::1]:9")}},
			} {
				out := []Outbound{ok, ok, bad, ok}
				n, err := client.WriteBatch(out)
				require.Equal(t, 2, n, what)
				require.True(t, IsTransient(err), "%s: %v", what, err)
				require.Equal(t, what == "too large", IsTooLarge(err), "%s: %v", what, err)
				n, err = client.WriteBatch(out[n+1:])
				require.NoError(t, err)
				require.Equal(t, 1, n)
				read(t, server, 3)
			}
		})
	}
}

func TestBuffersAreReadBack(t *testing.T) {
	for name, listen := range carriers {
		s := listen(t, "127.0.0.1:0")
		recv, send := s.Buffers()
		if name == "packetconn" {
			require.Zero(t, recv, "the wrapper hides the socket")
			continue
		}
		require.Greater(t, recv, 0, name)
		require.Greater(t, send, 0, name)
		t.Logf("%s: %d and %d bytes", name, recv, send)
	}
}
