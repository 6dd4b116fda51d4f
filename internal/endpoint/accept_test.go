package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/protocol"
)

func (r *rig) refused(e *Endpoint) offline.Refusal {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := e.Dial(ctx, r.at, DialConfig{})
	var refused *offline.RefusedError
	require.ErrorAs(r.t, err, &refused)
	require.True(r.t, isClosed(e.Done()), "a Solo endpoint ends with its dial")
	return refused.Reason
}

func TestAcceptWaits(t *testing.T) {
	bubble(t, func(r *rig) {
		ctx, cancel := context.WithCancel(context.Background())
		accept := start(func() error { _, err := r.server.Accept(ctx); return err })
		require.True(t, accept.blocked())
		cancel()
		require.ErrorIs(t, accept.wait(), context.Canceled)

		t.Log("# three who wait get one each")
		var accepts []*result
		for range 3 {
			accepts = append(accepts, start(func() error { _, err := r.server.Accept(context.Background()); return err }))
		}
		for i := range 3 {
			r.dialFrom(r.client(fmt.Sprintf("10.0.0.%d:1", i+2)))
		}
		for _, a := range accepts {
			require.NoError(t, a.wait())
		}

		t.Log("# Close wakes whoever waits")
		accept = start(func() error { _, err := r.server.Accept(context.Background()); return err })
		require.True(t, accept.blocked())
		r.server.Close()
		require.ErrorIs(t, accept.wait(), net.ErrClosed)
	})
}

func TestAFullAcceptQueueTurnsNewcomersAway(t *testing.T) {
	bubble(t, func(r *rig) {
		r.dialFrom(r.client("10.0.0.2:1"))
		second := r.dialFrom(r.client("10.0.0.3:1"))
		require.Equal(t, offline.NoFreeSlots, r.refused(r.client("10.0.0.4:1")))
		r.accept()
		r.dialFrom(r.client("10.0.0.5:1"))

		t.Log("# who is not accepted in time is let go")
		time.Sleep(acceptPatience + time.Second)
		require.ErrorIs(t, second.Cause(), session.ErrDisconnected)
		require.Equal(t, 1, r.server.Stats().Connections)
		require.Zero(t, r.server.Stats().AcceptQueue)
		r.dialFrom(r.client("10.0.0.6:1"))
	}, func(c *Config) { c.AcceptBacklog = 2 })
}

func TestTheConnectionLimitHolds(t *testing.T) {
	bubble(t, func(r *rig) {
		first, _ := r.dial("10.0.0.2:1")
		require.Equal(t, offline.NoFreeSlots, r.refused(r.client("10.0.0.3:1")))
		first.Close()
		time.Sleep(time.Second)
		r.dial("10.0.0.4:1")
	}, func(c *Config) { c.MaxConnections = 1 })
}

func TestAdmitDecides(t *testing.T) {
	var mu sync.Mutex
	var asked []Request
	answer := byte(protocol.IDBanned)
	say := func(id byte) {
		mu.Lock()
		defer mu.Unlock()
		answer = id
	}
	bubble(t, func(r *rig) {
		require.Equal(t, offline.Banned, r.refused(r.client("10.0.0.2:1")))
		mu.Lock()
		require.Len(t, asked, 1)
		require.Equal(t, int64(7), asked[0].GUID)
		require.Equal(t, "10.0.0.2:1", asked[0].Peer.AddrPort.String())
		require.Equal(t, byte(11), asked[0].Version)
		require.Equal(t, 1492, asked[0].MTU)
		mu.Unlock()

		say(RefuseSilently)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := r.client("10.0.0.3:1").Dial(ctx, r.at, DialConfig{})
		require.ErrorIs(t, err, context.DeadlineExceeded)

		say(1) // panics below
		ctx, cancel = context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err = r.client("10.0.0.4:1").Dial(ctx, r.at, DialConfig{})
		require.ErrorIs(t, err, context.DeadlineExceeded)

		say(0)
		r.dial("10.0.0.5:1")
	}, func(c *Config) {
		c.Admit = func(q *Request) byte {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, *q)
			if answer == 1 {
				panic(errors.New("user's mistake"))
			}
			return answer
		}
	})
}

func TestShutdownDrains(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		queued := r.dialFrom(r.client("10.0.0.3:1"))
		want := message(200_000, 0xfe)
		_, err := server.Write(want)
		require.NoError(t, err)
		down := start(func() error { return r.server.Shutdown(context.Background()) })
		require.True(t, down.blocked())
		require.Equal(t, offline.NoFreeSlots, r.refused(r.client("10.0.0.4:1")))
		got, err := client.ReadPacket()
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, down.wait())
		_, err = client.ReadPacket()
		require.ErrorIs(t, err, session.ErrDisconnected)
		_, err = queued.ReadPacket()
		require.ErrorIs(t, err, session.ErrDisconnected)
		_, err = r.server.Accept(context.Background())
		require.ErrorIs(t, err, net.ErrClosed)
	})
	bubble(t, func(r *rig) {
		t.Log("# cut short")
		_, server := r.pair()
		_, err := server.Write(message(1<<20, 0xfe))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, r.server.Shutdown(ctx), context.DeadlineExceeded)
		require.True(t, isClosed(r.server.Done()))
	})
}

func TestTheLimitHoldsForHandshakesThatRace(t *testing.T) {
	bubble(t, func(r *rig) {
		var dials []*result
		for i := range 5 {
			e := r.client(fmt.Sprintf("10.0.0.%d:1", i+2))
			dials = append(dials, start(func() error {
				c, err := e.Dial(context.Background(), r.at, DialConfig{})
				if err == nil {
					_, err = c.Receive(timeout(time.Second))
				}
				return err
			}))
		}
		in, out := 0, 0
		for _, d := range dials {
			if err := d.wait(); errors.Is(err, context.Canceled) {
				in++
			} else {
				require.ErrorIs(t, err, session.ErrDisconnected)
				out++
			}
		}
		require.Equal(t, []int{2, 3}, []int{in, out})
	}, func(c *Config) { c.MaxConnections = 2 })
}

// timeout returns a context that ends after d and needs no cancelling within a bubble.
func timeout(d time.Duration) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(d, cancel)
	return ctx
}

func TestWithAHandlerNobodyNeedAccept(t *testing.T) {
	bubble(t, func(r *rig) {
		var clients []*Conn
		for i := range 5 {
			clients = append(clients, r.dialFrom(r.client(fmt.Sprintf("10.0.0.%d:1", i+2))))
		}
		time.Sleep(2 * acceptPatience)
		big := message(20_000, 0xfe)
		for _, c := range clients {
			_, err := c.Write(big)
			require.NoError(t, err)
			got, err := c.ReadPacket()
			require.NoError(t, err)
			require.Equal(t, big, got)
		}
		t.Log("# Accept gives the newest, for whoever wants to know")
		require.Equal(t, 2, r.server.Stats().AcceptQueue)
		require.Equal(t, "10.0.0.5:1", r.accept().Peer().AddrPort.String())
		clients[4].Close()
		time.Sleep(10 * time.Second)
		require.Zero(t, r.server.Stats().AcceptQueue, "the dead are forgotten")
	}, func(c *Config) {
		c.AcceptBacklog = 2
		c.Handler = func(c *Conn, m Message) { c.Write(m.Data) }
	})
}

// A connection that left the queue must not be kept from the garbage collector by it.
func TestTheAcceptQueueKeepsNobodyWhoLeft(t *testing.T) {
	var q acceptQueue
	q.init(3, true)
	a, b, c, d := new(Conn), new(Conn), new(Conn), new(Conn)
	for _, each := range []*Conn{a, b, c, d} { // a makes room for d
		require.True(t, q.push(each))
	}
	require.True(t, q.remove(c))
	first, more := q.pop()
	require.True(t, first == b && more)
	last, more := q.pop()
	require.True(t, last == d && !more)
	for _, kept := range q.list[:cap(q.list)] {
		require.Nil(t, kept)
	}
}
