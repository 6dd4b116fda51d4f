package endpoint

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// table counts what the reader's books hold. Nothing must be on its way.
func (r *rig) table() (guests, conns int) {
	synctest.Wait()
	t := &r.server.table
	// The reader takes this lock before it writes to conns, and looks at leaveAt before it writes to
	// guests: so it comes after us.
	t.mu.Lock()
	defer t.mu.Unlock()
	guests, conns = len(t.guests), len(t.conns)
	at := t.leaveAt.Load()
	t.leaveAt.CompareAndSwap(at, at)
	return guests, conns
}

// request sends the connection request of the online handshake.
func (s *stray) request(guid int64) {
	body := (&wire.ConnectionRequest{GUID: guid}).Append(nil)
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, 0)
	b = wire.AppendFrameHeader(b, &wire.Frame{Reliability: protocol.ReliableOrdered}, len(body))
	s.send(append(b, body...))
	time.Sleep(2 * oneWay)
}

func TestAGuestBecomesAConnectionByAFrameSet(t *testing.T) {
	bubble(t, func(r *rig) {
		s := r.stray("10.0.0.2:1")
		s.knock(5, 1)
		guests, conns := r.table()
		require.Equal(t, []int{1, 0}, []int{guests, conns})
		t.Log("# nothing else does")
		for _, other := range []string{"", "\x05", "\x40\x00\x00\x00", "\xc0\x00\x01\x01\x00\x00\x00", "\xa0\x00\x01\x01\x00\x00\x00", "\xe4\x00\x00\x00"} {
			s.send([]byte(other))
		}
		time.Sleep(2 * oneWay)
		guests, conns = r.table()
		require.Equal(t, []int{1, 0}, []int{guests, conns})
		t.Log("# and nobody else's")
		r.stray("10.0.0.2:2").request(5)
		guests, conns = r.table()
		require.Equal(t, []int{1, 0}, []int{guests, conns})
		s.request(5)
		guests, conns = r.table()
		require.Equal(t, []int{0, 1}, []int{guests, conns})
		require.Equal(t, 1, r.server.Stats().HalfOpen, "it is not complete yet")
		t.Log("# it goes on where the guest was: the request is still answered, and the time still runs")
		time.Sleep(11*time.Second - 4*oneWay)
		guests, conns = r.table()
		require.Equal(t, []int{0, 0}, []int{guests, conns})
		require.Zero(t, r.server.Stats().HalfOpen)
	})
}

func TestTheTimeOfAHandshakeRunsFromTheGuestsRequest(t *testing.T) {
	bubble(t, func(r *rig) {
		s := r.stray("10.0.0.2:1")
		s.knock(5, 1)
		time.Sleep(9 * time.Second)
		s.request(5)
		_, conns := r.table()
		require.Equal(t, 1, conns)
		time.Sleep(2500 * time.Millisecond) // the end of its time, and the time of a sweep
		_, conns = r.table()
		require.Zero(t, conns)
	})
}

func TestGuestsLeaveByThemselves(t *testing.T) {
	bubble(t, func(r *rig) {
		t.Log("# nothing is received any more")
		for i := range 3 {
			r.stray(fmt.Sprintf("10.0.0.2:%d", i+1)).knock(int64(i), 1)
		}
		time.Sleep(11 * time.Second)
		require.Zero(t, r.server.Stats().HalfOpen)
		t.Log("# also when somebody died meanwhile, whom the same sweep takes along")
		s := r.stray("10.0.0.3:1")
		s.knock(7, 1)
		client, server := r.pair()
		client.Abort(nil)
		time.Sleep(time.Second)
		require.Error(t, server.Cause())
		require.Equal(t, 1, r.server.Stats().HalfOpen)
		time.Sleep(10 * time.Second)
		require.Zero(t, r.server.Stats().HalfOpen)
		t.Log("# whoever comes late is a stranger, and welcome to ask again")
		s.request(7)
		guests, conns := r.table()
		require.Equal(t, []int{0, 0}, []int{guests, conns})
		require.Equal(t, byte(protocol.IDOpenConnectionReply2), s.knock(7, 1)[0][0])
		s.request(7)
		_, conns = r.table()
		require.Equal(t, 1, conns)
	})
}

func TestAGuestOfAnotherGUIDTakesThePlace(t *testing.T) {
	bubble(t, func(r *rig) {
		s := r.stray("10.0.0.2:1")
		s.knock(5, 2)
		time.Sleep(5 * time.Second)
		s.knock(6, 1)
		require.Equal(t, 1, r.server.Stats().HalfOpen)
		s.request(6)
		r.table()
		for _, c := range r.server.table.conns {
			require.Equal(t, int64(6), c.GUID())
		}
		r.table()
		time.Sleep(8 * time.Second)
		require.Equal(t, 1, r.server.Stats().HalfOpen, "its time began anew")
	})
}

func TestGuestsGiveWayToNewerOnes(t *testing.T) {
	bubble(t, func(r *rig) {
		first := r.stray("10.0.0.2:1")
		first.knock(1, 1)
		for i := range 3 {
			r.stray(fmt.Sprintf("10.0.0.2:%d", i+2)).knock(int64(i), 1)
		}
		guests, _ := r.table()
		require.Equal(t, 2, guests)
		require.Equal(t, uint64(2), r.server.Stats().Evicted)
		first.request(1)
		guests, conns := r.table()
		require.Equal(t, []int{2, 0}, []int{guests, conns}, "it is forgotten")
		t.Log("# one that has said more gives way last, since it may soon take itself for connected")
		s := r.stray("10.0.0.2:9")
		s.knock(9, 1)
		s.request(9)
		r.stray("10.0.0.2:10").knock(10, 1)
		r.stray("10.0.0.2:11").knock(11, 1)
		guests, conns = r.table()
		require.Equal(t, []int{1, 1}, []int{guests, conns})
		require.Equal(t, 2, r.server.Stats().HalfOpen)
		s = r.stray("10.0.0.2:12")
		s.knock(12, 1)
		s.request(12)
		guests, conns = r.table()
		require.Equal(t, []int{0, 2}, []int{guests, conns})
		t.Log("# but it does, when it had its time")
		r.stray("10.0.0.2:13").knock(13, 1)
		guests, conns = r.table()
		require.Equal(t, []int{0, 2}, []int{guests, conns})
		require.Equal(t, uint64(1), r.server.Stats().Dropped["rate limited"])
		time.Sleep(2 * time.Second)
		r.stray("10.0.0.2:14").knock(14, 1)
		guests, conns = r.table()
		require.Equal(t, []int{1, 1}, []int{guests, conns})
	}, func(c *Config) { c.HalfOpenPerIP = 2 })
}

// Without cookies anybody can go on in the name of a host, and must not keep it out.
func TestWithoutCookiesWhoWentOnGivesWayLikeAnyOther(t *testing.T) {
	bubble(t, func(r *rig) {
		for i := range 2 {
			s := r.stray(fmt.Sprintf("10.0.0.2:%d", i+1))
			s.knock(int64(i), 1)
			s.request(int64(i))
		}
		r.stray("10.0.0.2:9").knock(9, 1)
		guests, conns := r.table()
		require.Equal(t, []int{1, 1}, []int{guests, conns})
		r.stray("10.0.0.2:10").knock(10, 1)
		guests, conns = r.table()
		require.Equal(t, []int{2, 0}, []int{guests, conns}, "the oldest")
	}, func(c *Config) { c.HalfOpenPerIP, c.NoCookies = 2, true })
}

// A flood of requests with right cookies leaves nothing behind but the books.
func TestAFloodOfGuestsAllocatesNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		e := r.server
		now := e.clock.Now()
		host := func(n int) {
			s := stranger{from: r.at}
			s.from.AddrPort = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 9, byte(n >> 8), byte(n)}), 1)
			s.client = s.from.AddrPort
			e.table.host(e, now, &s, &offline.Outcome{GUID: 1, MTU: 1400, Version: 11})
		}
		time.Sleep(time.Millisecond)
		synctest.Wait() // the reader is waiting: its books are ours for a moment
		n := 0
		for ; n < 10000; n++ {
			host(n)
		}
		if got := testing.AllocsPerRun(1000, func() { host(n); n++ }); got > 0.1 {
			t.Errorf("%.2f allocations for each", got)
		}
		guests, _ := r.table()
		require.Equal(t, 4096, guests)
	}, func(c *Config) { c.HalfOpenPerIP = -1 })
}
