package endpoint

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/internal/wire"
)

func TestTransientErrorsAreSurvived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSocket()
		e, err := New(s, Config{})
		require.NoError(t, err)
		begin := time.Now()
		for range 1000 {
			s.reads <- syscall.ECONNREFUSED
		}
		synctest.Wait()
		require.False(t, isClosed(e.Done()))
		require.Equal(t, uint64(1000), e.Stats().ReceiveErrors)
		require.Greater(t, time.Since(begin), 60*time.Second, "it backs off")
		e.Close()
	})
}

func TestTooManyErrorsEndTheEndpoint(t *testing.T) {
	for _, c := range []struct {
		limit, survived int
		err             error
	}{{10, 10, syscall.ECONNREFUSED}, {0, brokenAfter - 1, errOnce}, {0, 0, net.ErrClosed}} {
		synctest.Test(t, func(t *testing.T) {
			s := newFakeSocket()
			e, err := New(s, Config{MaxTransient: c.limit})
			require.NoError(t, err)
			for range c.survived {
				s.reads <- c.err
			}
			synctest.Wait()
			require.False(t, isClosed(e.Done()))
			s.reads <- c.err
			<-e.Done()
			require.ErrorIs(t, e.Err(), c.err)
			synctest.Wait()
			require.True(t, isClosed(s.closed))
			_, err = e.Accept(context.Background())
			require.ErrorIs(t, err, c.err)
		})
	}
}

func TestAFloodOfStrangersLeavesConnectionsAlone(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		s := r.stray("10.0.0.3:1")
		for i := range 100 {
			for range 20 {
				s.send([]byte{0x7f, byte(i)})
			}
			r.write(client, fmt.Sprintf("\xfe%d", i))
			require.Equal(t, fmt.Sprintf("\xfe%d", i), r.read(server))
		}
		require.Equal(t, uint64(2000), r.server.Stats().Dropped["unknown"]+r.server.Stats().Dropped["overload"])
	})
}

func TestABadNetwork(t *testing.T) {
	for _, first := range []int64{0, 1<<24 - 20} {
		near := func(c *Config) {
			c.ARQ = arq.Config{FirstDatagram: first, FirstReliable: first, FirstOrder: first, FirstSplit: uint16(first >> 8)}
		}
		bubble(t, func(r *rig) {
			r.net.SetDefault(netsim.Link{Delay: oneWay, Jitter: 5 * time.Millisecond, Loss: 0.1, Duplicate: 0.05, Reorder: 0.1, ReorderBy: 7 * time.Millisecond})
			client, server := r.pair(near)
			const n = 300
			exchange := func(from, to *Conn) *result {
				go func() {
					for i := range n {
						if _, err := from.Write(message(1+i*37%5000, 0xfe)); err != nil {
							t.Error(err)
						}
						time.Sleep(time.Millisecond)
					}
				}()
				return start(func() error {
					for i := range n {
						b, err := to.ReadPacket()
						if err != nil {
							return err
						}
						if string(b) != string(message(1+i*37%5000, 0xfe)) {
							return fmt.Errorf("message %d differs", i)
						}
					}
					return nil
				})
			}
			there, back := exchange(client, server), exchange(server, client)
			require.NoError(t, there.wait())
			require.NoError(t, back.wait())
		}, near)
	}
}

// inbound lays datagrams of equal length out as the system does that received them in
// one piece.
func inbound(from string, datagrams ...[]byte) udp.Inbound {
	b := pool.Get(pool.ClassBatch)
	for _, d := range datagrams {
		b.N += copy(b.B[b.N:], d)
	}
	in := udp.Inbound{Buf: b, N: b.N, From: udp.Peer{AddrPort: netip.MustParseAddrPort(from)}}
	if len(datagrams) > 1 {
		in.Segment = len(datagrams[0])
	}
	return in
}

func TestDatagramsThatCameInOnePieceAreTakenApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSocket()
		e, err := New(s, Config{Accepting: true})
		require.NoError(t, err)
		synctest.Wait() // the reader rests in the socket
		ping := (&wire.UnconnectedPing{HasGUID: true}).Append(nil)
		in := []udp.Inbound{inbound("10.0.0.1:1", ping, ping, ping[:20]), inbound("10.0.0.2:1", ping), inbound("10.0.0.3:1")}
		e.process(e.clock.Now(), in)
		st := e.Stats()
		require.Equal(t, uint64(5), st.DatagramsReceived)
		require.Equal(t, uint64(3), st.Pongs)
		require.Equal(t, uint64(1), st.Dropped["truncated"])
		require.Equal(t, uint64(1), st.Dropped["empty"])
		require.Len(t, s.sent, 3)
		for i := range in {
			in[i].Buf.Release()
		}
		e.Close()
	})
}

func TestAReaderThatIsBehindShedsStrangers(t *testing.T) {
	bubble(t, func(r *rig) {
		client, _ := r.pair()
		synctest.Wait()
		noise := make([][]byte, 40)
		for i := range noise {
			noise[i] = []byte{0x7f, 1}
		}
		in := []udp.Inbound{inbound("10.0.0.9:1", noise...), inbound("10.0.0.2:5000", []byte{0x84, 200, 0, 0})}
		now := r.server.clock.Now()
		r.server.process(now, in)
		s := r.server.Stats()
		require.Equal(t, uint64(40), s.Dropped["unknown"], "all are looked at, while the reader keeps up")
		require.Zero(t, s.Dropped["overload"])
		r.server.reader.behind = now.Add(-behindFor - 1)
		r.server.process(now, in)
		r.server.reader.behind = monotime.Never
		s = r.server.Stats()
		require.Equal(t, uint64(40+behindShare), s.Dropped["unknown"])
		require.Equal(t, uint64(40-behindShare), s.Dropped["overload"])
		require.NoError(t, client.Cause())
		for i := range in {
			in[i].Buf.Release()
		}
	})
}

func TestAReaderThatIsBehindShedsClientsThatAreNotConnected(t *testing.T) {
	bubble(t, func(r *rig) {
		r.pair()
		_, calm := r.dial("10.0.0.2:5001")
		const begun, guests = 2 * behindShare, 3 * behindShare
		var ofBegun, ofGuests []udp.Inbound
		say := func(from string, n byte) udp.Inbound { return inbound(from, []byte{0x84, n, 0, 0}) } // a frame set without a frame
		for i := range begun + guests {
			s := r.stray(fmt.Sprintf("10.1.%d.1:1", i))
			s.knock(int64(i), 1)
			if in := say(s.pc.LocalAddr().String(), 1); i < begun {
				s.request(int64(i))
				ofBegun = append(ofBegun, in)
			} else {
				ofGuests = append(ofGuests, in)
			}
		}
		calmly := []udp.Inbound{say("10.0.0.2:5001", 100)}
		defer func() {
			for _, in := range slices.Concat(ofBegun, ofGuests, calmly) {
				in.Buf.Release()
			}
		}()
		synctest.Wait()
		now := r.server.clock.Now()
		shed := func(in ...[]udp.Inbound) int {
			before := r.server.Stats().Dropped["overload"]
			r.server.process(now, slices.Concat(in...))
			return int(r.server.Stats().Dropped["overload"] - before)
		}
		received := calm.Stats().DatagramsReceived
		require.Zero(t, shed(ofBegun, calmly), "while it keeps up")
		r.server.reader.behind = now.Add(-behindFor - 1)
		require.Equal(t, begun-behindShare+guests, shed(ofBegun, ofGuests, calmly))
		left, conns := r.table()
		require.Equal(t, []int{guests, 2 + begun}, []int{left, conns}, "no guest was let in")
		require.Equal(t, guests-behindShare+begun, shed(ofGuests, ofBegun, calmly))
		r.server.reader.behind = monotime.Never
		left, conns = r.table()
		require.Equal(t, []int{guests - behindShare, 2 + begun + behindShare}, []int{left, conns})
		require.Equal(t, received+3, calm.Stats().DatagramsReceived, "who is connected loses nothing")
	})
}

func TestAReaderThatIsBehindDoesNotTakeCostlyBatchesOneAfterTheOther(t *testing.T) {
	for each, sheds := range map[time.Duration]bool{costlyEach - 1: false, 2 * costlyBatch / 100: true, costlyBatch / 101: false} {
		bubble(t, func(r *rig) {
			synctest.Wait()
			pings := make([][]byte, 100)
			for i := range pings {
				pings[i] = (&wire.UnconnectedPing{HasGUID: true}).Append(nil)
			}
			in := []udp.Inbound{inbound("10.0.0.9:1", pings...)}
			defer in[0].Buf.Release()
			reader := &r.server.reader
			shed := func() uint64 {
				before := r.server.Stats().Dropped["overload"]
				r.server.process(r.server.clock.Now(), in)
				return r.server.Stats().Dropped["overload"] - before
			}
			require.Zero(t, shed(), "it keeps up")
			require.False(t, reader.costly)
			reader.behind = r.server.clock.Now()
			require.Zero(t, shed(), "it has been behind for no time")
			require.Equal(t, sheds, reader.costly, each)
			if want := uint64(len(pings) - behindShare); sheds {
				require.Equal(t, want, shed())
				require.True(t, reader.costly, "until it has caught up: what was shed cost little")
			}
			reader.behind, reader.costly = monotime.Never, false
		}, func(c *Config) {
			c.PongRate, c.PongRateTotal = -1, -1
			c.Pong = func(*PingRequest) []byte { time.Sleep(each); return nil }
		})
	}
}

func TestAnswersToStrangersAreDroppedWhenTheSocketIsBlocked(t *testing.T) {
	bubble(t, func(r *rig) {
		synctest.Wait()
		q := &r.server.tx
		q.n.Store(txQueue)
		in := []udp.Inbound{inbound("10.0.0.9:1", (&wire.UnconnectedPing{HasGUID: true}).Append(nil))}
		q.leading = true
		r.server.process(r.server.clock.Now(), in)
		q.leading = false
		q.n.Store(0)
		require.Equal(t, uint64(1), r.server.Stats().Dropped["send queue full"])
		in[0].Buf.Release()
	})
}

// The socket knows whether its reader waits for one peer, who may be waiting for each answer, or for others as well.
func TestTheSocketIsToldWhetherThereIsOnePeer(t *testing.T) {
	hurried(t, 1, func(r *rig, s *askedSocket, clients, _ []*Conn) {
		tick := func() { time.Sleep(100 * time.Millisecond); synctest.Wait() }
		r.write(clients[0], "\xfe")
		tick()
		require.True(t, s.alone.Load())
		t.Log("# what strangers say is nothing to keep a processor busy for")
		_, err := r.socket("10.0.2.9:5000").WriteBatch([]udp.Outbound{{Data: []byte{0x01}, To: r.at}})
		require.NoError(t, err)
		tick()
		require.False(t, s.alone.Load())
		r.write(clients[0], "\xfe")
		tick()
		require.True(t, s.alone.Load())
		t.Log("# and with two there is always somebody else to wait for")
		r.dial("10.0.2.1:5000")
		r.write(clients[0], "\xfe")
		tick()
		require.False(t, s.alone.Load())
	})
}
