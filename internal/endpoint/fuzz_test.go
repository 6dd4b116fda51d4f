package endpoint

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/wire"
)

// traffic counts the bytes between the server and each stranger.
type traffic struct {
	sync.Mutex
	in, out map[netip.AddrPort]int // as the server sees it
	proven  map[netip.AddrPort]bool
}

// FuzzListener lets three strangers write to a server whatever a fuzzer comes up with:
// bytes, and whole offline handshakes before them. A client that is connected talks with the
// server all the while and notices nothing; no stranger whose address is unproven gets
// more than three times what it sent; and a newcomer still gets in at the end.
func FuzzListener(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1500 {
			return
		}
		next := func() int {
			if len(in) == 0 {
				return 0
			}
			b := in[0]
			in = in[1:]
			return int(b)
		}
		withoutCookies := next()&1 != 0
		bubble(t, func(r *rig) {
			count := traffic{in: map[netip.AddrPort]int{}, out: map[netip.AddrPort]int{}, proven: map[netip.AddrPort]bool{}}
			r.net.SetFilter(func(from, to netip.AddrPort, data []byte) bool {
				count.Lock()
				defer count.Unlock()
				if to == r.at.AddrPort {
					count.in[from] += len(data)
				} else {
					count.out[to] += len(data)
				}
				return false
			})
			client, server := r.pair()
			exchange := func(n int) {
				r.write(client, fmt.Sprintf("\xfeup %d", n))
				require.Equal(t, fmt.Sprintf("\xfeup %d", n), r.read(server))
				r.write(server, fmt.Sprintf("\xfedown %d", n))
				require.Equal(t, fmt.Sprintf("\xfedown %d", n), r.read(client))
			}
			strangers := []*stray{r.stray("10.6.6.1:6"), r.stray("10.6.6.1:7"), r.stray("10.6.6.2:6")}
			for n := 0; len(in) > 0; n++ {
				op := next()
				s := strangers[op>>4%3]
				switch op % 8 {
				case 0: // bytes
					size := min(next(), len(in))
					s.send(in[:size])
					in = in[size:]
				case 1: // a datagram of the first frame sets of a connection
					size := min(next(), len(in))
					b := wire.AppendDatagramHeader(nil, wire.FrameSetID, uint32(next()&3))
					frame := wire.Frame{Reliability: 2, Reliable: uint32(next() & 3)}
					s.send(append(wire.AppendFrameHeader(b, &frame, size), in[:min(size, len(in))]...))
					in = in[min(size, len(in)):]
				case 2:
					p := wire.OpenRequest1{Version: byte(9 + next()%4), MTU: 400 + next()*5}
					s.send(p.Append(nil))
				case 3: // the whole of the offline handshake, as far as the server lets it
					p := wire.OpenRequest1{Version: 11, MTU: 1200}
					s.send(p.Append(nil))
					var reply wire.OpenReply1
					for b := s.hear(); b != nil; b = s.hear() {
						if reply.Parse(b) == nil {
							break
						}
					}
					count.Lock()
					count.proven[s.pc.AddrPort()] = count.proven[s.pc.AddrPort()] || reply.Security
					count.Unlock()
					q := wire.OpenRequest2{HasCookie: reply.Security, Cookie: reply.Cookie, Server: r.at.AddrPort, MTU: 1200, GUID: int64(next() & 3)}
					s.send(q.Append(nil))
				case 4:
					p := wire.ConnectionRequest{GUID: int64(next() & 3), Time: int64(next())}
					b := wire.AppendDatagramHeader(nil, wire.FrameSetID, 0)
					body := p.Append(nil)
					s.send(append(wire.AppendFrameHeader(b, &wire.Frame{Reliability: 2}, len(body)), body...))
				case 5:
					p := wire.UnconnectedPing{Time: int64(next()), HasGUID: true, OnlyIfOpen: op>>7 != 0}
					s.send(p.Append(nil))
				case 6:
					time.Sleep(time.Duration(next()) << (op >> 4 % 4 * 2) * time.Millisecond)
				case 7:
					exchange(n)
				}
			}
			exchange(1 << 20)
			time.Sleep(15 * time.Second)
			exchange(1 << 21)
			count.Lock()
			for _, s := range strangers {
				a := s.pc.AddrPort()
				if out, most := count.out[a], 3*count.in[a]; !count.proven[a] && out > most {
					t.Errorf("%v sent %d bytes and got %d", a, count.in[a], out)
				}
			}
			count.Unlock()
			require.False(t, isClosed(r.server.Done()))
			newcomer := r.dialFrom(r.client("10.0.0.3:5000"))
			require.NoError(t, newcomer.Close())
		}, func(c *Config) { c.NoCookies = withoutCookies })
	})
}
