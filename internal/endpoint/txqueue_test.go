package endpoint

import (
	"fmt"
	"net/netip"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/pool"
)

func newTestQueue() (*txFIFO, *fakeSocket, *int) {
	s, kicks := newFakeSocket(), new(int)
	return &txFIFO{sock: s, kick: func() { *kicks++ }, k: new(counters)}, s, kicks
}

func put(q *txFIFO, texts ...string) {
	for _, s := range texts {
		b := pool.Get(len(s))
		b.N = copy(b.B, s)
		q.push([]*pool.Buffer{b}, nobody, netip.Addr{}, nil)
	}
}

func TestTheSendQueueKeepsItsOrderInBatches(t *testing.T) {
	before := pool.InUse()
	q, s, kicks := newTestQueue()
	var want []string
	for i := range 200 {
		want = append(want, fmt.Sprint(i))
	}
	put(q, want[:150]...)
	q.flush(1)
	require.Equal(t, []int{txBatch}, s.batches)
	require.Equal(t, 1, *kicks, "what is left is the driver's")
	put(q, want[150:]...)
	q.flush(8)
	require.Equal(t, want, s.sent)
	require.Equal(t, []int{txBatch, txBatch, 200 - 2*txBatch}, s.batches)
	require.Equal(t, before, pool.InUse())
	require.Equal(t, uint64(200), q.k.datagramsSent.Load())
	require.Equal(t, uint64(3), q.k.writeBatches.Load())
}

func TestADatagramThatCannotBeSentIsLostAlone(t *testing.T) {
	q, s, _ := newTestQueue()
	s.sendErr["b"] = syscall.ENETUNREACH
	s.sendErr["d"] = syscall.EPERM
	put(q, "a", "b", "c", "d")
	q.flush(8)
	require.Equal(t, []string{"a", "c"}, s.sent)
	require.Equal(t, uint64(2), q.k.sendErrors.Load())
	require.Equal(t, uint64(2), q.k.datagramsSent.Load())
	require.Equal(t, uint64(2), q.k.bytesSent.Load())
}

func TestAProbeThatIsTooLargeIsReported(t *testing.T) {
	q, s, _ := newTestQueue()
	s.sendErr["probe"] = syscall.EMSGSIZE
	a := &attempt{wake: newGate()}
	b := pool.Get(5)
	b.N = copy(b.B, "probe")
	q.push([]*pool.Buffer{b}, nobody, netip.Addr{}, a)
	put(q, "after")
	q.flush(8)
	require.True(t, a.large.Load())
	require.Equal(t, []string{"after"}, s.sent)
}

func TestOneFlushesForEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, s, kicks := newTestQueue()
		s.entered, s.proceed = make(chan struct{}), make(chan struct{})
		put(q, "a")
		go q.flush(8)
		<-s.entered
		t.Log("# while one is in the system call, others put in and go on at once")
		put(q, "b", "c")
		q.flush(8)
		require.Empty(t, s.sent)
		s.proceed <- struct{}{}
		<-s.entered
		require.Equal(t, []string{"a"}, s.sent)
		s.proceed <- struct{}{}
		synctest.Wait()
		require.Equal(t, []string{"a", "b", "c"}, s.sent)
		require.Equal(t, []int{1, 2}, s.batches)
		require.Zero(t, *kicks)

		t.Log("# the end waits for the one who is at it, but not for ever")
		put(q, "d")
		go q.flush(8)
		<-s.entered
		begin := time.Now()
		q.finish(farewell)
		require.Equal(t, farewell, time.Since(begin))
		finish := start(func() error { q.finish(farewell); return nil })
		require.True(t, finish.blocked())
		s.proceed <- struct{}{}
		finish.wait()
		require.Equal(t, farewell, time.Since(begin))
		require.Equal(t, "d", s.sent[3])

		t.Log("# what is never sent is given back")
		before := pool.InUse()
		put(q, "e", "f")
		q.drop()
		require.Equal(t, before, pool.InUse())
		require.Equal(t, txQueue, q.room())
	})
}

func TestAFullSendQueueHoldsConnectionsBack(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		e := client.Endpoint()
		t.Log("# somebody blocks the socket while the queue fills")
		e.tx.mu.Lock()
		e.tx.leading = true
		e.tx.n.Store(txQueue) // as if
		e.tx.mu.Unlock()
		r.write(client, "\xfewaits")
		time.Sleep(50 * time.Millisecond)
		e.tx.mu.Lock()
		e.tx.n.Store(0)
		e.tx.leading = false
		e.tx.mu.Unlock()
		begin := time.Now()
		require.Equal(t, "\xfewaits", r.read(server))
		require.LessOrEqual(t, time.Since(begin), oneWay+txRetry)
	})
}
