package endpoint

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/internal/wire"
)

// askedSocket can be asked without waiting, as those of Linux can, in virtual time.
type askedSocket struct {
	udp.Socket
	more     bool // the reader's
	silenced atomic.Bool
	naps     atomic.Int64
	wakeful  atomic.Bool
	glances  atomic.Int64
	alone    atomic.Bool
}

func (s *askedSocket) ReadBatch(in []udp.Inbound) (int, error) {
	n, err := s.Socket.ReadBatch(in)
	s.more = false
	return n, err
}

func (s *askedSocket) Poll(in []udp.Inbound) (n int, err error) {
	for n < len(in) && err == nil {
		_ = s.SetReadDeadline(time.Now().Add(time.Nanosecond))
		var got int
		got, err = s.Socket.ReadBatch(in[n : n+1])
		n += got
	}
	_ = s.SetReadDeadline(time.Time{})
	s.more = n == len(in)
	if n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

func (s *askedSocket) Glance(in []udp.Inbound, d time.Duration) (int, error) {
	s.glances.Add(1)
	_ = s.SetReadDeadline(time.Now().Add(d))
	n, err := s.ReadBatch(in)
	_ = s.SetReadDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

func (s *askedSocket) More() bool          { return s.more }
func (s *askedSocket) Wakeful() bool       { return s.wakeful.Load() }
func (s *askedSocket) Alone(only bool)     { s.alone.Store(only) }
func (s *askedSocket) Silence(on bool)     { s.silenced.Store(on) }
func (s *askedSocket) Nap(d time.Duration) { s.naps.Add(1); time.Sleep(d) }

// hurried lets a server with such a socket, and so many players, tell its story.
func hurried(t *testing.T, players int, story func(r *rig, s *askedSocket, clients, conns []*Conn)) {
	bubble(t, func(r *rig) {
		socket := &askedSocket{Socket: r.socket("10.0.0.3:19132")}
		server, err := New(socket, Config{GUID: 98, Accepting: true})
		require.NoError(r.t, err)
		r.ends = append(r.ends, server)
		r.server, r.at = server, udp.Peer{AddrPort: netip.MustParseAddrPort("10.0.0.3:19132")}
		var clients, conns []*Conn
		for i := range players {
			c, s := r.dial(fmt.Sprintf("10.0.1.%d:5000", i+1))
			clients, conns = append(clients, c), append(conns, s)
		}
		time.Sleep(time.Second)
		story(r, socket, clients, conns)
	})
}

// chatter has everybody send in turns, one message every gap, and the server read it all.
func chatter(r *rig, rounds int, gap time.Duration, clients, conns []*Conn) {
	r.t.Helper()
	for round := range rounds {
		for _, c := range clients {
			r.write(c, fmt.Sprintf("\xfe%d", round))
			time.Sleep(gap)
		}
	}
	for _, c := range conns {
		for round := range rounds {
			require.Equal(r.t, fmt.Sprintf("\xfe%d", round), r.read(c))
		}
	}
}

func TestInARushTheReaderNapsAndTakesWhatHasComeAtOnce(t *testing.T) {
	hurried(t, 2*manyConns, func(r *rig, s *askedSocket, clients, conns []*Conn) {
		before := r.server.Stats()
		chatter(r, 100, 20*time.Microsecond, clients, conns)
		after := r.server.Stats()
		require.Positive(t, s.naps.Load())
		datagrams, reads := after.DatagramsReceived-before.DatagramsReceived, after.ReadBatches-before.ReadBatches
		require.Less(t, reads, datagrams/4, "%d datagrams", datagrams)
		require.True(t, s.silenced.Load())
		time.Sleep(100 * time.Millisecond)
		require.False(t, s.silenced.Load(), "it ends when little comes")
		require.Zero(t, r.server.rush.until.Load())
		naps := s.naps.Load()
		time.Sleep(5 * time.Second)
		require.Less(t, s.naps.Load(), naps+100, "pings and their answers are no lasting rush")
	})
}

func TestWhatUsersSendInARushLeavesWithTheReader(t *testing.T) {
	hurried(t, 2*manyConns, func(r *rig, s *askedSocket, clients, conns []*Conn) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			chatter(r, 200, 20*time.Microsecond, clients, conns)
		}()
		time.Sleep(oneWay + 20*time.Millisecond)
		require.NotZero(t, r.server.rush.until.Load())
		sent := r.server.Stats().WriteBatches
		began := time.Now()
		for _, c := range conns {
			r.write(c, "\xfetick")
		}
		require.Equal(t, sent, r.server.Stats().WriteBatches, "no call of the user's made one of the system's")
		for _, c := range clients {
			require.Equal(t, "\xfetick", r.read(c))
		}
		require.LessOrEqual(t, time.Since(began), oneWay+2*rushNap)
		<-done
	})
}

func TestOneBusyConnectionIsNoRush(t *testing.T) {
	hurried(t, 2*manyConns, func(r *rig, s *askedSocket, clients, conns []*Conn) {
		naps := s.naps.Load()
		chatter(r, 1000, 20*time.Microsecond, clients[:1], conns[:1])
		require.Equal(t, naps, s.naps.Load())
	})
}

func TestFewConnectionsAreNoRush(t *testing.T) {
	hurried(t, manyConns-1, func(r *rig, s *askedSocket, clients, conns []*Conn) {
		chatter(r, 200, 20*time.Microsecond, clients, conns)
		require.Zero(t, s.naps.Load())
	})
}

// Who connects costs the reader as much as who plays.
func TestACrowdThatConnectsIsARush(t *testing.T) {
	for _, many := range []int{manyConns - 1, manyConns} {
		hurried(t, 0, func(r *rig, s *askedSocket, _, _ []*Conn) {
			var strays []*stray
			for i := range many {
				strays = append(strays, r.stray(fmt.Sprintf("10.0.1.%d:5000", i+1)))
				strays[i].knock(int64(i), 1) // it is granted, and goes no further
			}
			require.Zero(t, s.naps.Load())
			for range 100 {
				for _, other := range strays {
					other.send((&wire.OpenRequest1{Version: 11, MTU: 1200}).Append(nil))
					time.Sleep(20 * time.Microsecond)
				}
			}
			time.Sleep(2 * oneWay)
			require.Equal(t, many == manyConns, s.naps.Load() > 0, "%d", many)
			require.GreaterOrEqual(t, r.server.Stats().Request1, uint64(100*many), "all are answered")
		})
	}
}

// In a rush a call for another purpose, as a note for the table, must not be lost.
func TestConnectionsComeAndGoInARush(t *testing.T) {
	hurried(t, 2*manyConns, func(r *rig, s *askedSocket, clients, conns []*Conn) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			chatter(r, 1000, 20*time.Microsecond, clients[1:], conns[1:])
		}()
		time.Sleep(oneWay + 20*time.Millisecond)
		require.NotZero(t, r.server.rush.until.Load())
		require.NoError(t, clients[0].Close())
		_, err := conns[0].ReadPacket()
		require.Error(t, err)
		late, served := r.dial("10.0.2.1:5000")
		r.write(late, "\xfehere")
		require.Equal(t, "\xfehere", r.read(served))
		require.NotZero(t, r.server.rush.until.Load(), "it goes on")
		<-done
	})
}

// Of clients that connect and close, few are there at any moment.
func TestARushGoesOnWithFewerConnectionsThanItBeganWith(t *testing.T) {
	for _, stay := range []int{1, rushCompany} {
		hurried(t, 2*manyConns, func(r *rig, s *askedSocket, clients, conns []*Conn) {
			for round := range 50 {
				for _, c := range clients {
					r.write(c, fmt.Sprintf("\xfe%d", round))
					time.Sleep(20 * time.Microsecond)
				}
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range 2000 {
					for _, c := range clients[:stay] {
						r.write(c, "\xfemore")
						time.Sleep(20 * time.Microsecond)
					}
				}
			}()
			for _, c := range clients[stay:] {
				require.NoError(t, c.Close())
			}
			time.Sleep(2 * oneWay)
			for r.server.crowd() > int64(stay) {
				time.Sleep(rushNap)
			}
			time.Sleep(2 * rushNap)
			require.Equal(t, stay == rushCompany, r.server.rush.until.Load() != 0, "%d left", stay)
			<-done
		})
	}
}

func TestAReaderThatIsBehindShedsWhatOneSendsTooMuch(t *testing.T) {
	bubble(t, func(r *rig) {
		_, flood := r.dial("10.0.0.2:5000")
		_, calm := r.dial("10.0.0.2:5001")
		synctest.Wait()
		const many = 40
		frames := make([][]byte, many)
		for i := range frames { // frame sets without a frame
			frames[i] = []byte{0x84, byte(100 + i), 0, 0}
		}
		in := []udp.Inbound{inbound("10.0.0.2:5000", frames...), inbound("10.0.0.2:5001", frames[0])}
		defer func() {
			for i := range in {
				in[i].Buf.Release()
			}
		}()
		now := r.server.clock.Now()
		received := func(c *Conn) uint64 { return c.Stats().DatagramsReceived }
		a, b := received(flood), received(calm)
		r.server.process(now, in)
		require.Equal(t, a+many, received(flood), "all of it, while the reader keeps up")
		r.server.reader.behind = now.Add(-behindFor - 1)
		dropped := r.server.Stats().Dropped["overload"]
		r.server.process(now, in)
		r.server.reader.behind = monotime.Never
		require.Equal(t, a+many+behindShare, received(flood))
		require.Equal(t, b+2, received(calm), "who sends little loses nothing")
		require.Equal(t, dropped+many-behindShare, r.server.Stats().Dropped["overload"])
	})
}
