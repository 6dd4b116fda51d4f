package endpoint

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/protocol"
)

// near is a link on which machines are what limits: its round trip is 200 µs.
var near = netsim.Link{Delay: 100 * time.Microsecond}

// heldBytes is what is queued and unacknowledged.
func (c *Conn) heldBytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sess.SendHeld()
}

// drain reads messages until there are none for a while, and returns how many came.
func drain(c *Conn) (n int) {
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	for {
		if _, err := c.ReadPacket(); err != nil {
			return n
		}
		n++
	}
}

func TestASenderKeepsInStepOnAShortPath(t *testing.T) {
	for _, far := range []bool{false, true} {
		bubble(t, func(r *rig) {
			count := 3000
			if !far {
				r.net.SetDefault(near)
				count = 1500 // nobody reads meanwhile
			}
			client, server := r.pair()
			r.write(client, "\xfe")
			r.read(server)
			most, begin := 0, time.Now()
			for range count {
				_, err := client.Write(message(1000, 0xfe))
				require.NoError(t, err)
				most = max(most, client.heldBytes())
			}
			if far {
				require.Greater(t, most, 2_900_000, "a send buffer is there to be filled")
				require.Zero(t, time.Since(begin), "and nobody waits")
			} else {
				require.Less(t, most, 532_000)
				require.Less(t, time.Since(begin), 100*time.Millisecond)
			}
			require.Equal(t, count, drain(server))
		})
	}
}

func TestAPauseInVainIsNotRepeated(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(near)
		client, server := r.pair()
		r.write(client, "\xfe")
		r.read(server)
		t.Log("# nothing gets through any more")
		r.net.SetDefault(netsim.Link{Delay: near.Delay, Loss: 1})
		begin := time.Now()
		n := 0
		for client.sendSpace() > 2000 {
			_, err := client.Write(message(1000, 0xfe))
			require.NoError(t, err)
			n++
		}
		require.LessOrEqual(t, time.Since(begin), 2*pauseLimit, "%d messages", n)
		require.Greater(t, client.heldBytes(), 4_000_000, "the send buffer is full")
		t.Log("# until something does again")
		r.net.SetDefault(near)
		require.Equal(t, n, drain(server))
		require.Zero(t, client.heldBytes())
		for range 1000 {
			_, err := client.Write(message(1000, 0xfe))
			require.NoError(t, err)
			require.Less(t, client.heldBytes(), 532_000)
		}
		require.Equal(t, 1000, drain(server))
	})
}

func TestAHandlerDoesNotPause(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(near)
		client, server := r.pair()
		took := time.Duration(-1)
		server.Handle(func(Message) {
			begin := time.Now()
			for range 1000 {
				_, err := server.Write(message(1000, 0xfe))
				require.NoError(t, err)
			}
			took = time.Since(begin)
		})
		r.write(client, "\xfe")
		require.Equal(t, 1000, drain(client))
		require.Zero(t, took)
	})
}

func TestACloseEndsAPause(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(near)
		client, server := r.pair()
		r.write(client, "\xfe")
		r.read(server)
		r.net.SetDefault(netsim.Link{Delay: near.Delay, Loss: 1})
		writes := start(func() error {
			for range 600 {
				if _, err := client.Write(message(1000, 0xfe)); err != nil {
					return err
				}
			}
			return nil
		})
		require.True(t, writes.blocked())
		begin := time.Now()
		client.Abort(ErrHandlerPanic)
		require.ErrorIs(t, writes.wait(), ErrHandlerPanic)
		require.Zero(t, time.Since(begin))
	})
}

func TestTheLastOfAFlowLeavesWithoutAnAck(t *testing.T) {
	for _, priority := range []protocol.Priority{protocol.PriorityHigh, protocol.PriorityImmediate} {
		bubble(t, func(r *rig) {
			r.net.SetDefault(near)
			client, server := r.pair()
			t.Log("# a transfer widens the window")
			_, err := client.Write(message(1<<20, 0xfe))
			require.NoError(t, err)
			_, err = server.ReadPacket()
			require.NoError(t, err)
			time.Sleep(10 * time.Millisecond)
			t.Log("# much is in flight, and no ACK comes")
			r.net.SetLink(r.at.AddrPort, netip.MustParseAddrPort("10.0.0.2:5000"), netsim.Link{Loss: 1})
			_, err = client.Send(t.Context(), message(80_000, 0xfe), ordered)
			require.NoError(t, err)
			begin := time.Now()
			_, err = client.Send(t.Context(), []byte("\xfelast"), SendOptions{Reliability: protocol.ReliableOrdered, Priority: priority})
			require.NoError(t, err)
			for range 2 {
				_, err := server.ReadPacket()
				require.NoError(t, err)
			}
			wait := near.Delay
			if priority != protocol.PriorityImmediate {
				wait += linger
			}
			require.Equal(t, wait, time.Since(begin))
			synctest.Wait()
		})
	}
}

// A user who holds a lock during Write and takes it in the handler must not meet himself.
func TestAPausingSenderCallsNobody(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(near)
		client, server := r.pair()
		lock := make(chan struct{}, 1) // for which waiting is waiting in virtual time
		got := 0
		client.Handle(func(Message) {
			lock <- struct{}{}
			got++
			<-lock
		})
		echo := start(func() error {
			for range 3000 {
				if _, err := server.ReadPacket(); err != nil {
					return err
				}
				if _, err := server.Write([]byte("\xfe")); err != nil {
					return err
				}
			}
			return nil
		})
		for range 3000 {
			lock <- struct{}{}
			_, err := client.Write(message(1000, 0xfe))
			<-lock
			require.NoError(t, err)
		}
		require.NoError(t, echo.wait())
		time.Sleep(time.Second)
		lock <- struct{}{}
		require.Equal(t, 3000, got)
	})
}

// Both ends read and write at once: whoever reads the socket serves the other.
func TestAPausingSenderDoesNotKeepItsReaderWaiting(t *testing.T) {
	bubble(t, func(r *rig) {
		r.net.SetDefault(near)
		client, server := r.pair()
		var all []*result
		for _, c := range []*Conn{client, server} {
			all = append(all, start(func() error {
				for range 3000 {
					if _, err := c.Write(message(1000, 0xfe)); err != nil {
						return err
					}
				}
				return nil
			}), start(func() error {
				for range 3000 {
					if _, err := c.ReadPacket(); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		begin := time.Now()
		for _, a := range all {
			require.NoError(t, a.wait())
		}
		require.Less(t, time.Since(begin), time.Second)
		t.Log("# and a sender who has nothing more to say leaves the socket to those who read")
		r.write(server, "\xfelast")
		require.Equal(t, "\xfelast", r.read(client))
	})
}
