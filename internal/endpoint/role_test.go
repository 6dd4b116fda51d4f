package endpoint

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func (r *role) is() roleHolder {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holder
}

func TestAReadTakesTheRoleAndLeavesItWithGrace(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		role := &client.Endpoint().role
		synctest.Wait()
		require.Equal(t, roleBackground, role.is())
		read := start(func() error { _, err := client.ReadPacket(); return err })
		require.True(t, read.blocked())
		require.Equal(t, roleCaller, role.is())
		r.write(server, "\xfe")
		require.NoError(t, read.wait())
		require.Equal(t, roleFree, role.is())

		t.Log("# the next Read takes it up at once")
		read = start(func() error { _, err := client.ReadPacket(); return err })
		require.True(t, read.blocked())
		require.Equal(t, roleCaller, role.is())
		r.write(server, "\xfe")
		require.NoError(t, read.wait())

		t.Log("# nobody comes: the background takes over")
		time.Sleep(2*leadGrace + time.Microsecond)
		synctest.Wait()
		require.Equal(t, roleBackground, role.is())
		r.write(server, "\xfe")
		time.Sleep(oneWay)
		synctest.Wait()
		require.NotZero(t, client.Stats().ReceiveQueueBytes)
		r.read(client)
	})
}

func TestTheBackgroundTakesOverAtOnceWhenSomebodyWaits(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair(small)
		role := &client.Endpoint().role
		r.write(server, "\xfe")
		r.read(client)
		require.Equal(t, roleFree, role.is())
		for range 4 {
			_, err := client.Write(message(30_000, 0xfe))
			require.NoError(t, err)
		}
		synctest.Wait()
		require.Equal(t, roleBackground, role.is())
	})
}

func TestALoopOfReadsHoldsTheRole(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		go func() {
			for {
				b, err := server.ReadPacket()
				if err != nil {
					return
				}
				server.Write(b)
			}
		}()
		begin := time.Now()
		for i := range 200 {
			r.write(client, fmt.Sprintf("\xfe%d", i))
			require.Equal(t, fmt.Sprintf("\xfe%d", i), r.read(client))
			if i%3 == 0 {
				time.Sleep(leadGrace / 2)
			}
		}
		require.Less(t, time.Since(begin), 200*2*oneWay+200*leadGrace)
	})
}

func TestRoleRequestsMayBeWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r role
		interrupts := 0
		r.init(func() { interrupts++ }, true)
		done := make(chan struct{})
		r.acquire(done)
		require.Equal(t, roleAsked, r.request())
		require.Equal(t, 1, interrupts)
		require.Equal(t, roleDenied, r.request(), "one asks at a time")
		r.withdraw()
		require.False(t, r.yield())

		t.Log("# too late: it is given back at once")
		require.Equal(t, roleAsked, r.request())
		require.True(t, r.yield())
		r.withdraw()
		require.Equal(t, roleFree, r.is())
		r.acquire(done)
		require.Equal(t, roleBackground, r.is())

		t.Log("# at the end the background waits for the last caller")
		require.Equal(t, roleAsked, r.request())
		require.True(t, r.yield())
		<-r.granted
		close(done)
		last := start(func() error { r.acquire(done); return nil })
		require.True(t, last.blocked())
		require.Equal(t, 4, interrupts)
		r.leave(false)
		last.wait()
	})
}
