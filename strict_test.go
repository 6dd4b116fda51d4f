package raknet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/dialect"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// What is sent suits the strictest peer: these tests look at the wire.

// tap keeps what passes on the wire.
type tap struct {
	mu   sync.Mutex
	seen []tapped
}

type tapped struct {
	at       time.Time
	from, to netip.AddrPort
	data     []byte
}

// watch begins to keep everything; drop, if not nil, decides what gets lost.
func (p *tap) watch(w *world, drop func(from, to netip.AddrPort, data []byte) bool) {
	w.network.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
		p.mu.Lock()
		p.seen = append(p.seen, tapped{time.Now(), from, to, bytes.Clone(data)})
		p.mu.Unlock()
		return drop != nil && drop(from, to, data)
	})
}

// all returns what was seen.
func (p *tap) all() []tapped {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]tapped(nil), p.seen...)
}

// frames are those of a datagram; none of one that has none.
func frames(data []byte) (all []wire.Frame) {
	if wire.Classify(data) != wire.KindFrameSet {
		return nil
	}
	it := wire.Frames(data[wire.DatagramHeaderSize:])
	for f := (wire.Frame{}); it.Next(&f); {
		all = append(all, f)
	}
	return all
}

// A widely used server throws on a frame whose flags have the top bit set. So only the modes that an
// application asks for have it, and receipts, fragments, resends and control messages do without.
func TestModesAboveThreeAreSentOnlyWhereAsked(t *testing.T) {
	for _, sequenced := range []bool{false, true} {
		story(t, netsim.Link{Delay: 20 * time.Millisecond, Loss: 0.1}, raknet.ListenConfig{}, func(w *world) {
			var p tap
			p.watch(w, nil)
			client, server := w.dial(raknet.Dialer{})
			for mode := raknet.Unreliable; mode <= raknet.ReliableOrderedWithReceipt; mode++ {
				if (mode == raknet.UnreliableSequenced || mode == raknet.ReliableSequenced) && !sequenced {
					continue
				}
				for _, size := range []int{10, 1400, 5000} {
					for _, end := range []*raknet.Conn{client, server} {
						_, err := end.Send(w.Context(), message(size), raknet.SendOptions{Reliability: mode})
						require.NoError(w, err)
					}
				}
			}
			w.pass(20 * time.Second) // with pings
			require.NoError(w, client.Close())
			w.pass(time.Second)
			top, total := 0, 0
			for _, d := range p.all() {
				for at, all := wire.DatagramHeaderSize, frames(d.data); len(all) > 0; all = all[1:] {
					total++
					if d.data[at]&0x80 != 0 {
						top++
						require.Equal(w, byte(protocol.ReliableSequenced), d.data[at]>>5)
					}
					at += wire.FrameHeaderSize(all[0].Reliability, all[0].Split) + len(all[0].Payload)
				}
			}
			require.Greater(w, total, 50)
			require.Equal(w, sequenced, top > 0)
		})
	}
}

func TestEveryDatagramKeepsWithinTheMTUHoweverManyHoles(t *testing.T) {
	for _, mtu := range []int{400, 576, 1492} {
		story(t, netsim.Link{Delay: 30 * time.Millisecond, Loss: 0.3, Reorder: 0.2, ReorderBy: 30 * time.Millisecond}, raknet.ListenConfig{}, func(w *world) {
			var p tap
			client, server := w.dial(raknet.Dialer{MaxMTU: uint16(mtu)})
			p.watch(w, nil)
			go client.Write(message(500_000))
			go server.Write(message(500_000))
			for _, end := range []*raknet.Conn{client, server} {
				b, err := end.ReadPacket()
				require.NoError(w, err)
				require.Len(w, b, 500_000)
			}
			ranges := 0
			for _, d := range p.all() {
				require.LessOrEqual(w, len(d.data), mtu-28)
				if wire.Classify(d.data) == wire.KindACK {
					it, err := wire.ParseRanges(d.data)
					require.NoError(w, err)
					ranges = max(ranges, it.Count())
				}
			}
			require.Greater(w, ranges, 10, "the ACKs had something to tell")
		})
	}
}

func TestADialProbesLikeVanillaClients(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		var p tap
		p.watch(w, func(netip.AddrPort, netip.AddrPort, []byte) bool { return true })
		start := time.Now()
		_, err := raknet.Dialer{UpstreamDialer: w.network}.DialTimeout(serverAddress, 6900*time.Millisecond)
		require.ErrorIs(w, err, raknet.ErrNoAnswer)
		var got []string
		for _, d := range p.all() {
			require.Equal(w, byte(0x05), d.data[0])
			require.Equal(w, byte(11), d.data[17])
			require.Equal(w, make([]byte, len(d.data)-18), d.data[18:], "zeros")
			got = append(got, fmt.Sprintf("%v %d", d.at.Sub(start), len(d.data)+28))
		}
		require.Equal(w, []string{
			"0s 1492", "500ms 1492", "1s 1492", "1.5s 1492", "2s 1200", "2.5s 1200", "3s 1200", "3.5s 1200",
			"4s 576", "4.5s 576", "5s 576", "5.5s 576", "6s 1492", "6.5s 1492",
		}, got)
	})
}

func TestGUIDsHaveTheTopBitSet(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		var p tap
		p.watch(w, nil)
		seen := map[int64]bool{w.listener.ID(): true}
		require.Negative(w, w.listener.ID())
		for range 5 {
			_, err := raknet.Dialer{UpstreamDialer: w.network}.Ping(serverAddress)
			require.NoError(w, err)
			client, server := w.dial(raknet.Dialer{})
			require.Negative(w, server.GUID())
			require.False(w, seen[server.GUID()], "one for each dial")
			seen[server.GUID()] = true
			require.NoError(w, client.Close())
		}
		packets := map[byte]int{}
		for _, d := range p.all() {
			guid := int64(0)
			switch d.data[0] {
			case 0x01:
				guid = int64(binary.BigEndian.Uint64(d.data[25:]))
			case 0x06, 0x08:
				guid = int64(binary.BigEndian.Uint64(d.data[17:]))
			case 0x07:
				guid = int64(binary.BigEndian.Uint64(d.data[len(d.data)-8:]))
			case 0x1c:
				guid = int64(binary.BigEndian.Uint64(d.data[9:]))
			default:
				for _, f := range frames(d.data) {
					if f.Payload[0] == 0x09 {
						require.Negative(w, int64(binary.BigEndian.Uint64(f.Payload[1:])))
						packets[0x09]++
					}
				}
				continue
			}
			require.Negative(w, guid, "%x", d.data[0])
			packets[d.data[0]]++
		}
		for _, id := range []byte{0x01, 0x06, 0x07, 0x08, 0x09, 0x1c} {
			require.GreaterOrEqual(w, packets[id], 5, "%x", id)
		}
	})
}

// Several servers never send a lost 10 again, but all answer a second 09.
func TestTheConnectionRequestIsRepeatedUntilItsAnswerComes(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		h := dialect.Habits{Name: "forgetful", Version: 11, Addresses: 20, Once: true}
		pc, err := w.network.ListenPacket("udp", "10.9.8.6:19132")
		require.NoError(w, err)
		server := dialect.Serve(h, pc)
		var p tap
		lost := 0
		p.watch(w, func(from, _ netip.AddrPort, data []byte) bool {
			for _, f := range frames(data) {
				if f.Payload[0] == 0x10 && lost < 3 {
					lost++
					return true
				}
			}
			return false
		})
		c, err := raknet.Dialer{UpstreamDialer: w.network}.Dial("10.9.8.6:19132")
		require.NoError(w, err)
		converse(w, c, false)
		require.Equal(w, 3, lost)
		requests := map[uint32]bool{}
		for _, d := range p.all() {
			for _, f := range frames(d.data) {
				if f.Payload[0] == 0x09 {
					require.Equal(w, protocol.Reliable, f.Reliability)
					requests[f.Reliable] = true
				}
			}
		}
		require.Len(w, requests, 4, "each a message of its own, not the first one again")
		require.NoError(w, c.Close())
		w.pass(time.Second)
		require.NoError(w, pc.Close())
		server.Wait()
	})
}

// burst sends a lot of everything to a peer that sends it back, and reads that for a while. It returns
// how many messages came back of how many.
func burst(w *world, limits raknet.PeerLimits, h dialect.Habits) (came, sent int, losses dialect.Losses) {
	pc, err := w.network.ListenPacket("udp", "10.9.8.6:19132")
	require.NoError(w, err)
	server := dialect.Serve(h, pc)
	c, err := raknet.Dialer{UpstreamDialer: w.network, PeerLimits: limits}.Dial("10.9.8.6:19132")
	require.NoError(w, err)
	send := func(n int, mode raknet.Reliability) {
		for {
			_, err := c.Send(w.Context(), message(n), raknet.SendOptions{Reliability: mode})
			if n = min(n, 127*1432); errors.Is(err, raknet.ErrMessageTooLarge) {
				continue // what is too large goes in smaller pieces
			}
			require.NoError(w, err)
			sent++
			return
		}
	}
	send(128*1432, raknet.Reliable)
	for range 10 {
		send(50_000, raknet.Reliable)
		send(3000, raknet.ReliableOrdered)
	}
	for range 200 {
		send(3000, raknet.Reliable)
	}
	for range 6000 {
		send(40, raknet.Reliable)
	}
	patience, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	for ; came < sent; came++ {
		if _, err := c.Receive(patience); err != nil {
			break
		}
	}
	require.NoError(w, c.Close())
	w.pass(10 * time.Second)
	require.NoError(w, pc.Close())
	server.Wait()
	return came, sent, server.All[0].Losses
}

// PocketMine's bounds, each alone and all together: with its limits nothing is lost, and without them
// something is, so that they are needed.
func TestPocketMineLosesNothingWithinItsLimits(t *testing.T) {
	plain := dialect.Habits{Version: 11, Addresses: 20, AckAfter: 10 * time.Millisecond}
	peers := map[string]func(h *dialect.Habits){
		"fragments": func(h *dialect.Habits) { h.MaxFragments = 127 },
		"splits":    func(h *dialect.Habits) { h.MaxSplits = 4 },
		"rate":      func(h *dialect.Habits) { h.MaxRate = 200 },
		"window":    func(h *dialect.Habits) { h.Window = 2048 },
		"all": func(h *dialect.Habits) {
			h.MaxFragments, h.MaxSplits, h.MaxRate, h.Window = 127, 4, 200, 2048
		},
	}
	for name, set := range peers {
		for _, limited := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, %v", name, limited), func(t *testing.T) {
				link := netsim.Link{Delay: 30 * time.Millisecond, Loss: 0.02} // on which much is under way
				if name == "rate" || name == "all" {
					link = netsim.Link{Delay: time.Millisecond, Loss: 0.02}
				}
				story(t, link, raknet.ListenConfig{}, func(w *world) {
					h := plain
					set(&h)
					limits := raknet.PeerLimits{}
					if limited {
						limits = raknet.PeerPocketMine
					}
					came, sent, losses := burst(w, limits, h)
					if limited {
						require.Equal(w, sent, came)
						require.Equal(w, dialect.Losses{}, losses)
					} else {
						require.NotEqual(w, dialect.Losses{}, losses, "the limit is not needed")
					}
				})
			})
		}
	}
}

// Heaps, hashes and threads put fragments in any order, thousands of them.
func TestFragmentsByTheThousandInAnyOrder(t *testing.T) {
	for name, order := range map[string]func(n int) []int{
		"of a heap": dialect.HeapOrder,
		"backwards": func(n int) []int {
			all := make([]int, n)
			for i := range all {
				all[i] = n - 1 - i
			}
			return all
		},
		"shuffled": rand.New(rand.NewPCG(1, 2)).Perm,
	} {
		t.Run(name, func(t *testing.T) {
			story(t, netsim.Link{Delay: 5 * time.Millisecond, Loss: 0.01}, raknet.ListenConfig{}, func(w *world) {
				h := dialect.Habits{Version: 11, Addresses: 20, Order: order, Probes: []int{576}}
				pc, err := w.network.ListenPacket("udp", "10.1.1.1:5000")
				require.NoError(w, err)
				client := dialect.Dial(h, pc, netip.MustParseAddrPort(serverAddress))
				c, err := w.listener.AcceptContext(w.Context())
				require.NoError(w, err)
				const size = 3000 * 516 // of ours in as many fragments, of the peer's in a few more
				_, err = c.Send(w.Context(), message(size), raknet.SendOptions{Reliability: raknet.ReliableOrdered})
				if errors.Is(err, raknet.ErrMessageTooLarge) { // 2048 is the most that we send
					_, err = c.Send(w.Context(), message(2000*516), raknet.SendOptions{Reliability: raknet.ReliableOrdered})
				}
				require.NoError(w, err)
				b, err := c.ReadPacket()
				require.NoError(w, err)
				require.True(w, bytes.Equal(message(len(b)), b))
				require.Len(w, b, 2000*516)
				require.NoError(w, c.Close())
				w.pass(time.Second)
				require.NoError(w, pc.Close())
				client.Wait()
				unharmed(w, client.Conn.Losses)
			})
		})
	}
}

// The same probe is answered with sizes that differ by up to 59 bytes, and by some with more
// than was probed.
func TestMTUAnswersOfAllKinds(t *testing.T) {
	for _, d := range []int{-59, -31, -28, -1, 0, 1, 28, 59} {
		story(t, good, raknet.ListenConfig{}, func(w *world) {
			h := dialect.Habits{Version: 11, Addresses: 20, Grant: func(mtu int) int { return mtu + d }}
			pc, err := w.network.ListenPacket("udp", "10.9.8.6:19132")
			require.NoError(w, err)
			server := dialect.Serve(h, pc)
			var p tap
			p.watch(w, nil)
			c, err := raknet.Dialer{UpstreamDialer: w.network}.Dial("10.9.8.6:19132")
			require.NoError(w, err)
			require.Equal(w, 1492+min(d, 0), c.MTU())
			converse(w, c, false)
			require.NoError(w, c.Close())
			w.pass(time.Second)
			require.NoError(w, pc.Close())
			server.Wait()
			for _, s := range p.all() {
				if s.to.String() == "10.9.8.6:19132" && s.data[0]&0x80 != 0 {
					require.LessOrEqual(w, len(s.data)+28, c.MTU())
				}
			}
		})
	}
}

// Between two of this library, each version with its number of internal addresses.
func TestEveryVersionFromSixToEleven(t *testing.T) {
	for version := byte(6); version <= 11; version++ {
		story(t, good, raknet.ListenConfig{ProtocolVersions: []byte{version}}, func(w *world) {
			var p tap
			p.watch(w, nil)
			for _, d := range []raknet.Dialer{{}, {ProtocolVersion: version}} {
				client, server := w.dial(d)
				require.Equal(w, version, client.ProtocolVersion())
				require.Equal(w, version, server.ProtocolVersion())
			}
			other := byte(11)
			if version == 11 {
				other = 10
			}
			_, err := raknet.Dialer{UpstreamDialer: w.network, ProtocolVersion: other}.Dial(serverAddress)
			mismatch, ok := errors.AsType[*raknet.VersionError](err)
			require.True(w, ok, "%v", err)
			require.Equal(w, &raknet.VersionError{Client: other, Server: version}, mismatch)
			addresses := 10
			if version >= 9 {
				addresses = 20
			}
			sizes := map[byte]int{0x10: 1 + 7 + 2 + 7*addresses + 16, 0x13: 1 + 7 + 7*addresses + 16}
			found := 0
			for _, d := range p.all() {
				for _, f := range frames(d.data) {
					if size := sizes[f.Payload[0]]; size > 0 {
						require.Equal(w, size, len(f.Payload), "%x", f.Payload[0])
						found++
					}
				}
			}
			require.Equal(w, 4, found)
		})
	}
}

// A client that knows no cookies is not answered and not held against anybody: a listener without cookies is for it.
func TestAClientWithoutCookiesIsDroppedQuietly(t *testing.T) {
	for _, off := range []bool{false, true} {
		story(t, good, raknet.ListenConfig{DisableCookies: off}, func(w *world) {
			pc, err := w.network.ListenPacket("udp", "10.1.1.1:5000")
			require.NoError(w, err)
			h := dialect.Habits{Version: 10, Addresses: 20, NoCookies: true}
			var p tap
			p.watch(w, nil)
			client := dialect.Dial(h, pc, netip.MustParseAddrPort(serverAddress))
			w.pass(5 * time.Second)
			require.NoError(w, pc.Close())
			client.Wait()
			require.Equal(w, off, client.Conn != nil)
			if off {
				return
			}
			require.Zero(w, client.Refused)
			require.GreaterOrEqual(w, w.listener.Stats().DroppedOffline["no cookie"], uint64(5))
			for _, d := range p.all() {
				if d.from.String() == serverAddress {
					require.Equal(w, byte(0x06), d.data[0], "nothing but replies 1")
				} else if d.data[0] == 0x07 {
					require.Len(w, d.data, 34)
				}
			}
			// The same address, now with cookies.
			pc, err = w.network.ListenPacket("udp", "10.1.1.1:5000")
			require.NoError(w, err)
			h.NoCookies = false
			client = dialect.Dial(h, pc, netip.MustParseAddrPort(serverAddress))
			_, err = w.listener.AcceptContext(w.Context())
			require.NoError(w, err)
			require.NoError(w, pc.Close())
			client.Wait()
		})
	}
}

// Real sockets read payloads longer than the MTU allows, as single datagrams and in runs.
func TestForeignPeersOverRealSockets(t *testing.T) {
	settled(t)
	for _, h := range dialect.Peers() {
		if !h.WholeMTU {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			w := &world{T: t}
			pc, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
			require.NoError(t, err)
			server := dialect.Serve(h, pc)
			c, err := raknet.DialTimeout(pc.LocalAddr().String(), 30*time.Second)
			require.NoError(t, err)
			converse(w, c, true)
			require.NoError(t, c.Close())
			<-c.Context().Done()
			require.NoError(t, pc.Close())
			server.Wait()

			conf := raknet.ListenConfig{ProtocolVersions: []byte{h.Version}, DisableCookies: h.NoCookies}
			l, err := conf.Listen("127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			pc, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
			require.NoError(t, err)
			client := dialect.Dial(h, pc, l.Addr().(*net.UDPAddr).AddrPort())
			c, err = l.AcceptContext(t.Context())
			require.NoError(t, err)
			converse(w, c, true)
			require.NoError(t, pc.Close())
			client.Wait()
			unharmed(w, client.Conn.Losses)
		})
	}
}
