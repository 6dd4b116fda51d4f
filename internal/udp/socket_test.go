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

// carriers are all ways to get a Socket on a UDP port of this machine. Those that the system
// does not have are another one once more.
var carriers = map[string]func(t *testing.T, address string) Socket{
	"listen":     listener(Options{Path: Offload}),
	"batch":      listener(Options{Path: Batch}),
	"only GSO":   listener(Options{Path: Offload, NoGRO: true}),
	"only GRO":   listener(Options{Path: Offload, NoGSO: true}),
	"single":     listener(Options{Path: Single}),
	"plain":      listener(Options{Path: Plain}),
	"packetconn": wrapped,
}

func listener(o Options) func(t *testing.T, address string) Socket {
	return func(t *testing.T, address string) Socket {
		s, err := Listen(address, o)
		return opened(t, s, err)
	}
}

func wrapped(t *testing.T, address string) Socket {
	c, err := net.ListenPacket("udp", address)
	require.NoError(t, err)
	return opened(t, Wrap(struct{ net.PacketConn }{c}, Options{}), nil)
}

// dialers are all ways to get a connected Socket.
var dialers = map[string]func(t *testing.T, to string) Socket{
	"wrapconn": func(t *testing.T, to string) Socket {
		return opened(t, WrapConn(dialUDP(t, to), Options{Path: Offload}), nil)
	},
	"wrap": func(t *testing.T, to string) Socket {
		return opened(t, Wrap(dialUDP(t, to), Options{Path: Offload}), nil)
	},
	"batch": func(t *testing.T, to string) Socket {
		return opened(t, WrapConn(dialUDP(t, to), Options{Path: Batch}), nil)
	},
	"single": func(t *testing.T, to string) Socket {
		return opened(t, WrapConn(dialUDP(t, to), Options{Path: Single}), nil)
	},
	"plain": func(t *testing.T, to string) Socket {
		return opened(t, WrapConn(dialUDP(t, to), Options{Path: Plain}), nil)
	},
	"plain wrap": func(t *testing.T, to string) Socket {
		return opened(t, Wrap(dialUDP(t, to), Options{Path: Plain}), nil)
	},
	"conn": func(t *testing.T, to string) Socket {
		return opened(t, WrapConn(struct{ net.Conn }{dialUDP(t, to)}, Options{}), nil)
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

// read returns the next count datagrams, each on its own whether or not they came together.
func read(t *testing.T, s Socket, count int) []Inbound {
	t.Helper()
	var got []Inbound
	for len(got) < count {
		in := make([]Inbound, count-len(got))
		n, err := s.ReadBatch(in)
		require.NoError(t, err)
		require.NotZero(t, n)
		t.Cleanup(func() { Release(in) })
		for i := range in[:n] {
			got = append(got, apart(in[i])...)
		}
	}
	require.Len(t, got, count)
	return got
}

// apart returns the datagrams in an entry. They have copies of its bytes.
func apart(m Inbound) (list []Inbound) {
	rest, size := m.Bytes(), m.Segment
	if size == 0 {
		size = len(rest)
	}
	for more := true; more; more = len(rest) > 0 {
		one := m
		one.Segment, one.small, one.big = 0, nil, nil
		one.N = min(size, len(rest))
		one.Buf = &pool.Buffer{B: append([]byte(nil), rest[:one.N]...), N: one.N}
		rest = rest[one.N:]
		list = append(list, one)
	}
	return list
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

// Where the system joins datagrams there is room for wide ones. They come whole, alone and joined.
func TestTheLongestDatagramComesWhole(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			server, client := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
			long := make([]byte, Longest(server)-1) // some take one that fills the buffer for a part of a longer one
			for i := range long {
				long[i] = byte(i * 7 >> 3)
			}
			for _, n := range []int{1, 2, 7} {
				var out []string
				for range n {
					out = append(out, string(long))
				}
				write(t, client, at(server), append(out, string(long[:9]))...)
				for i, in := range read(t, server, n+1) {
					require.True(t, string(in.Bytes()) == append(out, string(long[:9]))[i], "datagram %d of %d", i, n)
				}
			}
		})
	}
}

func TestAnEmptyDatagramIsOneAndAnOversizeOneIsNone(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			server, client := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
			huge := string(make([]byte, Longest(server)+1))
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
			write(t, server, at(client), string(make([]byte, Longest(client)+1)), "", "a")
			in := read(t, client, 2)
			require.Equal(t, "<><a>", "<"+string(in[0].Bytes())+"><"+string(in[1].Bytes())+">")
		})
	}
}

func TestWhatNobodyKeepsIsFilledAgain(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			before := pool.InUse()
			server, client := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
			in := make([]Inbound, 1)
			receive := func(text string) *pool.Buffer {
				write(t, client, at(server), text)
				n, err := server.ReadBatch(in)
				require.NoError(t, err)
				require.Equal(t, 1, n)
				require.Equal(t, text, string(in[0].Bytes()))
				require.Equal(t, in[0].N, in[0].Buf.N)
				return in[0].Buf
			}
			first := receive("hi")
			first.Retain()
			require.NotSame(t, first, receive("somebody keeps the first"))
			require.Equal(t, "hi", string(first.Bytes()))
			first.Release()
			in[0].Buf.Release()
			in[0].Buf = nil
			receive("taken away")
			in[0].Buf.Release()
			in[0].Buf = pool.Get(100)
			receive("too small to be of use")
			Release(in)
			require.Equal(t, before, pool.InUse())
		})
	}
}

func TestADeadlineUnblocksAReader(t *testing.T) {
	for name, listen := range carriers {
		t.Run(name, func(t *testing.T) {
			server, client := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
			done := make(chan error)
			go func() {
				in := make([]Inbound, 2)
				_, err := server.ReadBatch(in)
				Release(in)
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
				Release(in)
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
				Release(in)
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
		require.Zero(t, s.Overflows())
		if name == "packetconn" {
			require.Zero(t, recv, "the wrapper hides the socket")
			continue
		}
		require.Greater(t, recv, 0, name)
		require.Greater(t, send, 0, name)
		t.Logf("%s: %d and %d bytes", name, recv, send)
	}
}
