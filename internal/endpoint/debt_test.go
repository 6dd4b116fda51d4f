package endpoint

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/udp"
)

// gatheringSocket is an askedSocket that reads with one call what comes within the time that a thread needs to wake up.
type gatheringSocket struct{ *askedSocket }

func (s gatheringSocket) ReadBatch(in []udp.Inbound) (int, error) {
	return s.gather(s.askedSocket.ReadBatch(in[:1]))(in)
}

func (s gatheringSocket) Glance(in []udp.Inbound, d time.Duration) (int, error) {
	return s.gather(s.askedSocket.Glance(in[:1], d))(in)
}

func (s gatheringSocket) gather(n int, err error) func(in []udp.Inbound) (int, error) {
	return func(in []udp.Inbound) (int, error) {
		if n == 0 || err != nil || len(in) == 1 {
			return n, err
		}
		time.Sleep(20 * time.Microsecond)
		more, err := s.Poll(in[1:])
		return n + more, err
	}
}

// indebted lets a server whose reader's waits are system calls, or are not, and one client tell a story.
func indebted(t *testing.T, wakeful bool, story func(r *rig, s *askedSocket, client, server *Conn)) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(netsim.Link{Delay: near.Delay, Bandwidth: 1e9, Queue: 8 << 20})
		socket := gatheringSocket{&askedSocket{Socket: r.socket("10.0.0.3:19132")}}
		socket.wakeful.Store(wakeful)
		server, err := New(socket, Config{GUID: 98, Accepting: true})
		require.NoError(r.t, err)
		r.ends = append(r.ends, server)
		r.server, r.at = server, udp.Peer{AddrPort: netip.MustParseAddrPort("10.0.0.3:19132")}
		client, conn := r.pair()
		story(r, socket.askedSocket, client, conn)
	})
}

func transfer(t *testing.T, from, to *Conn, messages int) {
	done := make(chan int)
	go func() { done <- drain(to) }()
	for range messages {
		_, err := from.Write(message(1000, 0xfe))
		require.NoError(t, err)
	}
	require.Equal(t, messages, <-done)
}

// A transfer draws half of the ACKs and less where its reader looks again before it waits.
func TestAcksOfATransferAreHeldForOthers(t *testing.T) {
	acks := map[bool]uint64{}
	for _, wakeful := range []bool{false, true} {
		indebted(t, wakeful, func(r *rig, s *askedSocket, client, server *Conn) {
			transfer(t, client, server, 10_000)
			acks[wakeful] = server.Stats().AcksSent
			require.Equal(t, wakeful, s.glances.Load() > 0)
			require.Zero(t, client.Stats().DatagramsLost)
			require.Zero(t, client.heldBytes(), "everything was acknowledged")
		})
	}
	require.Less(t, acks[true], acks[false]*2/3)
}

// What is held leaves when nothing more has come for a moment.
func TestWhatIsHeldIsPaidSoon(t *testing.T) {
	indebted(t, true, func(r *rig, s *askedSocket, client, server *Conn) {
		transfer(t, client, server, 1000)
		_ = server.SetReadDeadline(time.Time{})
		for range 200 {
			before := s.glances.Load()
			for range 40 {
				_, err := client.Write(message(1000, 0xfe))
				require.NoError(t, err)
			}
			time.Sleep(2 * time.Millisecond) // less than a lone datagram waits
			require.Zero(t, client.heldBytes(), "an ACK is missing")
			for server.Stats().ReceiveQueueMessages > 0 {
				r.read(server)
			}
			time.Sleep(10 * time.Millisecond)
			if s.glances.Load() == before {
				return // it was in vain, so that ACKs are not held for a while
			}
		}
		t.Fatal("who waits for each ACK is kept waiting for ever")
	})
}

// What is held is paid at once when what comes next is somebody else's: of a sender who has less under way than is
// held, and a stranger who keeps coming, the first must not wait for long.
func TestWhatIsHeldIsPaidWhenAStrangerComes(t *testing.T) {
	indebted(t, true, func(r *rig, s *askedSocket, client, server *Conn) {
		stranger, err := r.net.Listen(netip.MustParseAddrPort("10.9.9.9:9"))
		require.NoError(t, err)
		defer stranger.Close()
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Microsecond):
					_, _ = stranger.WriteTo([]byte("knock"), net.UDPAddrFromAddrPort(r.at.AddrPort))
				}
			}
		}()
		transfer(t, client, server, 1000)
		_ = server.SetReadDeadline(time.Time{})
		for range 100 {
			for range 40 {
				_, err := client.Write(message(1000, 0xfe))
				require.NoError(t, err)
			}
			time.Sleep(2 * time.Millisecond) // less than a lone datagram waits
			require.Zero(t, client.heldBytes(), "an ACK is missing")
			for server.Stats().ReceiveQueueMessages > 0 {
				r.read(server)
			}
		}
	})
}

// Where another connection comes nothing is held any more, and what is held is paid.
func TestDebtsEndWithCompany(t *testing.T) {
	indebted(t, true, func(r *rig, s *askedSocket, client, server *Conn) {
		transfer(t, client, server, 1000)
		_, other := r.dial("10.0.1.9:5000")
		s.glances.Store(0)
		transfer(t, client, server, 1000)
		require.LessOrEqual(t, s.glances.Load(), int64(1))
		require.Zero(t, client.heldBytes())
		require.NoError(t, other.Close())
	})
}

// A socket that gives one datagram at a time, and cannot be asked, has ACKs wait for some datagrams or a millisecond.
func TestAcksOfATransferOverAPlainSocketAreFew(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(netsim.Link{Delay: near.Delay, Bandwidth: 1e8, Queue: 8 << 20})
		client, server := r.pair()
		transfer(t, client, server, 5000)
		require.Zero(t, client.heldBytes())
		require.Zero(t, client.Stats().DatagramsLost)
		require.Less(t, server.Stats().AcksSent, uint64(5000/8))

		t.Log("# who waits for each ACK waits for a millisecond, and only once in a while")
		slow := 0
		for range 200 {
			for range 3 { // as many as are acknowledged without delay
				_, err := client.Write(message(1000, 0xfe))
				require.NoError(t, err)
			}
			began := time.Now()
			for client.heldBytes() > 0 {
				time.Sleep(20 * time.Microsecond)
			}
			if took := time.Since(began); took > time.Millisecond {
				require.Less(t, took, 2*time.Millisecond)
				slow++
			}
		}
		require.LessOrEqual(t, slow, 200/(debtDoubt/4)+1)
	})
}
