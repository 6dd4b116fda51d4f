package endpoint

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheDeadLeaveTheTableAndTheHeap(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		key := client.Endpoint().LocalAddr().String()
		client.Close()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		e := r.server
		require.Zero(t, server.place, key)
		require.Empty(t, e.driver.heap)
		require.Empty(t, e.table.conns)
		require.Empty(t, e.table.notes)
		require.Empty(t, e.conns)
	})
}

func TestALaterConnectionKeepsItsAddress(t *testing.T) {
	bubble(t, func(r *rig) {
		e := r.server
		_, first := r.dial("10.0.0.2:1")
		second := &Conn{ep: e, peer: first.peer}
		synctest.Wait()
		e.table.conns[first.peer.AddrPort] = second
		first.kill(ErrReplaced)
		e.table.settle(e)
		require.Same(t, second, e.table.conns[first.peer.AddrPort], "the note about the first must not remove the second")
		delete(e.table.conns, first.peer.AddrPort)
	})
}
