package raknet_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/captures"
	"github.com/raknet-go/raknet/internal/dialect"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// recorded is one connection of a recording: what one side sent, byte for byte.
type recorded struct {
	fromClient       bool
	request1, reply1 []byte
	request2, reply2 []byte
	frames           []captures.Datagram // its frame sets
	times            map[string]bool     // those of the 10s of the other side, as 8 bytes
}

// connections splits a recording. The frames of each begin with a datagram 0 that is not the last one again.
func connections(c captures.Capture, fromClient bool) (all []recorded) {
	times := map[string]bool{}
	for _, d := range c.Datagrams {
		for _, f := range frames(d.Data) {
			if f.Payload[0] == byte(protocol.IDConnectionRequestAccepted) && !f.Split && d.FromClient != fromClient {
				times[string(f.Payload[len(f.Payload)-8:])] = true
			}
		}
	}
	var dials []recorded
	var dial recorded
	for _, d := range c.Datagrams {
		switch {
		case d.Data[0] == 0x05 && (dial.request1 == nil || dial.request2 != nil):
			dial = recorded{fromClient: fromClient, request1: d.Data}
		case d.Data[0] == 0x06 && dial.reply1 == nil:
			dial.reply1 = d.Data
		case d.Data[0] == 0x07 && dial.request2 == nil:
			dial.request2 = d.Data
		case d.Data[0] == 0x08 && dial.reply2 == nil:
			dial.reply2 = d.Data
			dials = append(dials, dial)
		}
	}
	var zero []byte
	for _, d := range c.Datagrams {
		if d.FromClient != fromClient || wire.Classify(d.Data) != wire.KindFrameSet {
			continue
		}
		if number, _, _ := wire.ParseDatagramHeader(d.Data); number == 0 && !slices.Equal(zero, d.Data) {
			zero = d.Data
			all = append(all, dials[len(all)])
			all[len(all)-1].times = times
		}
		r := &all[len(all)-1]
		r.frames = append(r.frames, d)
	}
	return all
}

// reading is what a naive reader finds in it.
func (r *recorded) reading() dialect.Reading {
	var all [][]byte
	for _, d := range r.frames {
		all = append(all, d.Data)
	}
	return dialect.Read(r.fromClient, all)
}

// player sends a recording from pc, and acknowledges what it gets.
type player struct {
	*recorded
	pc   net.PacketConn
	time atomic.Pointer[[]byte] // that of the 10 which came
}

// serve takes what comes: offline packets for answer, which says what to send, and frame
// sets, which are acknowledged. It ends with pc.
func (p *player) serve(answer func(b []byte) []byte) {
	buf := make([]byte, 2048)
	for {
		n, from, err := p.pc.ReadFrom(buf)
		if err != nil {
			return
		}
		b := slices.Clone(buf[:n])
		if wire.Classify(b) == wire.KindFrameSet {
			number, _, _ := wire.ParseDatagramHeader(b)
			a := wire.StartRanges(nil, wire.ACKID, 20)
			a.Add(number, number)
			p.pc.WriteTo(a.Finish(), from)
			for _, f := range frames(b) {
				if f.Payload[0] == byte(protocol.IDConnectionRequestAccepted) {
					t := slices.Clone(f.Payload[len(f.Payload)-8:])
					p.time.Store(&t)
				}
			}
		}
		if out := answer(b); out != nil {
			p.pc.WriteTo(out, from)
		}
	}
}

// play sends the frame sets when they were sent. A time that the recorded side took from a 10 is that of
// the 10 which came now, as it would have been.
func (p *player) play(to netip.AddrPort) {
	for i, d := range p.frames {
		if i > 0 {
			time.Sleep(d.At - p.frames[i-1].At)
		}
		data := slices.Clone(d.Data)
		for _, f := range frames(data) {
			if t := p.time.Load(); t != nil && f.Payload[0] == byte(protocol.IDNewIncomingConnection) {
				for _, back := range []int{16, 8} {
					if at := len(f.Payload) - back; at > 0 && p.times[string(f.Payload[at:at+8])] {
						copy(f.Payload[at:at+8], *t) // in data
					}
				}
			}
		}
		p.pc.WriteTo(data, net.UDPAddrFromAddrPort(to))
	}
}

// hear reads a connection until nothing has come for a while, and compares.
func hear(w *world, c *raknet.Conn, want dialect.Reading) {
	var got []dialect.Message
	for {
		patience, cancel := context.WithTimeout(w.Context(), 8*time.Second)
		m, err := c.Receive(patience)
		cancel()
		if err != nil {
			break
		}
		got = append(got, dialect.Message{Mode: m.Reliability, Channel: m.Channel, Data: m.Data})
	}
	split := func(all []dialect.Message) (ordered [32][]string, loose, sequenced []string) {
		for _, m := range all {
			switch s := string(m.Data); {
			case m.Mode.IsOrdered():
				ordered[m.Channel] = append(ordered[m.Channel], s)
			case m.Mode.IsSequenced():
				sequenced = append(sequenced, s)
			default:
				loose = append(loose, s)
			}
		}
		slices.Sort(loose)
		return ordered, loose, sequenced
	}
	ordered, loose, sequenced := split(got)
	wantOrdered, wantLoose, wantSequenced := split(want.Messages)
	require.Equal(w, wantOrdered, ordered)
	require.Equal(w, wantLoose, loose)
	require.Subset(w, wantSequenced, sequenced)
	require.Equal(w, len(wantSequenced) > 0, len(sequenced) > 0)
	if want.Controls[0x15] > 0 {
		requireClosedBy(w, c, true)
	}
	s := c.Stats()
	require.EqualValues(w, want.Unreadable, s.Violations)
}

// Every recorded client is served by a listener: from its first request to its last message.
func TestRecordedClientsAreServed(t *testing.T) {
	all, err := captures.All()
	require.NoError(t, err)
	total := 0
	for _, c := range all {
		for _, r := range connections(c, true) {
			total++
			t.Run(c.Name, func(t *testing.T) {
				conf := raknet.ListenConfig{ProtocolVersions: []byte{6, 7, 8, 9, 10, 11}, DisableCookies: r.reply1[25] == 0, Timeouts: raknet.Timeouts{Idle: 20 * time.Second}}
				story(t, netsim.Link{}, conf, func(w *world) { // its 10 came at once, too
					pc, err := w.network.ListenPacket("udp", "10.1.1.1:5000")
					require.NoError(w, err)
					p := player{recorded: &r, pc: pc}
					server := netip.MustParseAddrPort(serverAddress)
					begun := false
					go p.serve(func(b []byte) []byte {
						switch b[0] {
						case 0x06:
							request2 := slices.Clone(r.request2)
							if b[25] != 0 {
								copy(request2[17:], b[26:30]) // the cookie of this server
							}
							return request2
						case 0x08:
							if !begun {
								begun = true
								go p.play(server)
							}
						}
						return nil
					})
					_, err = pc.WriteTo(r.request1, net.UDPAddrFromAddrPort(server))
					require.NoError(w, err)
					want := r.reading()
					patience, cancel := context.WithTimeout(w.Context(), 30*time.Second)
					defer cancel()
					conn, err := w.listener.AcceptContext(patience)
					if want.Controls[0x13] == 0 {
						require.Error(w, err, "it never finished its handshake")
					} else {
						require.NoError(w, err)
						require.LessOrEqual(w, conn.MTU(), len(r.request1)+28)
						hear(w, conn, want)
					}
					require.NoError(w, pc.Close())
				})
			})
		}
	}
	require.Equal(t, 44, total)
}

// Every recorded server is dialed: from its first reply to its last message.
func TestRecordedServersAreConnectedTo(t *testing.T) {
	all, err := captures.All()
	require.NoError(t, err)
	total := 0
	for _, c := range all {
		for _, r := range connections(c, false) {
			total++
			t.Run(c.Name, func(t *testing.T) {
				story(t, good, raknet.ListenConfig{}, func(w *world) {
					pc, err := w.network.ListenPacket("udp", "10.9.8.6:19132")
					require.NoError(w, err)
					p := player{recorded: &r, pc: pc}
					local := make(chan netip.AddrPort, 1)
					begun := false
					go p.serve(func(b []byte) []byte {
						switch b[0] {
						case 0x05:
							if slices.Equal(b, r.request1) {
								return r.reply1
							}
						case 0x07:
							if r.reply1[25] != 0 && !slices.Equal(b[17:21], r.reply1[26:30]) {
								return nil
							}
							return r.reply2
						}
						for _, f := range frames(b) {
							if f.Payload[0] == byte(protocol.IDConnectionRequest) && !begun {
								begun = true
								go p.play(<-local)
							}
						}
						return nil
					})
					d := raknet.Dialer{UpstreamDialer: tell{w.network, local}, ProtocolVersion: r.request1[17], MaxMTU: uint16(len(r.request1) + 28)}
					conn, err := d.Dial("10.9.8.6:19132")
					want := r.reading()
					if want.Controls[0x10] == 0 {
						rejected, ok := errors.AsType[*raknet.RejectedError](err)
						require.True(w, ok, "%v", err)
						require.Equal(w, raknet.RejectInvalidPassword, rejected.Reason)
					} else {
						require.NoError(w, err)
						hear(w, conn, want)
						require.NoError(w, conn.Close())
					}
					w.pass(10 * time.Second)
					require.NoError(w, pc.Close())
				})
			})
		}
	}
	require.Equal(t, 44, total)
}

// tell is an upstream dialer that tells from where it dialed.
type tell struct {
	raknet.UpstreamDialer
	local chan netip.AddrPort
}

func (d tell) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.UpstreamDialer.DialContext(ctx, network, address)
	if err == nil {
		d.local <- c.LocalAddr().(*net.UDPAddr).AddrPort()
	}
	return c, err
}
