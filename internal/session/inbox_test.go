package session

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func TestInboxKeepsOrderAcrossGrowthAndWrap(t *testing.T) {
	// Deliveries can only come from an engine: borrow them from a connected server.
	r := connectedServer(t, Config{})
	r.forget()
	var q inbox
	var d arq.Delivery
	next, want := 0, 0
	for round := range 40 {
		for range round {
			r.Receive(r.now, nil, r.datagram(protocol.Reliable, fmt.Appendf(nil, "\xfe%d", next)))
			require.True(t, r.NextMessage(&d))
			q.push(&d)
			next++
		}
		for range round * 2 / 3 {
			require.True(t, q.pop(&d))
			require.Equal(t, fmt.Sprintf("\xfe%d", want), string(d.AppendTo(nil)))
			d.Release()
			want++
		}
	}
	require.Equal(t, next-want, q.len())
	require.Greater(t, q.bytes, q.len()*100)
	q.clear()
	require.Zero(t, q.len())
	require.Zero(t, q.bytes)
	require.False(t, q.pop(&d))
}

// What a connection is sent is read in order whichever way it is asked, whatever lies in one buffer with what;
// and in the end nothing is held.
func TestMessagesOfOneDatagramAreReadInOrderWhicheverWay(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		r := connectedServer(t, Config{})
		before := pool.InUse()
		var b *pool.Buffer
		next, want := 0, 0
		taken := func(got []byte) {
			n, err := strconv.Atoi(strings.TrimRight(string(got[1:]), " "))
			require.NoError(t, err)
			require.Equal(t, want, n, "seed %d", seed)
			want++
		}
		read := func() bool {
			var buf [1500]byte
			if rnd.IntN(3) > 0 {
				room := buf[:rnd.IntN(len(buf))]
				if n, ok := r.Read(room); ok {
					taken(room[:n])
					return true
				}
			}
			var d arq.Delivery
			if !r.NextMessage(&d) {
				return false
			}
			taken(d.AppendTo(nil))
			d.Release()
			return true
		}
		for range 300 {
			if b == nil || len(b.B)-b.N < 1500 || rnd.IntN(6) == 0 {
				if b != nil {
					b.Release()
				}
				b = pool.Get([]int{pool.ClassRead, pool.ClassBatch}[rnd.IntN(2)])
			}
			at := b.N
			data := wire.AppendDatagramHeader(b.B[at:at], wire.FrameSetID, r.number)
			r.number++
			mode := protocol.ReliableOrdered
			if rnd.IntN(10) == 0 {
				mode = protocol.Unreliable
			}
			for size := 1 + rnd.IntN(400); len(data)+size+10 < 1400 && rnd.IntN(20) > 0; {
				data = r.frame(data, mode, fmt.Appendf(nil, "\xfe%-*d", max(size-1, 5), next))
				next++
			}
			if len(data) > 4 {
				b.N += len(data)
				require.Equal(t, arq.VerdictAccepted, r.Receive(r.now, b, b.B[at:b.N]))
			}
			require.Equal(t, next-want, r.inbox.len())
			for n := rnd.IntN(16) - 4; n > 0 && read(); n-- {
			}
		}
		b.Release()
		if seed%2 == 0 {
			r.inbox.clear()
		} else {
			for read() {
			}
			require.Equal(t, next, want)
		}
		require.Zero(t, r.inbox.len())
		require.Zero(t, r.inbox.bytes)
		require.Zero(t, r.inbox.loose)
		require.Equal(t, before, pool.InUse())
	}
}

// An application that reads a part of what came together has made room: the clock on one that does not read
// stops, and the peer is heard again.
func TestReadingAPartOfADatagramMakesRoom(t *testing.T) {
	r := connectedServer(t, Config{ARQ: arq.Config{Limits: arq.Limits{ReceiveBuffer: 4000}}})
	for range 2 {
		data := wire.AppendDatagramHeader(nil, wire.FrameSetID, r.number)
		r.number++
		for range 13 {
			data = r.frame(data, protocol.ReliableOrdered, append([]byte{0xfe}, make([]byte, 99)...))
		}
		b := poolRead(data)
		r.Receive(r.now, b, b.Bytes())
		b.Release()
	}
	require.Greater(t, r.Unread(), 2*pool.ClassRead)
	require.True(t, r.timers.armed(timerStall))
	var room [100]byte
	for r.Unread() >= 4000 {
		_, ok := r.Read(room[:])
		require.True(t, ok)
	}
	require.NotZero(t, r.inbox.ring[r.inbox.head&uint32(len(r.inbox.ring)-1)].Run()%13, "in the middle of one")
	require.False(t, r.timers.armed(timerStall))
	require.False(t, r.eng.Full())
}

func TestInboxGivesABurstsMemoryBack(t *testing.T) {
	var q inbox
	q.push(&arq.Delivery{})
	q.trim()
	require.NotNil(t, q.ring)
	var d arq.Delivery
	require.True(t, q.pop(&d))
	q.trim()
	require.Nil(t, q.ring)
	q.push(&arq.Delivery{})
	require.True(t, q.pop(&d))
}

func TestReceivingAllocatesNothingInTheSteadyState(t *testing.T) {
	r := connectedServer(t, Config{})
	r.settle()
	payload := make([]byte, 1000)
	payload[0] = 0xfe
	datagram := make([]byte, 0, 1400)
	var d arq.Delivery
	once := func() {
		datagram = r.appendDatagram(datagram[:0], protocol.ReliableOrdered, payload)
		r.Receive(r.now, nil, datagram)
		for r.NextMessage(&d) {
			d.Release()
		}
		for b := r.Transmit(r.now); b != nil; b = r.Transmit(r.now) {
			b.Release()
		}
		r.now = r.now.Add(1000)
	}
	for range 10000 {
		once()
	}
	// One copy of the payload, since the datagram has no pooled buffer here.
	if n := testing.AllocsPerRun(5000, once); n > 1 {
		t.Errorf("%v allocations per message", n)
	}
}
