package raknet_test

import (
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/protocol"
)

// gatherings are connections with so many mallories, of one listener or of as many dialers, which
// share a budget.
var gatherings = map[string]func(w *world, memory *raknet.MemoryBudget, n int) []*mallory{
	"listener": func(w *world, _ *raknet.MemoryBudget, n int) (list []*mallory) {
		for i := range n {
			list = append(list, w.malloryFrom(fmt.Sprintf("10.66.6.%d:666", i+1)))
		}
		return list
	},
	"dialer": func(w *world, memory *raknet.MemoryBudget, n int) (list []*mallory) {
		for i := range n {
			list = append(list, w.malloryAnswersAt(fmt.Sprintf("10.66.6.%d:666", i+1), raknet.Dialer{Memory: memory}))
		}
		return list
	},
}

// inCrowds tells a story of three connections that share a megabyte, in both roles.
func inCrowds(t *testing.T, tell func(memory *raknet.MemoryBudget, list []*mallory)) {
	for role, gather := range gatherings {
		t.Run(role, func(t *testing.T) {
			memory := raknet.NewMemoryBudget(1 << 20)
			story(t, good, raknet.ListenConfig{Memory: memory}, func(w *world) {
				list := gather(w, memory, 3)
				require.EqualValues(w, 1<<20, memory.Limit())
				tell(memory, list)
				require.LessOrEqual(w, memory.Used(), memory.Limit())
				require.EqualValues(w, 1, memory.Closed())
				for _, m := range list[1:] {
					m.requireAlive()
				}
			})
		})
	}
}

func TestWhoeverMakesUsHoldMostIsClosedFirst(t *testing.T) {
	for name, fill := range map[string]func(m *mallory, messages int){
		"unread": func(m *mallory, messages int) {
			for range messages {
				m.say(protocol.ReliableOrdered, user(1000))
				m.pass(time.Millisecond)
			}
		},
		"held for order": func(m *mallory, messages int) {
			m.order++ // this one never comes
			for range messages {
				m.say(protocol.ReliableOrdered, user(1000))
				m.pass(time.Millisecond)
			}
		},
		"in fragments": func(m *mallory, messages int) {
			for id := range messages / 50 {
				f := m.frame(protocol.Reliable, user(1000))
				f.Split, f.SplitID, f.SplitCount = true, uint16(id), 40
				m.datagram(f)
				m.pass(10 * time.Millisecond)
			}
		},
		"unacknowledged": func(m *mallory, messages int) {
			m.acknowledges(false)
			for range messages {
				if _, err := m.victim.Write(user(1000)); err != nil {
					break
				}
				m.say(protocol.Unreliable, user(1)) // he is there
				m.pass(time.Millisecond)
			}
			m.acknowledges(true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inCrowds(t, func(memory *raknet.MemoryBudget, list []*mallory) {
				fill(list[1], 150)
				fill(list[2], 100)
				list[0].pass(200 * time.Millisecond)
				require.Zero(t, memory.Closed())
				fill(list[0], 1200)
				list[0].requireEnd(time.Second, raknet.ErrMemoryBudget)
				for _, m := range list[1:] {
					m.pass(time.Second)
					for m.victim.Stats().ReceiveQueueMessages > 0 {
						_, err := m.victim.ReadPacket()
						require.NoError(t, err)
					}
				}
			})
		})
	}
}

// The peer is told, and may come back.
func TestWhoeverWasClosedForMemoryMayComeBack(t *testing.T) {
	conf := raknet.ListenConfig{Memory: raknet.NewMemoryBudget(300_000)}
	story(t, good, conf, func(w *world) {
		client, server := w.dial(raknet.Dialer{Memory: raknet.NewMemoryBudget(-1)})
		for server.Context().Err() == nil {
			if _, err := client.Write(user(10_000)); err != nil {
				break
			}
			w.pass(5 * time.Millisecond)
		}
		<-client.Context().Done()
		requireClosedBy(w, client, true)
		again, _ := w.dial(raknet.Dialer{})
		require.NoError(w, again.Context().Err())
	})
}

// What the handshake has not let in yet counts as well.
func TestHandshakesCountForTheBudget(t *testing.T) {
	conf := raknet.ListenConfig{Memory: raknet.NewMemoryBudget(1 << 20)}
	story(t, good, conf, func(w *world) {
		for i := range 10 {
			m := w.mallory(fmt.Sprintf("10.66.6.6:%d", i+1))
			require.Equal(w, byte(protocol.IDOpenConnectionReply2), m.knock(1)[0])
			go m.listen()
			for id := range 10 {
				f := m.frame(protocol.Reliable, user(1000))
				f.Split, f.SplitID, f.SplitCount = true, uint16(id), 20
				m.datagram(f)
			}
			w.pass(200 * time.Millisecond)
		}
		require.NotZero(w, conf.Memory.Closed())
		require.LessOrEqual(w, conf.Memory.Used(), conf.Memory.Limit())
		require.Less(w, w.listener.Stats().HalfOpen, 10)
		w.dial(raknet.Dialer{})
	})
}

func TestTheDefaultBudgetFollowsTheMemoryLimit(t *testing.T) {
	limit := debug.SetMemoryLimit(-1)
	if limit == 1<<63-1 {
		require.EqualValues(t, 1<<30, raknet.DefaultMemoryBudget().Limit())
	} else {
		require.Equal(t, limit/4, raknet.DefaultMemoryBudget().Limit())
	}
	require.Zero(t, raknet.NewMemoryBudget(0).Limit())
	require.Zero(t, raknet.NewMemoryBudget(-5).Limit())
	require.Equal(t, raknet.DefaultMemoryBudget(), raknet.DefaultMemoryBudget(), "there is one")
}
